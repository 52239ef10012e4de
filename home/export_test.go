package home

// MarshalCurrent lets tests write CURRENT as a restore will.
func MarshalCurrent(c Current) []byte { return c.marshal() }
