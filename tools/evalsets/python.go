package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// pythonToJSON turns a literal of Python (dictionaries, lists, strings, numbers, None,
// True, False) into JSON: published tables hold some columns as Python prints them.
func pythonToJSON(text string) (json.RawMessage, error) {
	p := python{text: text}
	if err := p.value(0); err != nil {
		return nil, fmt.Errorf("at byte %d: %w", p.at, err)
	}
	if p.space(); p.at != len(p.text) {
		return nil, fmt.Errorf("at byte %d: there is more after the end of the value", p.at)
	}
	return p.out.Bytes(), nil
}

// python reads a literal.
type python struct {
	text string
	at   int
	out  bytes.Buffer
}

const pythonDepth = 64

func (p *python) space() {
	p.at += len(p.text[p.at:]) - len(strings.TrimLeft(p.text[p.at:], " \t\r\n"))
}

// peek is the next byte that is not space, 0 at the end.
func (p *python) peek() byte {
	p.space()
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *python) value(depth int) error {
	if depth > pythonDepth {
		return fmt.Errorf("values are nested deeper than %d", pythonDepth)
	}
	switch c := p.peek(); c {
	case '{':
		return p.group('}', depth, true)
	case '[':
		return p.group(']', depth, false)
	case '(':
		return p.group(')', depth, false)
	case '\'', '"':
		return p.quoted()
	default:
		return p.word()
	}
}

// group reads a dictionary, a list or a tuple.
func (p *python) group(end byte, depth int, pairs bool) error {
	open, closed := byte('['), byte(']')
	if pairs {
		open, closed = '{', '}'
	}
	p.out.WriteByte(open)
	p.at++
	for n := 0; p.peek() != end; n++ {
		if n > 0 {
			if p.peek() != ',' {
				return errors.New("a comma is missing")
			}
			if p.at++; p.peek() == end {
				break
			}
			p.out.WriteByte(',')
		}
		if pairs {
			if c := p.peek(); c != '\'' && c != '"' {
				return errors.New("a key is not a string")
			}
			if err := p.quoted(); err != nil {
				return err
			}
			if p.peek() != ':' {
				return errors.New("a colon is missing")
			}
			p.at++
			p.out.WriteByte(':')
		}
		if err := p.value(depth + 1); err != nil {
			return err
		}
	}
	p.at++
	p.out.WriteByte(closed)
	return nil
}

// word reads a number or a constant.
func (p *python) word() error {
	begin := p.at
	for p.at < len(p.text) && !strings.ContainsRune(" \t\r\n,:]})[{('\"", rune(p.text[p.at])) {
		p.at++
	}
	word := p.text[begin:p.at]
	if json, ok := map[string]string{"None": "null", "True": "true", "False": "false"}[word]; ok {
		p.out.WriteString(json)
		return nil
	}
	n, err := strconv.ParseFloat(word, 64)
	if err != nil || n-n != 0 {
		return errors.New("a value is not a literal of Python")
	}
	p.out.WriteString(strconv.FormatFloat(n, 'g', -1, 64))
	return nil
}

// quoted reads a string in either kind of quotes.
func (p *python) quoted() error {
	quote := p.text[p.at]
	p.at++
	var s strings.Builder
	for p.at < len(p.text) {
		switch c := p.text[p.at]; c {
		case quote:
			p.at++
			b, err := json.Marshal(s.String())
			p.out.Write(b)
			return err
		case '\\':
			if err := p.escape(&s); err != nil {
				return err
			}
		default:
			s.WriteByte(c)
			p.at++
		}
	}
	return errors.New("a string does not end")
}

// escape reads a backslash and what belongs to it.
func (p *python) escape(s *strings.Builder) error {
	if p.at+1 >= len(p.text) {
		return errors.New("a string does not end")
	}
	c := p.text[p.at+1]
	p.at += 2
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	switch plain, ok := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '\'': '\'', '"': '"'}[c]; {
	case ok:
		s.WriteByte(plain)
	case digits > 0:
		if p.at+digits > len(p.text) {
			return errors.New("an escape is cut off")
		}
		n, err := strconv.ParseUint(p.text[p.at:p.at+digits], 16, 32)
		if err != nil || n > utf8.MaxRune {
			return errors.New("an escape is not a character")
		}
		s.WriteRune(rune(n))
		p.at += digits
	default: // Python keeps the backslash of an escape it does not know
		s.WriteByte('\\')
		s.WriteByte(c)
	}
	return nil
}
