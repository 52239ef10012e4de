package events

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
)

// maxPattern bounds a pattern in bytes: a prefix, a tenant, an agent and an
// event are far shorter.
const maxPattern = 512

// pattern is a subject in which "*" matches any one token and a ">" at the end matches one or more.
type pattern []string

// parsePattern checks a pattern. The error is of kind invalid.
func parsePattern(s string) (pattern, error) {
	fail := func(why string) (pattern, error) {
		return nil, amber.Errorf(amber.KindInvalid, "subscribe", "", "%s", why)
	}
	if s == "" || len(s) > maxPattern {
		return fail(fmt.Sprintf("a pattern has 1 to %d bytes, not %d", maxPattern, len(s)))
	}
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return fail("the pattern has spaces or control characters")
	}
	tokens := strings.Split(s, ".")
	for i, t := range tokens {
		switch {
		case t == "":
			return fail("the pattern has an empty token")
		case t == ">" && i < len(tokens)-1:
			return fail(`the pattern has ">" before its end`)
		case t != "*" && t != ">" && strings.ContainsAny(t, "*>"):
			return fail(`the pattern has "*" or ">" inside a token`)
		}
	}
	return tokens, nil
}

// matches reports whether the pattern matches a subject.
func (p pattern) matches(subject string) bool {
	for i, want := range p {
		if want == ">" {
			return subject != ""
		}
		if subject == "" {
			return false
		}
		token, rest, more := strings.Cut(subject, ".")
		if want != "*" && want != token {
			return false
		}
		if last := i == len(p)-1; last {
			return !more
		}
		subject = rest
	}
	return false
}
