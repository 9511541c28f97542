new_var = 2
