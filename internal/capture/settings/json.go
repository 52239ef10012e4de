package settings

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Kind is what a JSON value is.
type Kind string

// The kinds of value.
const (
	Object Kind = "object"
	Array  Kind = "array"
	String Kind = "string"
	Number Kind = "number"
	Bool   Kind = "boolean"
	Null   Kind = "null"
)

// Node is a value of a JSON document. It belongs to the document and must not
// be changed.
type Node struct {
	Kind  Kind
	Text  string // of a string
	Items []Item // of an object or an array, in their order

	start, end int
}

// Item is a member of an object or an element of an array.
type Item struct {
	Key   string // of a member
	Value *Node

	line  int  // where the line begins
	start int  // of the key or the value
	alone bool // it begins the line
	comma int  // offset of the comma behind the value, -1 when there is none
}

// Member returns the value of a member, or nil. It may be asked of nil.
func (n *Node) Member(key string) *Node {
	if n == nil || n.Kind != Object {
		return nil
	}
	for _, item := range n.Items {
		if item.Key == key {
			return item.Value
		}
	}
	return nil
}

// JSON is a parsed document, which does not change. The zero value is not
// usable.
type JSON struct {
	src      []byte
	root     *Node // nil when the text is blank
	comments []span
}

type span struct{ from, to int }

// ParseJSON parses a document: JSON, with // and /* comments and with commas
// before a closing bracket. Blank text is a document without a root. The text
// is not kept. The error is a *[SyntaxError], or says that there is too much.
func ParseJSON(src []byte) (*JSON, error) {
	if err := checkText(src); err != nil {
		return nil, err
	}
	p := parser{src: slices.Clone(src)}
	if len(src) >= len(mark) && string(src[:len(mark)]) == mark {
		p.at = len(mark)
	}
	root, err := p.document()
	if err != nil {
		return nil, err
	}
	return &JSON{src: p.src, root: root, comments: p.comments}, nil
}

// Bytes returns the text, which the caller owns.
func (j *JSON) Bytes() []byte { return slices.Clone(j.src) }

// Root returns the outermost value, nil when the text is blank.
func (j *JSON) Root() *Node { return j.root }

// Raw returns the text of a value as it stands, which the caller owns.
func (j *JSON) Raw(n *Node) []byte { return slices.Clone(j.src[n.start:n.end]) }

// Decode decodes a value, comments left out.
func (j *JSON) Decode(n *Node, v any) error { return json.Unmarshal(j.strict(n), v) }

// Strict returns the document as JSON without comments, without commas before
// closing brackets and without a byte order mark; nil when it is blank.
func (j *JSON) Strict() []byte {
	if j.root == nil {
		return nil
	}
	return j.strict(j.root)
}

func (j *JSON) strict(n *Node) []byte {
	var out []byte
	switch n.Kind {
	case Object, Array:
		out = append(out, j.src[n.start])
		for i, item := range n.Items {
			if i > 0 {
				out = append(out, ',')
			}
			if n.Kind == Object {
				key, _ := json.Marshal(item.Key) // a string always has a form
				out = append(append(out, key...), ':')
			}
			out = append(out, j.strict(item.Value)...)
		}
		return append(out, j.src[n.end-1])
	}
	return append(out, j.src[n.start:n.end]...)
}

// Get returns the value at a path of keys and indexes, nil when the path does not exist.
func (j *JSON) Get(path ...string) *Node {
	n := j.root
	for _, key := range path {
		i := indexOf(n, key)
		if i < 0 {
			return nil
		}
		n = n.Items[i].Value
	}
	return n
}

// indexOf returns the place of a key or an index in a container, -1 when it
// is not there.
func indexOf(n *Node, key string) int {
	switch {
	case n == nil:
	case n.Kind == Object:
		return slices.IndexFunc(n.Items, func(i Item) bool { return i.Key == key })
	case n.Kind == Array:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(n.Items) {
			return i
		}
	}
	return -1
}
