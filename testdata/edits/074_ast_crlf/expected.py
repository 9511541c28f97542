def f():
    return new(
        1)
