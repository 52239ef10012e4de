package foreign

// Seen knows the keys of the rows that were given out, and what the rows said.
type Seen map[[16]byte][16]byte

// Repeat says whether a row was there before.
type Repeat int

// Kinds of rows: the first of its key, one more that says the same, or one that says something else.
const (
	First Repeat = iota
	Same
	Other
)

// Add adds a row, unless there is one of its key.
func (s Seen) Add(key Key, content ...string) Repeat {
	sum, said := Digest(key...), Digest(content...)
	k, c := [16]byte(sum[:16]), [16]byte(said[:16])
	before, ok := s[k]
	switch {
	case !ok:
		s[k] = c
		return First
	case before == c:
		return Same
	}
	return Other
}

// Has reports whether a row of a key was added.
func (s Seen) Has(key Key) bool {
	sum := Digest(key...)
	_, ok := s[[16]byte(sum[:16])]
	return ok
}
