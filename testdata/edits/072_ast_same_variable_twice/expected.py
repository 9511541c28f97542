x = 2 * a
y = a + b
