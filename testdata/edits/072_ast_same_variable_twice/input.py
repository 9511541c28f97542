x = a + a
y = a + b
