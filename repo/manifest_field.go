package repo

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
)

// lastMilli is the last millisecond that RFC 3339 can tell, in the year 9999.
const lastMilli = 253402300799999

func checkTime(what string, t amber.Time) error {
	if ms := t.UnixMilli(); ms <= 0 || ms > lastMilli {
		return fmt.Errorf("%s is not a time since 1970", what)
	}
	return nil
}

// checkLine checks text of one line, which may be empty.
func checkLine(what, s string, most int) error {
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

// checkName is checkLine for what must not be empty.
func checkName(what, s string, most int) error {
	if s == "" {
		return fmt.Errorf("%s is empty", what)
	}
	return checkLine(what, s, most)
}

// checkText checks text that may hold anything but invalid UTF-8.
func checkText(what, s string, most int) error {
	if len(s) > most || !utf8.ValidString(s) {
		return fmt.Errorf("%s has %d bytes, or is not valid UTF-8", what, len(s))
	}
	return nil
}

// clean makes s fit for checkText: what it cannot say is replaced, what is too
// long is cut.
func clean(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return s
}

// checkOID checks the name of a git object, which may be empty.
func checkOID(what, s string) error {
	if s != "" && len(s) != 40 && len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "" {
		return fmt.Errorf("%s is not 40 or 64 lower-case hexadecimal digits", what)
	}
	return nil
}

// firstOf returns the first error that is one.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
