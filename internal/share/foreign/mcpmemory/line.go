package mcpmemory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// brokenError says what of a line is not read.
type brokenError struct {
	at    int // byte, from 0
	found []byte
}

// Error implements error.
func (e *brokenError) Error() string {
	return fmt.Sprintf("byte %d: want an entity or a relation in JSON, found %.60q", e.at+1, e.found)
}

// scan calls fn with each object of a line. Two servers that write at once leave several objects on one line, and halves:
// after a half, the next object that is whole is found again, and torn is set. The error is that of fn, or a
// [*brokenError] about the first part that is no object; the others were given out.
func scan(line []byte, fn func(m foreign.Fields, torn bool) error) error {
	var broken error
	work := 8*len(line) + 1<<20 // so much is looked at, or a hostile line could take for ever
	for at := next(line, 0); at < len(line) && work > 0; {
		raw, seen := object(line[at:])
		work -= seen
		m, ok := foreign.ParseFields(raw)
		if !ok {
			if broken == nil {
				broken = &brokenError{at, line[at:]}
			}
			at = next(line, resume(line, at+1))
			continue
		}
		if err := fn(m, broken != nil); err != nil {
			return err
		}
		at = next(line, at+len(raw))
	}
	return broken
}

// object returns the JSON value at the beginning of b, nil where there is none, and how many bytes were looked at.
func object(b []byte) (raw []byte, seen int) {
	d := json.NewDecoder(bytes.NewReader(b))
	var v json.RawMessage
	err := d.Decode(&v)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, int(syntax.Offset)
	}
	if err != nil {
		return nil, len(b)
	}
	return b[:d.InputOffset()], int(d.InputOffset())
}

// next passes what may stand between objects.
func next(line []byte, at int) int {
	for at < len(line) && (line[at] == ' ' || line[at] == '\t' || line[at] == ',') {
		at++
	}
	return at
}

// resume returns where the next object may begin.
func resume(line []byte, at int) int {
	for at < len(line) {
		n := bytes.IndexByte(line[at:], '{')
		if n < 0 {
			break
		}
		if at += n; bytes.HasPrefix(bytes.TrimLeft(line[at+1:], " \t"), []byte(`"`)) {
			return at
		}
		at++
	}
	return len(line)
}
