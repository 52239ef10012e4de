package web

import (
	"fmt"
	"html/template"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/guard/shown"
)

// How much of a text is shown.
const (
	shownWhole = 24 << 10 // in a screen about the text
	shownRow   = 280      // in a row of a list, in bytes
	drawnRow   = 560      // in a row of a list, in bytes of the page
)

// marked shows a text as it is, with marks in place of what could deceive the
// reader: control characters, characters that turn the direction of writing, and those
// that are not seen at all. A text of which more than maxDrawn bytes would be drawn is cut, and
// says so.
func marked(s string) template.HTML { return markedWithin(s, maxDrawn) }

// markedWithin is marked with a bound of its own. The drawn text may be fifty times as long as the text.
func markedWithin(s string, most int) template.HTML {
	var b strings.Builder
	for i := 0; i < len(s); {
		drawn, n := drawnRune(s[i:])
		if b.Len()+len(drawn) > most {
			fmt.Fprintf(&b, `<span class="mark" title="%s more">…</span>`, size(int64(len(s)-i)))
			break
		}
		b.WriteString(drawn)
		i += n
	}
	return template.HTML(b.String()) //nolint:gosec // everything was escaped
}

// drawnRune is what a page shows of the first rune of a text, or of the plain letters it begins with, and
// how many bytes of the text that is.
func drawnRune(s string) (drawn string, n int) {
	for n < len(s) && n < 64 && isPlain(s[n]) {
		n++
	}
	if n > 0 {
		return s[:n], n
	}
	r, n := utf8.DecodeRuneInString(s)
	if !deceives(r, n) {
		return template.HTMLEscapeString(s[:n]), n
	}
	return fmt.Sprintf(`<span class="mark" title="%s">%s</span>`, nameOf(r, s[0]), signOf(r)), n
}

// isPlain reports whether a page shows a byte as it is, without escaping or a mark.
func isPlain(b byte) bool {
	return (b >= ' ' || b == '\n') && b <= '~' && b != '<' && b != '>' && b != '&' && b != '\'' && b != '"'
}

// deceives reports whether a rune is not what a reader sees. N is how many bytes it has.
func deceives(r rune, n int) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == utf8.RuneError && n == 1:
		return true
	case r == '\u200d' || r == '\ufe0f': // parts of emoji
		return false
	}
	return !shown.IsSeen(r)
}

func nameOf(r rune, first byte) string {
	if r == utf8.RuneError {
		return fmt.Sprintf("byte %02X", first)
	}
	return fmt.Sprintf("character U+%04X", r)
}

// signOf is what stands in place of a rune.
func signOf(r rune) string {
	switch {
	case r < 0x20:
		return string(rune(0x2400) + r) // the picture of it
	case r == 0x7f:
		return "\u2421"
	}
	return "\ufffd"
}

// row is a text on one line, cut for a list.
func row(s string) template.HTML {
	return markedWithin(brief(clip.Line(clip.Marked(s, 4*shownRow)), shownRow), drawnRow)
}

// chip is a name or a tag in a list of many.
func chip(s string) template.HTML { return markedWithin(clip.Marked(clip.Line(s), 100), 200) }

// first are the first elements of a list, rest is how many there are beyond them.
func first(n int, list any) any {
	v := reflect.ValueOf(list)
	return v.Slice(0, min(n, v.Len())).Interface()
}

func rest(n int, list any) int { return max(0, reflect.ValueOf(list).Len()-n) }

// long is a text that may be too long for a page.
type long struct {
	Text  string
	Bytes int // of all of it
	Cut   bool
}

// shorten cuts a text to what a page shows of it.
func shorten(s string, most int) long {
	return long{Text: clip.Bytes(s, most), Bytes: len(s), Cut: len(s) > most}
}

// size is a number of bytes as people read it.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1e6:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// when shows an instant: the zone of the browser is put in by the module of the page.
func when(t amber.Time) template.HTML {
	if t.IsZero() {
		return `<span class="faint">never</span>`
	}
	utc := t.Time().UTC()
	exact := t.String()
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s UTC</time>`, exact, exact, utc.Format("2006-01-02 15:04"))) //nolint:gosec // it is made of numbers
}

// shell quotes a word for a command line.
func shell(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@,+") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// command is a line that does what the screen does.
func (v *visit) command(words ...string) string {
	line := "amber"
	for _, w := range words {
		line += " " + shell(w)
	}
	if v.tenant != "" && v.tenant != "default" {
		line += " --tenant " + string(v.tenant)
	}
	if v.agent != "" && v.agent != "default" {
		line += " --agent " + string(v.agent)
	}
	return line
}

// markCost is about what the mark in place of a character costs in a page.
const markCost = 56

// brief cuts a text so that it takes about most bytes of a page, marks and escapes
// included, and says that it did.
func brief(s string, most int) string {
	if n := fits(s, most); n < len(s) {
		return s[:n] + "…"
	}
	return s
}

// fitted is shorten by what the text takes in a page.
func fitted(s string, most int) long {
	n := fits(s, most)
	return long{Text: s[:n], Bytes: len(s), Cut: n < len(s)}
}

// fits is how many bytes of a text take at most so many bytes of a page.
func fits(s string, most int) int {
	cost := 0
	for i, r := range s {
		n := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, n = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case deceives(r, n):
			cost += markCost
		case strings.ContainsRune(`<>&"'`, r):
			cost += len("&quot;")
		default:
			cost += n
		}
		if cost > most {
			return i
		}
	}
	return len(s)
}

// drawn is Markdown as far as it fits a page.
func drawn(s string) (html template.HTML, cut bool) {
	short := fitted(s, shownWhole)
	return markdown(short.Text), short.Cut
}
