// Package strictjson is the one strict reader of JSON. [encoding/json] alone is too kind for input that others made: it
// accepts names of fields in any case, the last of two fields with one name, null for everything, nesting of any depth and broken
// characters. Two readers that differ in what they accept can be made to see two different documents.
//
// A [Shape] says what the JSON of a Go type looks like; [Rules] say how strict the check is. [Line] writes.
package strictjson

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/base/clip"
)

// Rules are how strict a check is. The zero value is the strictest, without bounds.
type Rules struct {
	Space       bool // white space between values is allowed
	AnyCase     bool // names that differ in case alone are one, as for encoding/json
	Null        bool // null is allowed for every value
	Unknown     bool // fields that the shape does not have are allowed
	Twice       bool // a name may occur twice in one object
	Opaque      bool // names inside a json.RawMessage may occur twice
	Halves      bool // an escape may be half of a surrogate pair
	MaxDepth    int  // of nested values; 0 for no bound
	MaxElements int  // of a typed list and of an object with any names; 0 for no bound
}

// Check checks one JSON value against a shape; a nil shape is anything. The error is an [*Error]. The spelling of
// numbers and of escapes is left to encoding/json, which has to read the value as well.
func (r Rules) Check(b []byte, s *Shape) error {
	if !utf8.Valid(b) {
		return &Error{Reason: BadUTF8}
	}
	w := walker{b: b, rules: r}
	if err := w.value(s, 0); err != nil {
		return err
	}
	if w.peek(); w.i != len(b) {
		return w.unexpected()
	}
	return nil
}

// Decode checks one JSON value and reads it. The error is an [*Error], or that of encoding/json.
func (r Rules) Decode(b []byte, s *Shape, into any) error {
	if err := r.Check(b, s); err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

// Members calls each with the members of the one object in b, in their order. Names count as they are spelled, and a
// name that occurs twice is an error; values are not looked into. The error is an [*Error], or that of each.
func Members(b []byte, each func(name string, value json.RawMessage) error) error {
	w := walker{b: b, rules: Rules{Space: true, Twice: true, Halves: true}}
	switch {
	case !utf8.Valid(b):
		return &Error{Reason: BadUTF8}
	case w.peek() != '{':
		return &Error{Reason: NotObject}
	case !json.Valid(b):
		return &Error{Reason: Syntax, Offset: len(b)}
	}
	seen := map[string]bool{}
	w.i++
	for w.peek() != '}' {
		quoted, err := w.text()
		if err != nil {
			return err
		}
		name, err := unescape(quoted)
		if err != nil || seen[name] {
			return &Error{Reason: Twice, Name: name}
		}
		seen[name] = true
		w.take(':')
		w.peek()
		begin := w.i
		if err := w.value(nil, 0); err != nil {
			return err
		}
		if err := each(name, b[begin:w.i:w.i]); err != nil {
			return err
		}
		w.take(',')
	}
	return nil
}

// Error says what is wrong with a JSON value.
type Error struct {
	Reason Reason
	Name   string // of the field
	Offset int    // the byte
	Limit  int
}

// Reason is a kind of [Error].
type Reason int

// Kinds of faults.
const (
	Syntax       Reason = iota // not the JSON that is expected at this byte
	BadUTF8                    // not valid UTF-8
	HalfPair                   // an escape that is half of a surrogate pair
	Null                       // null where a value is needed
	UnknownField               // a field that the shape does not have
	Twice                      // a name that occurs twice in one object
	TooDeep                    // nested too deep
	TooLong                    // too many elements
	NotObject                  // not an object
)

func (e *Error) Error() string {
	switch e.Reason {
	case BadUTF8:
		return "text is not valid UTF-8"
	case HalfPair:
		return fmt.Sprintf("byte %d: half of a surrogate pair", e.Offset)
	case Null:
		return fmt.Sprintf("byte %d: null, want a value", e.Offset)
	case UnknownField:
		return fmt.Sprintf("unknown field %q", clip.Name(e.Name))
	case Twice:
		return fmt.Sprintf("field %q occurs twice", clip.Name(e.Name))
	case TooDeep:
		return fmt.Sprintf("values are nested more than %d deep", e.Limit)
	case TooLong:
		return fmt.Sprintf("more than %d elements in one list or object", e.Limit)
	case NotObject:
		return "not a JSON object"
	}
	return fmt.Sprintf("not valid JSON at byte %d", e.Offset)
}
