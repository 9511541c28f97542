def f(a, b):
    return a

def g(c):
    return c
