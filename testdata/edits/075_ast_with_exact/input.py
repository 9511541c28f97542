import a
f(1)
