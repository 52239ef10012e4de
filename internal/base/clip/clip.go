// Package clip makes texts shorter, each way under a name of its own.
//
// [Bytes], [Letters] and [AtWord] add nothing: they are for texts that are stored or sent on. [Marked], [Name] and
// [Runes] show that something is missing: they are for texts that a person reads, messages above all. [Line] and
// [Printed] put a text on one line first. Package term counts the columns of a terminal, and package shown makes
// visible what a text hides.
package clip

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark stands where a text was cut.
const mark = "…"

// Bytes returns the beginning of s in at most n bytes of whole characters.
func Bytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Letters is Bytes that leaves no accent and the like behind, which belong to the character before them.
func Letters(s string, n int) string {
	kept := Bytes(s, n)
	for len(kept) > 0 && len(kept) < len(s) {
		if next, _ := utf8.DecodeRuneInString(s[len(kept):]); !unicode.IsMark(next) {
			break
		}
		kept = Bytes(s, len(kept)-1)
	}
	return kept
}

// AtWord is Bytes that cuts behind white space or a quote where there is one near the end: the half of a secret would
// not be recognised as one.
func AtWord(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const near = 256
	s = Bytes(s, n)
	if at := strings.LastIndexAny(s, " \t\r\n\"'`"); at > 0 && at >= len(s)-near {
		return s[:at+1]
	}
	return s
}

// Marked returns s fit for a message, however it was chosen: valid UTF-8, and no more than its first n bytes, with a
// mark behind them.
func Marked(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(Bytes(s, n), "\uFFFD") + mark
}

// Name is Marked for what an error repeats of a name that another program or person chose.
func Name(s string) string { return Marked(s, 80) }

// Runes returns at most n characters of s; the last one is a mark where some are missing.
func Runes(s string, n int) string {
	count, last := 0, 0
	for i := range s {
		if count++; count == n {
			last = i
		}
		if count > n {
			return s[:last] + mark
		}
	}
	return s
}

// Line puts a text on one line: white space of every kind is one blank.
func Line(s string) string { return strings.Join(strings.Fields(s), " ") }

// Printed is Line of valid UTF-8 in which a character that does not print is white space, too.
func Printed(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
}
