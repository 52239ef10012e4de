package window

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// maxField bounds what fits into a field.
const maxField = 4096

// edit is one line that is being typed.
type edit struct {
	text []rune
	at   int // of the cursor, 0 to len(text)
}

func newEdit(text string) edit {
	e := edit{}
	e.insert(text)
	return e
}

func (e *edit) String() string { return string(e.text) }

// Set replaces the text.
func (e *edit) Set(text string) { *e = newEdit(text) }

// insert puts text where the cursor is, clean and on one line.
func (e *edit) insert(text string) {
	add := []rune(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, Clean(text)))
	add = add[:min(len(add), max(maxField-len(e.text), 0))]
	e.text = append(e.text[:e.at:e.at], append(add, e.text[e.at:]...)...)
	e.at += len(add)
}

// key edits the line, and reports whether the key was one for that.
func (e *edit) key(k tea.KeyPressMsg) bool {
	switch k.String() {
	case "left", "ctrl+b":
		e.at = max(e.at-1, 0)
	case "right", "ctrl+f":
		e.at = min(e.at+1, len(e.text))
	case "home", "ctrl+a":
		e.at = 0
	case "end", "ctrl+e":
		e.at = len(e.text)
	case "backspace", "ctrl+h":
		e.remove(e.at-1, e.at)
	case "delete":
		e.remove(e.at, e.at+1)
	case "ctrl+u":
		e.remove(0, e.at)
	case "ctrl+k":
		e.remove(e.at, len(e.text))
	case "ctrl+w", "alt+backspace":
		e.remove(e.wordStart(), e.at)
	default:
		if k.Text == "" {
			return false
		}
		e.insert(k.Text)
	}
	return true
}

// remove takes out what is from one place to another.
func (e *edit) remove(from, to int) {
	from, to = max(from, 0), min(to, len(e.text))
	if from >= to {
		return
	}
	e.text = append(e.text[:from:from], e.text[to:]...)
	e.at = from
}

// wordStart is where the word before the cursor begins.
func (e *edit) wordStart() int {
	at := e.at
	for at > 0 && unicode.IsSpace(e.text[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(e.text[at-1]) {
		at--
	}
	return at
}

// draw returns the part of the line around the cursor that n columns hold, and the column of
// the cursor in it.
func (e *edit) draw(n int) (shown string, column int) {
	from, used := e.at, 0
	for from > 0 && used+cells(e.text[from-1]) < n {
		from--
		used += cells(e.text[from])
	}
	shown, _ = split(string(e.text[from:]), n)
	return shown, used
}
