import a
import b
b.f(1)
