if x:
	return
