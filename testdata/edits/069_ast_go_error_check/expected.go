package p

func f() error {
	if err != nil {
		return wrap(err)
	}
	return nil
}
