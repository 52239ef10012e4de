package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/timetable"
)

// minDuration is the shortest duration a key takes. Below a millisecond,
// which is what stored times and database timeouts count in, it would be zero.
const minDuration = time.Millisecond

const day = 24 * time.Hour

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
	case Int, Count:
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, k.wrongType(quote(text))
		}
		return n, nil
	case Share:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, k.wrongType(quote(text))
		}
		return f, nil
	case Duration, Span:
		d, err := timetable.Span(text)
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
	case Location:
		if isBucket(text) {
			return text, nil
		}
		return k.parsePath(text)
	case Path:
		return k.parsePath(text)
	case Choice:
		return Insistence(strings.ToLower(text)), nil
	case Schedule:
		return strings.ToLower(strings.Join(strings.Fields(text), " ")), nil
	case Subject, Address, URL, Label, Model, OptionalLabel, Variable:
		return text, nil
	case Servers:
		return Secret(text), nil
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
		Duration: "a duration with a unit, such as 30s, 5m or 90d",
		Span:     "a duration with a unit, such as 30s, 5m or 90d, or 0",
		Size:     "a size in bytes or with a unit, such as 64MiB",
		Name:     "the name of a backend",
		Count:    "a whole number",
		Share:    "a number above 0 and at most 1, such as 0.5",
		Choice:   "one of " + strings.Join(k.Choices, ", "),
		Path:     "an absolute path",
		Location: "an absolute path or the URL of an S3 bucket",
		Paths:    "a list of absolute paths",
		Schedule: `off, an interval such as 15m or 6h, or the five fields of cron, such as "0 3 * * *"`,
		Subject:  "tokens of letters, digits, _ and - joined by dots, such as amber.memory.mutated",

		Address: "a host and a port, such as 127.0.0.1:7411",

		Recipients: "a list of public keys",
		Scopes:     "a list of user and session",
		URL:        "a URL of https, or of http on this machine, without a user, as in https://host/api/v1",
		Label:      "one line of text",

		OptionalLabel: "one line of text",

		Model:      "builtin, none, or a URL of https, or of http on this machine, without a user, as in http://127.0.0.1:11434/v1",
		Variable:   "the name of an environment variable",
		Extensions: "a list of endings of names such as .md",
		Patterns:   "a list of patterns",
		Servers:    "the URLs of NATS servers with commas between them, such as nats://host:4222",
	}[k.Type]
	if k.Type == Servers || k.Type == Variable { // a person may have written the key, not its name
		got = "what it is set to, which is not shown here"
	}
	return fmt.Errorf("%s must be %s, not %s", k.Path, want, got)
}

var validName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$`)
})

// check checks the lower bound of a number and the form of a name. The error
// names the key.
func (k Key) check(v any) error {
	switch v := v.(type) {
	case int:
		if least := k.least(); v < least {
			return fmt.Errorf("%s must be %d or more, not %d", k.Path, least, v)
		}
	case float64:
		if !(v > 0 && v <= 1) {
			return k.wrongType(strconv.FormatFloat(v, 'g', -1, 64))
		}
	case time.Duration:
		if v < minDuration && (v != 0 || k.Type != Span) {
			return fmt.Errorf("%s must be %s or more, not %s", k.Path, minDuration, v)
		}
	case Bytes:
		if v < minSize {
			return fmt.Errorf("%s must be %s or more, not %s", k.Path, minSize, v)
		}
	case string:
		return k.checkText(v)
	case Insistence:
		return k.checkText(string(v))
	case Secret:
		if !v.servers() {
			return k.wrongType("")
		}
	case []string:
		switch k.Type {
		case Recipients:
			return k.checkRecipients(v)
		case Scopes:
			return k.checkScopes(v)
		case Extensions:
			return k.checkExtensions(v)
		case Patterns:
			return k.checkPatterns(v)
		}
		return k.checkPaths(v)
	}
	return nil
}

// least is the smallest whole number that k takes.
func (k Key) least() int {
	if k.Type == Count {
		return 0
	}
	return 1
}

func (k Key) checkText(s string) error {
	ok := false
	switch k.Type {
	case Choice:
		ok = slices.Contains(k.Choices, s)
	case Location:
		ok = s == "" || validPath(s) || isBucket(s)
	case Path:
		ok = s == "" || validPath(s)
	case Schedule:
		_, err := timetable.Parse(s)
		ok = err == nil
	case Subject:
		ok = len(s) <= maxSubject && validSubject().MatchString(s) && !secret(s)
	case Address:
		ok = validAddress(s)
	case URL:
		ok = s == "" || validURL(s)
	case Label:
		ok = validLabel(s)
	case OptionalLabel:
		ok = s == "" || validLabel(s)
	case Model:
		ok = validModel(s)
	case Variable:
		ok = s == "" || validVariable().MatchString(s) && !secret(s)
	default:
		ok = validName().MatchString(s)
	}
	if !ok {
		return k.wrongType(quote(s))
	}
	return nil
}

// maxSubject leaves room for a tenant, an agent and an event.
const maxSubject = 200

var validSubject = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
})

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
// without secrets, the rest as it is.
func plain(v any) any {
	switch v := v.(type) {
	case time.Duration:
		return plainDuration(v)
	case Bytes:
		return v.String()
	case Insistence:
		return string(v)
	case Secret:
		return v.String()
	case []string:
		return append([]string{}, v...)
	}
	return v
}

func plainDuration(d time.Duration) string {
	if d > day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}

// quote makes text of unknown origin fit for a message. A secret that was
// written in the wrong place is not repeated.
func quote(s string) string {
	const most = 40
	if secret(s) {
		return "a secret, which is not shown here"
	}
	return strconv.Quote(clip.Marked(s, most))
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
