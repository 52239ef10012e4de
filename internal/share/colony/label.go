package colony

import "strings"

// DefaultLabel is the label when none is given.
const DefaultLabel = "default"

// Label returns the label as it appears in names of files: in lower case, each run of
// characters outside [a-z0-9_-] as one "-", without "-" at both ends. Different
// labels may become the same; a label without any such character becomes
// DefaultLabel.
func Label(raw string) string {
	var b strings.Builder
	run := false
	for _, r := range raw {
		low := lower(r)
		if low != 0 {
			if run {
				b.WriteByte('-')
			}
			b.WriteByte(low)
		}
		// Python's lower case of U+0130 is an i and a combining dot.
		run = low == 0 || r == '\u0130'
	}
	// A run at the end would be stripped: it is not written.
	if label := strings.Trim(b.String(), "-"); label != "" {
		return label
	}
	return DefaultLabel
}

// lower returns the character of a label that r begins with in lower case, 0
// when there is none.
func lower(r rune) byte {
	switch {
	case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '-':
		return byte(r)
	case r >= 'A' && r <= 'Z':
		return byte(r) + 'a' - 'A'
	case r == '\u0130': // I with a dot
		return 'i'
	case r == '\u212a': // the sign of Kelvin
		return 'k'
	}
	return 0
}
