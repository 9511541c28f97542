a = x
b = x
