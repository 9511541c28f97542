def f():
    x = 2
    return 1
