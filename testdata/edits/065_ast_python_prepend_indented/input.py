def f():
    if x:
        log("a")
