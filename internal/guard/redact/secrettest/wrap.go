package secrettest

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// Wrapping is a way to write a secret so that its bytes are others.
type Wrapping struct {
	Name string
	// Whole says that what gives the secret away is written so, too.
	Whole bool
	Wrap  func(string) string
}

// Wrappings returns the ways to write a secret otherwise.
func Wrappings() []Wrapping {
	return []Wrapping{
		{"base64", true, func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }},
		{"base64 for URLs", true, func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }},
		{"hexadecimal digits", true, func(s string) string { return hex.EncodeToString([]byte(s)) }},
		{"escapes of JSON", false, func(s string) string { return eachByte(s, `\u%04x`) }},
		{"escapes of programs", false, func(s string) string { return eachByte(s, `\x%02X`) }},
		{"escapes of URLs", false, func(s string) string { return eachByte(s, "%%%02X") }},
		{"entities of HTML", false, func(s string) string { return eachByte(s, "&#%d;") }},
		{"characters without width", false, func(s string) string { return halves(s, "\u200b") }},
		{"full-width letters", false, fullWidth},
		{"two lines", false, func(s string) string { return halves(s, "\n    ") }},
		{"two lines of a shell", false, func(s string) string { return halves(s, "\\\n") }},
	}
}

// Wrapped returns a text with the secret written in the way of w.
func (s Secret) Wrapped(w Wrapping) string {
	if w.Whole {
		return w.Wrap(s.Text())
	}
	return s.Before + w.Wrap(s.Value) + s.After
}

func eachByte(s, format string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

func halves(s, between string) string { return s[:len(s)/2] + between + s[len(s)/2:] }

func fullWidth(s string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f {
			return r - '!' + '！'
		}
		return r
	}, s)
}
