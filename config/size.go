package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is a number of bytes.
type Bytes int64

// minSize is the smallest size a key takes: one entry of the crash journal or
// one request may be as large.
const minSize Bytes = 1 << 20

// sizeUnits are the units a size is written with, the largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1},
}

// String returns the size in the largest unit that needs no fraction, "64MiB".
func (b Bytes) String() string {
	for _, u := range sizeUnits {
		if n := int64(b); n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return "0B"
}

// parseBytes reads a whole number with a unit, or of bytes. Units are those of
// the computer: MB may mean two things and is none.
func parseBytes(text string) (Bytes, error) {
	digits, unit := text, int64(1)
	for _, u := range sizeUnits {
		if at := len(text) - len(u.name); at > 0 && strings.EqualFold(text[at:], u.name) {
			digits, unit = strings.TrimSpace(text[:at]), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, err
	}
	if n > math.MaxInt64/unit || n < math.MinInt64/unit {
		return 0, fmt.Errorf("%s is out of range", quote(text))
	}
	return Bytes(n * unit), nil
}
