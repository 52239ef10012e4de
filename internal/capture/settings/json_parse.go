package settings

import (
	"bytes"
	"encoding/json"
	"regexp"
	"sync"

	"github.com/amber-memory/amber/internal/base/clip"
)

// parser reads one document from left to right.
type parser struct {
	src      []byte
	at       int
	line     int // where the line begins
	depth    int
	comments []span
}

func (p *parser) fail(at int, format string, args ...any) error {
	return syntaxError(p.src, at, format, args...)
}

func (p *parser) document() (*Node, error) {
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at == len(p.src) && len(p.comments) == 0 {
		return nil, nil
	}
	root, err := p.value()
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at < len(p.src) {
		return nil, p.fail(p.at, "data follows the value")
	}
	return root, nil
}

// space skips white space and comments.
func (p *parser) space() error {
	for p.at < len(p.src) {
		switch c := p.src[p.at]; {
		case c == ' ' || c == '\t' || c == '\r':
			p.at++
		case c == '\n':
			p.at++
			p.line = p.at
		case c == '/':
			if err := p.comment(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// comment skips a comment and notes where it was. The line break that ends a
// // comment is no part of it.
func (p *parser) comment() error {
	rest, from := p.src[p.at:], p.at
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		p.at += len(bytes.TrimRight(rest[:end], "\r"))
	case bytes.HasPrefix(rest, []byte("/*")):
		end := bytes.Index(rest[2:], []byte("*/"))
		if end < 0 {
			return p.fail(from, "this comment does not end")
		}
		p.at += end + 4
		if i := bytes.LastIndexByte(p.src[from:p.at], '\n'); i >= 0 {
			p.line = from + i + 1
		}
	default:
		return p.fail(from, "unexpected %q", '/')
	}
	p.comments = append(p.comments, span{from, p.at})
	return nil
}

func (p *parser) value() (*Node, error) {
	if p.at == len(p.src) {
		return nil, p.fail(p.at, "a value is missing at the end")
	}
	switch c := p.src[p.at]; c {
	case '{':
		return p.container(Object, '}')
	case '[':
		return p.container(Array, ']')
	case '"':
		return p.string()
	default:
		return p.literal()
	}
}

// container reads an object or an array.
func (p *parser) container(kind Kind, closing byte) (*Node, error) {
	if p.depth++; p.depth > MaxDepth {
		return nil, p.fail(p.at, "nested deeper than %d", MaxDepth)
	}
	defer func() { p.depth-- }()
	n := &Node{Kind: kind, start: p.at}
	seen := map[string]bool{}
	p.at++
	for {
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.at < len(p.src) && p.src[p.at] == closing {
			p.at++
			n.end = p.at
			return n, nil
		}
		if len(n.Items) > 0 && n.Items[len(n.Items)-1].comma < 0 {
			return nil, p.missing(n, closing)
		}
		before := n.start + 1 // the end of what stands before the item
		if len(n.Items) > 0 {
			before = n.Items[len(n.Items)-1].comma + 1
		}
		if len(p.comments) > 0 {
			before = max(before, p.comments[len(p.comments)-1].to)
		}
		item, err := p.item(kind, p.line >= before)
		if err != nil {
			return nil, err
		}
		if kind == Object && seen[item.Key] {
			return nil, p.fail(item.start, "the key %q is there twice", item.Key)
		}
		seen[item.Key] = true
		n.Items = append(n.Items, item)
	}
}

// missing says what should stand at this place of a container.
func (p *parser) missing(n *Node, closing byte) error {
	if p.at == len(p.src) {
		return p.fail(n.start, "%q is never closed", p.src[n.start])
	}
	return p.fail(p.at, "expected %q or %q, found %q", ',', closing, p.src[p.at])
}

// item reads a member or an element and the comma behind it.
func (p *parser) item(kind Kind, alone bool) (Item, error) {
	item := Item{line: p.line, start: p.at, alone: alone, comma: -1}
	if kind == Object {
		key, err := p.key()
		if err != nil {
			return item, err
		}
		item.Key = key
	}
	var err error
	if item.Value, err = p.value(); err != nil {
		return item, err
	}
	if err := p.space(); err != nil {
		return item, err
	}
	if p.at < len(p.src) && p.src[p.at] == ',' {
		item.comma = p.at
		p.at++
	}
	return item, nil
}

// key reads the key of a member and the colon.
func (p *parser) key() (string, error) {
	if p.at == len(p.src) {
		return "", p.fail(p.at, "an object is never closed")
	}
	if p.src[p.at] != '"' {
		return "", p.fail(p.at, "expected a key in double quotes, found %q", p.src[p.at])
	}
	n, err := p.string()
	if err != nil {
		return "", err
	}
	if err := p.space(); err != nil {
		return "", err
	}
	if p.at == len(p.src) || p.src[p.at] != ':' {
		return "", p.fail(p.at, "expected %q after the key %q", ':', n.Text)
	}
	p.at++
	return n.Text, p.space()
}

func (p *parser) string() (*Node, error) {
	from := p.at
	for p.at++; p.at < len(p.src); p.at++ {
		switch c := p.src[p.at]; {
		case c == '\\':
			p.at++
		case c < ' ':
			return nil, p.fail(p.at, "a control character inside a string")
		case c == '"':
			p.at++
			n := &Node{Kind: String, start: from, end: p.at}
			if err := json.Unmarshal(p.src[from:p.at], &n.Text); err != nil {
				return nil, p.fail(from, "unknown escape in this string")
			}
			return n, nil
		}
	}
	return nil, p.fail(from, "this string does not end")
}

var (
	number = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	})
	words = map[string]Kind{"true": Bool, "false": Bool, "null": Null}
)

// literal reads a number or one of the three words.
func (p *parser) literal() (*Node, error) {
	from := p.at
	for p.at < len(p.src) && bytes.IndexByte([]byte(" \t\r\n,:{}[]\"/"), p.src[p.at]) < 0 {
		p.at++
	}
	text := string(p.src[from:p.at])
	n := &Node{Kind: words[text], start: from, end: p.at}
	switch {
	case n.Kind != "":
		return n, nil
	case number().MatchString(text):
		n.Kind = Number
		return n, nil
	case text == "":
		return nil, p.fail(from, "expected a value, found %q", p.src[from])
	}
	return nil, p.fail(from, "%q is not a value", clip.Marked(text, 20))
}
