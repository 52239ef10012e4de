package redact

import (
	"math"
	"strings"
)

// tally counts what a value is made of.
type tally struct {
	lower, upper, digit int
	other               int // what is no letter or digit and neither joins words nor pads base64
	distinct            int
	count               [256]uint32
}

func tallyOf(s string) tally {
	var t tally
	for i := range len(s) {
		b := s[i]
		if t.count[b]++; t.count[b] == 1 {
			t.distinct++
		}
		switch {
		case 'a' <= b && b <= 'z':
			t.lower++
		case 'A' <= b && b <= 'Z':
			t.upper++
		case '0' <= b && b <= '9':
			t.digit++
		case strings.IndexByte("-_./=", b) < 0:
			t.other++
		}
	}
	return t
}

// bits returns the Shannon entropy per byte.
func (t *tally) bits() float64 {
	total := 0
	for _, n := range t.count {
		total += int(n)
	}
	bits := 0.0
	for _, n := range t.count {
		if n > 0 {
			p := float64(n) / float64(total)
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// kinds returns how many kinds of bytes there are.
func (t *tally) kinds() int {
	n := 0
	for _, c := range [...]int{t.lower, t.upper, t.digit, t.other} {
		if c > 0 {
			n++
		}
	}
	return n
}

// letters returns the number of ASCII letters.
func (t *tally) letters() int { return t.lower + t.upper }

// varied reports whether a string of a key's form may be a key: whether it is
// neither filled up ("xxxxxxxx", "12345678") nor made of words.
func varied(s string) bool {
	need := 8
	if len(s) < 20 {
		need = 5
	}
	return tallyOf(s).distinct >= need && !filled(s) && !isDummy(s) && wordShare(s) < 0.5
}

// distinct5 is for short or lopsided keys that varied would doubt.
func distinct5(s string) bool {
	return tallyOf(s).distinct >= 5 && !saysPlaceholder(s)
}

// even is varied for keys that begin like zeros in base64: no byte makes up
// more than a third of them, as it does in the base64 of a table.
func even(s string) bool {
	t := tallyOf(s)
	for _, n := range t.count {
		if 3*int(n) > len(s) {
			return false
		}
	}
	return varied(s)
}

// mixed is varied for keys without a telling prefix: they have both digits and
// letters.
func mixed(s string) bool {
	t := tallyOf(s)
	return t.digit > 0 && t.letters() > 0 && varied(s)
}

// cased is varied for short keys behind a short prefix: they have small letters,
// capitals and digits, or letters as a machine picks them.
func cased(s string) bool {
	t := tallyOf(s)
	return t.lower > 0 && t.upper > 0 && (t.digit > 0 || jumbled(s)) && varied(s)
}

// startsVaried is varied for keys that end with zeros or a fixed text: their
// first bytes are random.
func startsVaried(s string) bool {
	const random = 32
	return varied(s[:min(len(s), random)])
}

// filled reports whether s holds six equal bytes in a row, or six that count
// up or down.
func filled(s string) bool {
	const long = 6
	// In a long key chance counts as far as six now and then.
	counted := long
	if len(s) >= 24 {
		counted = 8
	}
	same, up, down := 1, 1, 1
	for i := 1; i < len(s); i++ {
		same = runLength(same, s[i] == s[i-1])
		up = runLength(up, s[i] == s[i-1]+1)
		down = runLength(down, s[i]+1 == s[i-1])
		if same >= long || max(up, down) >= counted {
			return true
		}
	}
	return false
}

func runLength(n int, goesOn bool) int {
	if goesOn {
		return n + 1
	}
	return 1
}

const (
	minRandom = 16 // the length from which a value can be told to be random
	minChosen = 8  // the length of the shortest password worth a name
)

// random reports whether a value that a name calls secret looks like one that
// a machine made.
func random(s string) bool {
	if len(s) < minRandom || ordinary(s) || identifies(s) || namesSecret(s) {
		return false
	}
	t := tallyOf(s)
	if t.kinds() < 2 || t.letters() == 0 || t.bits() < 3 {
		return false
	}
	if t.digit == 0 && t.kinds() < 3 {
		return jumbled(s)
	}
	words := wordShare(s)
	return words < 0.2 || words < 0.35 && t.digit > 0
}

// chosen reports whether a value where a password is due looks like one that a
// person chose, or a machine made.
func chosen(s string) bool {
	if len(s) < minChosen || ordinary(s) {
		return false
	}
	t := tallyOf(s)
	if t.distinct < 6 || t.letters() == 0 {
		return false
	}
	return t.kinds() >= 3 || t.digit > 0 && wordShare(s) < 0.4 || jumbled(s)
}
