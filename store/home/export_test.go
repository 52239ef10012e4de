package home

// MarshalCurrent lets tests write CURRENT as a restore will.
func MarshalCurrent(c Current) []byte { return c.marshal() }

// MarshalNote writes RESTORING with any values.
func MarshalNote(generation, incarnation, replaces, from string) []byte {
	return noteRecord.marshal(generation, incarnation, replaces, from)
}
