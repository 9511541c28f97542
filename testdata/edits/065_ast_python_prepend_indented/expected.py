def f():
    if x:
        count += 1
        log("a")
