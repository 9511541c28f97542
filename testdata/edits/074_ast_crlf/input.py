def f():
    return old(1)
