new_var = 2
print(old_var)
