def f(a, b):
    return a

# the second
def g(c):
    return c
