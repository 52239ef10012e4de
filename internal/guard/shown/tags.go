package shown

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// tagLines are the elements by which hosts and models tell their own words from others', one on a line: the
// name of an element, a name between bars as models have it, or a word in brackets.
//
//go:embed tags.txt
var tagLines string

// tags are the names of the elements, and those in brackets.
var tags = sync.OnceValue(func() (t struct{ angled, barred, bracketed map[string]bool }) {
	t.angled, t.barred, t.bracketed = map[string]bool{}, map[string]bool{}, map[string]bool{}
	for line := range strings.FieldsSeq(tagLines) {
		switch name := nameOf(strings.Trim(line, "<>|[]")); line[0] {
		case '[':
			t.bracketed[name] = true
		case '|':
			t.barred[name] = true
		default:
			t.angled[name] = true
		}
	}
	return t
})

// Replacements for the sign that begins an element. No host or model takes these for elements, and
// no reader turns them back.
const (
	angle   = "‹"
	bracket = "⟦"
)

// opened are the ways to write the sign that begins an element, and what stands instead.
var opened = []struct{ sign, instead string }{
	{"<", angle}, {"＜", angle}, {"﹤", angle}, {"&lt;", angle}, {"&#60;", angle}, {"&#x3c;", angle}, {"[", bracket}, {"［", bracket},
}

// EscapeTags returns s in which what looks like an element of a host, as <system-reminder>, begins with
// another sign, so that it reads as text. Cases, blanks, full-width letters and entities make no difference.
func EscapeTags(s string) string {
	if !strings.ContainsAny(s, "<[&＜﹤［") {
		return s
	}
	var b strings.Builder
	at := 0
	for i := 0; i < len(s); {
		size, instead := opens(s[i:])
		if size == 0 {
			i++
			continue
		}
		if isTag(s[i+size:], instead == bracket) {
			b.WriteString(s[at:i])
			b.WriteString(instead)
			at = i + size
		}
		i += size
	}
	if at == 0 {
		return s
	}
	b.WriteString(s[at:])
	return b.String()
}

// opens returns the size of the sign that s begins with, if it begins an element, and what stands instead.
func opens(s string) (size int, instead string) {
	if strings.IndexByte("<[&", s[0]) < 0 && s[0] < 0x80 {
		return 0, ""
	}
	for _, o := range opened {
		if len(s) >= len(o.sign) && strings.EqualFold(s[:len(o.sign)], o.sign) {
			return len(o.sign), o.instead
		}
	}
	return 0, ""
}

// longestTag bounds what is read of an element: blanks, a slash, bars and the name.
const longestTag = 160

// isTag reports whether the name of an element follows its sign. The delimiter of a block of Amber's
// memory is one that a host may see: it has a number that none can guess.
func isTag(s string, inBrackets bool) bool {
	s = s[:min(len(s), longestTag)]
	name := strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("/<!?＜／", r) })
	inner := strings.TrimLeft(name, "|｜")
	end := strings.IndexFunc(inner, func(r rune) bool { return !isNameRune(r) })
	if end < 0 {
		end = len(inner)
	}
	folded := nameOf(inner[:end])
	switch {
	case inBrackets:
		return tags().bracketed[folded]
	case len(inner) < len(name):
		return tags().barred[folded]
	case !endsName(inner[end:]), folded == own && isDelimiter(inner[end:]):
		return false
	}
	space, local, found := strings.Cut(folded, ":")
	return tags().angled[folded] || found && (tags().angled[space] || tags().angled[local])
}

// own is the name of the element that Amber puts around memory.
const own = "amber-memory"

// isDelimiter reports whether the number of a block stands in s, which begins behind the name.
func isDelimiter(s string) bool {
	const size = 32
	number, found := strings.CutPrefix(s, " ")
	return found && len(number) > size && number[size] == '>' && strings.Trim(number[:size], "0123456789abcdef") == ""
}

// endsName reports whether the name of an element ends before s.
func endsName(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s == "" || unicode.IsSpace(r) || strings.ContainsRune(">/|&＞／", r)
}

func isNameRune(r rune) bool {
	r = narrow(r)
	return r == '-' || r == '_' || r == ':' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// nameOf folds a name: cases, full-width letters, and the two signs that part words.
func nameOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r = narrow(r); r == '_' {
			return '-'
		}
		return unicode.ToLower(r)
	}, s)
}

// narrow is the ASCII character that a full-width one represents.
func narrow(r rune) rune {
	if r >= '！' && r <= '～' {
		return r - '！' + '!'
	}
	return r
}
