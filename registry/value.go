package registry

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/amber-memory/amber"
)

// minDuration is the shortest duration a key takes. Below a millisecond,
// which is what stored times and database timeouts count in, it would be zero.
const minDuration = time.Millisecond

// parse reads a value of k from text and checks it. The error names the key.
func (k Key) parse(text string) (any, error) {
	v, err := k.parseText(strings.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	return v, k.check(v)
}

func (k Key) parseText(text string) (any, error) {
	switch k.Type {
	case Bool:
		return k.parseBool(text)
	case Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, k.wrongType(quote(text))
		}
		return n, nil
	case Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, k.wrongType(quote(text))
		}
		return d, nil
	case Size:
		b, err := parseBytes(text)
		if err != nil {
			return nil, k.wrongType(quote(text))
		}
		return b, nil
	}
	return strings.ToLower(text), nil
}

func (k Key) parseBool(text string) (any, error) {
	switch strings.ToLower(text) {
	case "1", "true", "yes", "on":
		return true, nil
	case "0", "false", "no", "off":
		return false, nil
	}
	return nil, k.wrongType(quote(text))
}

// wrongType is the error for a value that is not of the type of k. Got
// describes the value and is fit for a message.
func (k Key) wrongType(got string) error {
	want := map[Type]string{
		Bool:     "true or false",
		Int:      "a whole number",
		Duration: "a duration with a unit, such as 30s or 5m",
		Size:     "a size in bytes or with a unit, such as 64MiB",
		Name:     "the name of a backend",
	}[k.Type]
	return fmt.Errorf("%s must be %s, not %s", k.Path, want, got)
}

var validName = regexp.MustCompile(`^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$`)

// check checks the lower bound of a number and the form of a name. The error
// names the key.
func (k Key) check(v any) error {
	switch v := v.(type) {
	case int:
		if v < 1 {
			return fmt.Errorf("%s must be 1 or more, not %d", k.Path, v)
		}
	case time.Duration:
		if v < minDuration {
			return fmt.Errorf("%s must be %s or more, not %s", k.Path, minDuration, v)
		}
	case Bytes:
		if v < minSize {
			return fmt.Errorf("%s must be %s or more, not %s", k.Path, minSize, v)
		}
	case string:
		if !validName.MatchString(v) {
			return k.wrongType(quote(v))
		}
	}
	return nil
}

// clamp lowers v to the cap of k and reports whether it had to. A report
// counts durations in milliseconds.
func (k Key) clamp(v any) (any, amber.Clamp, bool) {
	switch most := k.Cap.(type) {
	case int:
		if n := v.(int); n > most {
			return most, amber.Clamp{Key: k.Path, Requested: int64(n), Effective: int64(most)}, true
		}
	case time.Duration:
		if d := v.(time.Duration); d > most {
			return most, amber.Clamp{Key: k.Path, Requested: d.Milliseconds(), Effective: most.Milliseconds()}, true
		}
	case Bytes:
		if b := v.(Bytes); b > most {
			return most, amber.Clamp{Key: k.Path, Requested: int64(b), Effective: int64(most)}, true
		}
	}
	return v, amber.Clamp{}, false
}

// plain returns v as `config show` prints it: durations and sizes as text,
// the rest as it is.
func plain(v any) any {
	switch v := v.(type) {
	case time.Duration:
		return plainDuration(v)
	case Bytes:
		return v.String()
	}
	return v
}

func plainDuration(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}

// quote makes text of unknown origin fit for a message.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return strconv.Quote(s)
}

// printable escapes what a terminal would act on.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}
