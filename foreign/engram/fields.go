package engram

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// field is a field of an object that this package knows, and where its value goes.
type field struct {
	name string
	into any
}

// decodeObject reads one object. Names count as they are spelled, and none may be there twice: two readers could take two
// different values for it. What is not among the known fields is returned as JSON members ("a":1,"b":2), and by name.
func decodeObject(raw []byte, known ...field) (extra string, unknown []string, err error) {
	switch {
	case !utf8.Valid(raw):
		return "", nil, errors.New("it is not valid UTF-8")
	case !bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")):
		return "", nil, errors.New("it is not a JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return "", nil, fmt.Errorf("decode: %v", err)
	}
	var members strings.Builder
	var value json.RawMessage
	var names seen
	for d.More() {
		name, err := member(d, &value)
		if err != nil {
			return "", nil, err
		}
		at := slices.IndexFunc(known, func(f field) bool { return f.name == name })
		if names.again(at, name) {
			return "", nil, fmt.Errorf("field %q is there twice", clip(name))
		}
		if at >= 0 {
			if err := known[at].put(value); err != nil {
				return "", nil, err
			}
			continue
		}
		unknown = append(unknown, name)
		appendMember(&members, name, value)
	}
	if _, err := d.Token(); err != nil {
		return "", nil, errors.New("it ends too early")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return "", nil, errors.New("something follows the object")
	}
	return members.String(), unknown, nil
}

// member reads the next name, and its value into the buffer.
func member(d *json.Decoder, value *json.RawMessage) (name string, err error) {
	t, err := d.Token()
	if err != nil {
		return "", fmt.Errorf("decode: %v", err)
	}
	name, _ = t.(string)
	*value = (*value)[:0]
	if err := d.Decode(value); err != nil {
		return "", fmt.Errorf("decode %q: %v", clip(name), err)
	}
	return name, nil
}

// seen are the names an object had so far: the known ones by number, which are few, and the others.
type seen struct {
	known  uint64
	others map[string]bool
}

// again notes a name, and reports whether it was there before.
func (s *seen) again(at int, name string) bool {
	if at >= 0 {
		was := s.known&(1<<at) != 0
		s.known |= 1 << at
		return was
	}
	if s.others == nil {
		s.others = map[string]bool{}
	}
	was := s.others[name]
	s.others[name] = true
	return was
}

// put stores a value where the field says.
func (f field) put(value json.RawMessage) error {
	if p, ok := f.into.(**string); ok {
		*p = nil // what it pointed to may be somebody else's
	}
	if err := json.Unmarshal(value, f.into); err != nil {
		return fmt.Errorf("field %q does not have the type it should have", f.name)
	}
	return nil
}

func appendMember(b *strings.Builder, name string, value json.RawMessage) {
	if b.Len() > 0 {
		b.WriteByte(',')
	}
	b.Write(marshal(name))
	b.WriteByte(':')
	var compact bytes.Buffer
	if err := json.Compact(&compact, value); err != nil {
		panic("engram: what was decoded is JSON: " + err.Error())
	}
	b.Write(compact.Bytes())
}

// marshal is json.Marshal for values that always marshal: the spelling of Engram is that of Go, with its escapes.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("engram: strings and numbers always marshal: " + err.Error())
	}
	return b
}

// withExtra adds members to an object.
func withExtra(object []byte, extra string) []byte {
	if extra == "" {
		return object
	}
	object = object[:len(object)-1]
	if len(object) > 1 {
		object = append(object, ',')
	}
	return append(append(object, extra...), '}')
}

// clip shortens hostile input for a message.
func clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
