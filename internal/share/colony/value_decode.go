package colony

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/strictjson"
)

// Bounds of a JSON text, which keep what a hostile one costs in proportion to
// its length.
const (
	maxDepth  = 64
	maxValues = 1 << 18 // more than a file of a vault can hold names
)

// anyJSON is JSON of any shape: members may occur twice, and the last one counts. It is UTF-8 without half of a
// surrogate pair.
var anyJSON = strictjson.Rules{Space: true, Null: true, Unknown: true, Twice: true, MaxDepth: maxDepth + 1}

// decodeJSON reads one JSON value, with white space around it and nothing else.
// It must be UTF-8 without a byte order mark, with no half of a surrogate pair
// and not nested deeper than 64. The error is of kind damaged.
func decodeJSON(b []byte) (value, error) {
	r, err := newReader(b)
	if err != nil {
		return value{}, notJSON(err)
	}
	v, err := r.value()
	if err != nil {
		return value{}, notJSON(err)
	}
	return v, nil
}

func notJSON(err error) error {
	return &amber.Error{Op: "read JSON", Kind: amber.KindDamaged, Err: err}
}

// reader makes a value of the tokens of a valid text.
type reader struct {
	tokens *json.Decoder
	values int
}

func newReader(b []byte) (*reader, error) {
	if err := anyJSON.Check(b, nil); err != nil {
		return nil, err
	}
	if !json.Valid(b) {
		return nil, errors.New("the text is not JSON")
	}
	r := &reader{tokens: json.NewDecoder(bytes.NewReader(b))}
	r.tokens.UseNumber() // which stay as they were written
	return r, nil
}

func (r *reader) value() (value, error) {
	if r.values++; r.values > maxValues {
		return value{}, errors.New("too many values")
	}
	token, err := r.tokens.Token()
	if err != nil {
		return value{}, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return r.object()
		}
		return r.array()
	case string:
		return newString(t), nil
	case json.Number:
		return value{kind: kindNumber, text: t.String()}, nil
	case bool:
		if t {
			return value{kind: kindTrue}, nil
		}
		return value{kind: kindFalse}, nil
	}
	return value{}, nil // null
}

func (r *reader) array() (value, error) {
	v := value{kind: kindArray}
	for r.tokens.More() {
		e, err := r.value()
		if err != nil {
			return v, err
		}
		v.list, v.duplicates = append(v.list, e), v.duplicates || e.duplicates
	}
	_, err := r.tokens.Token() // the closing bracket
	return v, err
}

func (r *reader) object() (value, error) {
	v := newObject()
	var at places
	for r.tokens.More() {
		name, err := r.text()
		if err != nil {
			return v, err
		}
		m, err := r.value()
		if err != nil {
			return v, err
		}
		v.duplicates = v.duplicates || m.duplicates
		if i := at.of(v.names, name); i >= 0 {
			v.duplicates, v.list[i] = true, m
			continue
		}
		v.add(name, m)
	}
	_, err := r.tokens.Token() // the closing bracket
	return v, err
}

// text reads a string.
func (r *reader) text() (string, error) {
	token, err := r.tokens.Token()
	if err != nil {
		return "", err
	}
	text, ok := token.(string)
	if !ok {
		return "", errors.New("want a string as the document")
	}
	return text, nil
}

// places finds a name among those of an object that grows. Most objects are
// small, and a hostile text has many of them.
type places map[string]int

const fewNames = 16

// of returns where name is in names, -1 when it is new.
func (p *places) of(names []string, name string) int {
	if len(names) < fewNames {
		return slices.Index(names, name)
	}
	if *p == nil {
		*p = make(places)
	}
	for i := len(*p); i < len(names); i++ {
		(*p)[names[i]] = i
	}
	if i, ok := (*p)[name]; ok {
		return i
	}
	return -1
}
