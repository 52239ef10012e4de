package redact

import (
	"slices"
	"strings"
)

// plainNames are ends of the names of passwords, and of nothing else.
var plainNames = []string{"password", "passwd", "passphrase", "pwd", "_pass", "pass", "pw", "passwort", "kennwort", "wachtwoord", "contrasena", "senha"}

// notPlain are words with a digit that are no passwords: names of types and of
// encodings.
var notPlain = []string{"base32", "base64", "oauth2", "uint16", "uint32", "uint64", "varchar2", "varchar255"}

// minPlain is the length of the shortest password worth removing.
const minPlain = 6

// isPlain reports whether a value is a password of the plainest kind, a word
// and a number: any with a letter and a digit where the form is explicit, else
// one that looks like no variable.
func (a *assignment) isPlain(v view, value string) bool {
	value = strings.TrimRight(value, ".")
	if len(value) < minPlain || !slices.Contains(plainNames, strings.ToLower(a.tail)) || !alnum.has[value[0]] {
		return false
	}
	t := tallyOf(value)
	switch {
	case t.digit == 0 || t.letters() < 3 || t.distinct < 5 || strings.Contains(value, "."):
		return false
	case ordinary(value) || namesSecret(value) || identifies(value) && len(value) >= minRandom:
		return false
	case slices.Contains(notPlain, strings.ToLower(value)):
		return false
	}
	return a.isExplicit(v) || !a.quoted && isWordAndNumber(value) && v.endsWord(a.end) || a.isGivenAway(v)
}

// isGivenAway reports whether a password stands in a sentence or a connection string as
// "password=hunter2xyz": nothing parts it from its name, and it ends as a word does, where
// the argument of a call would end with a comma or a parenthesis.
func (a *assignment) isGivenAway(v view) bool {
	return !a.quoted && a.start == a.nameEnd+1 && v.has(a.nameEnd, "=") && a.end-a.start >= minChosen && v.endsWord(a.end)
}

// isWordAndNumber reports whether s is one word and a number of two digits or
// more, which the names of variables seldom are.
func isWordAndNumber(s string) bool {
	word := humpEnd(s, 0)
	return word > 0 && len(s)-word >= 2 && digits.run(s, word, len(s)) == len(s)
}

// isExplicit reports whether an assignment has a form that only data has:
// NAME=value, NAME: value, --name value, "name": "value", <name>value</name>
// or a pair.
func (a *assignment) isExplicit(v view) bool {
	behind := v.quote(a.nameEnd)
	switch {
	case a.setting, a.paired && a.quoted:
		return true
	case a.quoted && behind > a.nameEnd:
		return v.has(v.skip(behind, " \t"), ":") || strings.HasPrefix(a.name, "--")
	case a.quoted || !v.endsWord(a.end):
		return false
	case v.hasEscaped(a.nameEnd, ">", "u003e"):
		return v.hasEscaped(a.end, "<", "u003c")
	case strings.HasPrefix(a.name, "--"):
		return true
	}
	return v.has(a.nameEnd, ": ") && upperWord.run(a.name, 0, len(a.name)) == len(a.name)
}

// hasEscaped reports whether sign stands at at, as it is or as JSON may write
// it.
func (v view) hasEscaped(at int, sign, escape string) bool {
	if v.has(at, sign) {
		return true
	}
	behind := v.skip(at, `\`)
	return behind > at && v.has(behind, escape)
}

// endsWord reports whether a bare value that ends at end is the last of its
// line, or of the words of a sentence. Where a secret follows, it is not: the
// answer must be the same when that one has become a marker.
func (v view) endsWord(end int) bool {
	if end >= v.hi {
		return end == len(v.text)
	}
	return strings.IndexByte(" \t\r\n\"'`<\\", v.text[end]) >= 0
}
