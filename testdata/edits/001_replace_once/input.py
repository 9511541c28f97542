old_var = 1
print(old_var)
