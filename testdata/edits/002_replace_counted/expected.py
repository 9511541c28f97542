a = y
b = y
c = y
