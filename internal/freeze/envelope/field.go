package envelope

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
)

const (
	lastMilli = 253402300799999 // the last millisecond that RFC 3339 can tell, in the year 9999
	hexDigits = "0123456789abcdef"
)

// CheckTime checks a time, which must be after 1970 and fit RFC 3339.
func CheckTime(what string, t amber.Time) error {
	if ms := t.UnixMilli(); ms <= 0 || ms > lastMilli {
		return fmt.Errorf("%s is not a time since 1970", what)
	}
	return nil
}

// CheckLine checks text of one line, which may be empty.
func CheckLine(what, s string, most int) error {
	switch {
	case len(s) > most:
		return fmt.Errorf("%s has %d bytes, the limit is %d", what, len(s), most)
	case !utf8.ValidString(s):
		return fmt.Errorf("%s is not valid UTF-8", what)
	case strings.ContainsFunc(s, unicode.IsControl):
		return fmt.Errorf("%s contains a control character", what)
	}
	return nil
}

// CheckText checks text that may hold anything but invalid UTF-8.
func CheckText(what, s string, most int) error {
	if len(s) > most || !utf8.ValidString(s) {
		return fmt.Errorf("%s has %d bytes, or is not valid UTF-8", what, len(s))
	}
	return nil
}

// CheckOID checks the id of a git object, which may be empty.
func CheckOID(what, s string) error {
	if s != "" && len(s) != 40 && len(s) != 64 || strings.Trim(s, hexDigits) != "" {
		return fmt.Errorf("%s is not 40 or 64 lower-case hexadecimal digits", what)
	}
	return nil
}

// CheckDigest checks a SHA-256 in text.
func CheckDigest(what, s string) error {
	if len(s) != 64 || strings.Trim(s, hexDigits) != "" {
		return fmt.Errorf("%s is not 64 lower-case hexadecimal digits", what)
	}
	return nil
}
