// Package settings edits the settings files of other programs as a careful
// person would: it adds, replaces and removes single entries of JSON, JSON with
// comments and TOML, and leaves every other byte where it was.
//
// Everything here works on bytes and touches no disk. A document is parsed with
// positions, an operation returns a new document whose text differs by a few
// splices, and that text is parsed again before it is handed out: an operation
// that would break a file returns an error instead. Removing what was added
// gives the text back as it had been; the one thing that cannot be seen
// afterwards, what an empty container looked like inside, is what
// [JSON.Interior] is for.
//
// The files that it reads may be hostile. Files above [MaxBytes], nesting above
// [MaxDepth], text that is not UTF-8 and keys that appear twice in one object
// are errors.
package settings

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// The bounds of a document.
const (
	MaxBytes = 8 << 20
	MaxDepth = 200
)

// SyntaxError says where a document is not what it should be.
type SyntaxError struct {
	Line, Column int // from 1; the column counts bytes
	Message      string
}

// Error returns the place and the message on one line.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// syntaxError is the error at an offset of src.
func syntaxError(src []byte, offset int, format string, args ...any) *SyntaxError {
	offset = min(offset, len(src))
	before := src[:offset]
	line := bytes.Count(before, []byte("\n")) + 1
	return &SyntaxError{line, offset - (bytes.LastIndexByte(before, '\n') + 1) + 1, fmt.Sprintf(format, args...)}
}

// mark is the byte order mark some editors put first.
const mark = "\ufeff"

// checkText refuses what no document may be.
func checkText(src []byte) error {
	if len(src) > MaxBytes {
		return fmt.Errorf("%d bytes, the limit for editing is %d", len(src), MaxBytes)
	}
	if !utf8.Valid(src) {
		for i := 0; i < len(src); {
			r, n := utf8.DecodeRune(src[i:])
			if r == utf8.RuneError && n == 1 {
				return syntaxError(src, i, "this is not UTF-8")
			}
			i += n
		}
	}
	return nil
}

// splice replaces the bytes from..to by text.
type splice struct {
	from, to int
	text     string
}

// apply makes the splices, which are in order and do not overlap.
func apply(src []byte, splices ...splice) []byte {
	var out []byte
	at := 0
	for _, s := range splices {
		out = append(append(out, src[at:s.from]...), s.text...)
		at = s.to
	}
	return append(out, src[at:]...)
}

// newline returns how lines of src end.
func newline(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
