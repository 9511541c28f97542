def f(:
    x = g(1)
