package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Document takes the parts of a JSON document as it is read. Bytes are valid until the function returns.
type Document struct {
	// Element takes an element of a list: of the document itself, where list is "", or of a member of its top object. N
	// counts from 1.
	Element func(list string, n int64, raw []byte) error
	// Decodes says that Element decodes every element with encoding/json: it is then given bytes that may not be JSON, and
	// a [*json.SyntaxError] of it says so. Otherwise elements are checked first, which takes as long as decoding.
	Decodes bool
	// Member takes any other member of the top object, or a document that is neither object nor list, under the name "".
	// Nil passes them over.
	Member func(name string, raw []byte) error
	// Skip gets the place of something that cannot be read, and why.
	Skip func(at, reason string)
}

// ReadJSON reads a document of any size: a list, or an object with lists. No more than one element is held. An element
// that is broken or has more than [MaxItemBytes] is told to Skip. Where elements begin on lines of their own, the next
// one is found again; otherwise the rest of a broken document is not read. Every element before it was given out. The
// error is that of a function of d.
func ReadJSON(r io.Reader, d Document) error {
	s := &scanner{r: r, line: 1}
	err := s.document(d)
	if broken, ok := errors.AsType[*brokenError](err); ok {
		d.Skip(fmt.Sprintf("line %d", broken.line), broken.reason)
		return nil
	}
	return err
}

// brokenError says where a document stops making sense.
type brokenError struct {
	line   int64
	reason string
}

// Error implements error.
func (e *brokenError) Error() string { return e.reason }

func (s *scanner) document(d Document) error {
	c, err := s.next()
	switch {
	case err != nil:
		return s.broken("the document is empty, want JSON")
	case c == '[':
		return s.list("", d)
	case c != '{':
		return s.member("", d)
	}
	s.take()
	for first := true; ; first = false {
		done, err := s.between('}', first)
		if done || err != nil {
			return err
		}
		name, err := s.name()
		if err != nil {
			return err
		}
		if c, err = s.next(); err != nil {
			return s.broken("the document ends after a name")
		}
		if c == '[' {
			err = s.list(name, d)
		} else {
			err = s.member(name, d)
		}
		if err != nil {
			return err
		}
	}
}

// between passes a comma, or what closes, which is done.
func (s *scanner) between(closing byte, first bool) (done bool, err error) {
	c, err := s.next()
	if err != nil {
		return false, s.broken(fmt.Sprintf("the document ends before %q", closing))
	}
	if c == closing {
		s.take()
		return true, nil
	}
	if first {
		return false, nil
	}
	if c != ',' {
		return false, s.broken(fmt.Sprintf("found %q, want a comma or %q", c, closing))
	}
	s.take()
	if _, err := s.next(); err != nil {
		return false, s.broken("the document ends after a comma")
	}
	return false, nil
}

func (s *scanner) name() (string, error) {
	if c, _ := s.next(); c != '"' {
		return "", s.broken("want the name of a member in quotes")
	}
	raw, _ := s.value()
	var name string
	if json.Unmarshal(raw, &name) != nil {
		return "", s.broken("the name of a member cannot be read")
	}
	if c, err := s.next(); err != nil || c != ':' {
		return "", s.broken(fmt.Sprintf("want a colon after the name %.40q", name))
	}
	s.take()
	return name, nil
}

func (s *scanner) member(name string, d Document) error {
	line := s.line
	raw, size := s.value()
	at := fmt.Sprintf("line %d", line)
	switch {
	case size > MaxItemBytes:
		d.Skip(at, fmt.Sprintf("%.40q has %d bytes, the limit is %d", name, size, MaxItemBytes))
	case !json.Valid(raw):
		d.Skip(at, fmt.Sprintf("%.40q is not valid JSON", name))
	case d.Member != nil:
		return d.Member(name, raw)
	}
	return nil
}

// list gives out the elements of a list.
func (s *scanner) list(name string, d Document) error {
	s.take()
	for n := int64(1); ; n++ {
		done, err := s.between(']', n == 1)
		if broken, ok := errors.AsType[*brokenError](err); ok && s.findElement() {
			d.Skip(fmt.Sprintf("line %d", broken.line), broken.reason)
			err = nil
		}
		if done || err != nil {
			return err
		}
		if n == 1 {
			s.mark()
		}
		if err := s.element(name, n, d); err != nil {
			return err
		}
	}
}

func (s *scanner) element(list string, n int64, d Document) error {
	line := s.line
	raw, size := s.value()
	at := fmt.Sprintf("element %d, line %d", n, line)
	if list != "" {
		at = fmt.Sprintf("%s %d, line %d", list, n, line)
	}
	switch {
	case size > MaxItemBytes:
		d.Skip(at, fmt.Sprintf("element has %d bytes, the limit is %d", size, MaxItemBytes))
	case d.Decodes || json.Valid(raw):
		err := d.Element(list, n, raw)
		if _, broken := errors.AsType[*json.SyntaxError](err); !broken || !d.Decodes {
			return err
		}
		fallthrough
	default:
		d.Skip(at, "element is not valid JSON")
		s.again(raw)
	}
	return nil
}

// maxAgain bounds how much is read again in one document: a document of nothing but beginnings would be read as often as
// it has lines.
const maxAgain = 2 * MaxItemBytes

// again goes back to where the next element begins, if a broken one has swallowed it.
func (s *scanner) again(raw []byte) {
	if s.indent == nil || len(raw) < 2 || s.reread > maxAgain {
		return
	}
	if at := bytes.Index(raw[1:], s.indent); at >= 0 {
		rest := raw[1+at:]
		s.reread += int64(len(rest))
		s.line -= int64(bytes.Count(rest, []byte("\n")))
		s.buf = append(append([]byte{','}, rest...), s.buf[s.at:]...)
		s.at, s.last = 0, '\n'
	}
}
