package project

// Of returns the grant of a folder that no home knows.
func Of(dir string) Grant {
	c := claimOf(dir, "")
	if c.name == "" {
		return Grant{Ignored: c.ignored}
	}
	return c.grant(pin{Project: c.name, Place: c.place}, &pins{})
}
