// Package shown makes stored text fit to be read by an agent and on a terminal: what a reader does
// not see is not in it, and what a host would take for its own words is told apart from them.
//
//	stored text ── characters that are seen ──> Text ── tags of hosts told apart ──> ForAgent
//	     └──────── marks for the others ──────> Marked
//
// The characters are those of a list of what may be shown, by their Unicode category, so what
// Unicode adds to hide text tomorrow is left out today. Records keep what they hold: the answers
// of the HTTP API and --json are exact.
package shown

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Text returns s without characters that are not seen or that change how others read: controls but
// for line feeds and tabs, directions, variation selectors, fillers, tags, private and unassigned ones.
// Emoji, and joiners in scripts that need them, stay.
func Text(s string) string { return filter(s, -1) }

// Marked is [Text] for terminals: it replaces each run of characters that Text leaves out by one mark.
func Marked(s string) string { return EscapeTags(filter(s, unicode.ReplacementChar)) }

// ForAgent is [Text] in which nothing imitates an element of a host.
func ForAgent(s string) string { return EscapeTags(Text(s)) }

// ForBlock is [ForAgent] for what stands in a block of Amber's memory: nothing in it ends the block.
func ForBlock(s string) string {
	s = ForAgent(s)
	return delimiter().ReplaceAllString(s, angle+"$1")
}

var delimiter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<(/?` + own + ` [0-9a-f]{32}>)`) })

// filter leaves out what may not be shown, and writes mark instead of each run of it unless mark is
// negative.
func filter(s string, mark rune) string {
	at := firstDoubtful(s)
	if at == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:at])
	before, marked := lastRune(s[:at]), false
	for i := at; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		next := i + size
		switch {
		case r == '\r' && strings.HasPrefix(s[next:], "\n"):
		case mark < 0 && (r == '\u2028' || r == '\u2029'):
			b.WriteByte('\n')
		case IsSeen(r) && !(r == utf8.RuneError && size == 1), joins(before, r, s[next:]):
			b.WriteString(s[i:next])
			before, marked = r, false
		case flagSize(before, s[i:]) > 0:
			next = i + flagSize(before, s[i:])
			b.WriteString(s[i:next])
		case mark >= 0 && !marked:
			b.WriteRune(mark)
			marked = true
		}
		i = next
	}
	return b.String()
}

// firstDoubtful returns where the first byte is that is neither printed ASCII nor a line feed or tab.
func firstDoubtful(s string) int {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c >= 0x7f) && c != '\n' && c != '\t' {
			return i
		}
	}
	return len(s)
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// seen are the categories of characters that a reader sees, or sees the effect of.
var seen = []*unicode.RangeTable{unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs}

// unseen are characters of these categories that show nothing.
var unseen = []*unicode.RangeTable{unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector}

// IsSeen reports whether a reader sees a character, or its effect on the text around it.
func IsSeen(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
		return true
	case r == '\u2800' || r == '\U0001d159': // blanks among symbols
		return false
	}
	return unicode.In(r, seen...) && !unicode.In(r, unseen...)
}

const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
	asText    = '\ufe0e'
	asEmoji   = '\ufe0f'
	keycap    = '\u20e3'
)

// joins reports whether an unseen character belongs between what is before it and what follows: in an
// emoji, or in a word of a script that joins its letters.
func joins(before, r rune, rest string) bool {
	after, _ := utf8.DecodeRuneInString(rest)
	switch r {
	case asText, asEmoji:
		return isPicture(before) || strings.ContainsRune("#*0123456789", before) && after == keycap
	case joiner:
		return (isPicture(before) || before == asEmoji || isTone(before)) && isPicture(after) || isJoining(before) && isJoining(after)
	case nonJoiner:
		return isJoining(before) && isJoining(after)
	}
	return false
}

// isPicture reports whether a character may be an emoji.
func isPicture(r rune) bool {
	return r >= 0xa9 && unicode.In(r, unicode.So, unicode.Sm) || strings.ContainsRune("‼⁉ℹ〰〽", r)
}

func isTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// joining are the scripts in which joiners change letters.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
	unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Myanmar, unicode.Khmer, unicode.Tibetan,
}

func isJoining(r rune) bool { return unicode.In(r, joining...) }

// flags are the endings of the flags that are written with tags: of England, Scotland and Wales.
var flags = []string{tagged("gbeng"), tagged("gbsct"), tagged("gbwls")}

// tagged is a word in tags, and the tag that ends it.
func tagged(word string) string {
	return strings.Map(func(r rune) rune { return 0xe0000 + r }, word) + "\U000e007f"
}

// flagSize returns how many bytes of tags make a flag of the black flag before them.
func flagSize(before rune, s string) int {
	if before == '\U0001f3f4' {
		for _, f := range flags {
			if strings.HasPrefix(s, f) {
				return len(f)
			}
		}
	}
	return 0
}
