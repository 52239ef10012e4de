package engram

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/amber-memory/amber/internal/base/clip"
)

var (
	errTooLong = fmt.Errorf("a row has more than %d bytes", MaxRowBytes)
	errTooMany = fmt.Errorf("more than %d rows, or more than %d unknown fields", MaxRows, maxUnknown)
)

// scanner reads JSON value by value, so that one row is in memory and not the text.
type scanner struct {
	d    *json.Decoder
	in   *meter
	raw  json.RawMessage // the row being read
	rows int
}

// meter lets the decoder read no further than most.
type meter struct {
	r          io.Reader
	read, most int64
}

func (m *meter) Read(p []byte) (int, error) {
	if m.read >= m.most {
		return 0, errTooLong
	}
	n, err := m.r.Read(p[:min(int64(len(p)), m.most-m.read)])
	m.read += int64(n)
	return n, err
}

func newScanner(r io.Reader) *scanner {
	in := &meter{r: r}
	return &scanner{d: json.NewDecoder(in), in: in}
}

// allow lets the next step read one row.
func (s *scanner) allow() { s.in.most = s.d.InputOffset() + MaxRowBytes }

func (s *scanner) token() (json.Token, error) {
	s.allow()
	return s.d.Token()
}

func (s *scanner) more() bool {
	s.allow()
	return s.d.More()
}

// value reads the next value. It is valid until the next one is read.
func (s *scanner) value() (json.RawMessage, error) {
	s.allow()
	s.raw = s.raw[:0]
	err := s.d.Decode(&s.raw)
	return s.raw, err
}

// object reads the one object there is; each is called for every name and reads its value.
func (s *scanner) object(each func(name string) error) error {
	if t, err := s.token(); err != nil || t != json.Delim('{') {
		return orElse(err, "not a JSON object")
	}
	seen := map[string]bool{}
	for s.more() {
		t, err := s.token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if seen[name] {
			return fmt.Errorf("the field %q appears twice", clip.Name(name))
		}
		seen[name] = true
		if err := each(name); err != nil {
			return err
		}
	}
	if _, err := s.token(); err != nil {
		return err
	}
	if _, err := s.token(); !errors.Is(err, io.EOF) {
		return orElse(err, "text follows the object")
	}
	return nil
}

// list reads a list of rows, null for none. A row that is JSON and not a row of this kind goes to bad, with its number in the
// list from 1; the others are read.
func list[T any](s *scanner, into *[]T, decode func(*T, []byte) error, bad func(at int, err error)) error {
	t, err := s.token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return errors.New("want a list of rows")
	}
	*into = []T{}
	for at := 1; s.more(); at++ {
		if s.rows++; s.rows > MaxRows {
			return errTooMany
		}
		raw, err := s.value()
		if err != nil {
			return err
		}
		var row T
		if err := decode(&row, raw); err != nil {
			bad(at, err)
			continue
		}
		*into = append(*into, row)
	}
	_, err = s.token()
	return err
}

func orElse(err error, otherwise string) error {
	if err != nil {
		return err
	}
	return errors.New(otherwise)
}

func addMember(extra, name string, raw json.RawMessage) string {
	var b strings.Builder
	b.WriteString(extra)
	appendMember(&b, name, raw)
	return b.String()
}
