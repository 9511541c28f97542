package p

func f() error {
	if err != nil {
		return err
	}
	return nil
}
