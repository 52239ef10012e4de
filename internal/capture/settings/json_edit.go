package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Add puts a value behind the last item of the container at path, written
// in the manner of its neighbours. In an object it is the member key, which must
// not be there yet; in an array the key is left out of account. A blank
// document gets an object as its root first. Errors: there is no such
// container, or value is no JSON.
func (j *JSON) Add(path []string, key string, value []byte) (*JSON, error) {
	if j.root == nil {
		var err error
		if j, err = ParseJSON([]byte(j.prefix() + "{}" + newline(j.src))); err != nil {
			return nil, err
		}
	}
	n := j.Get(path...)
	if n == nil || n.Kind != Object && n.Kind != Array {
		return nil, fmt.Errorf("%s is neither an object nor a list", name(path))
	}
	if n.Kind == Object && n.Member(key) != nil {
		return nil, fmt.Errorf("%s has %q already", name(path), key)
	}
	text, err := itemText(n.Kind, key, value)
	if err != nil {
		return nil, err
	}
	if len(n.Items) == 0 {
		return j.edit(j.addFirst(n, text))
	}
	return j.edit(j.addLast(n, text)...)
}

// name is how messages call a container.
func name(path []string) string {
	if len(path) == 0 {
		return "the document"
	}
	return strings.Join(path, ".")
}

// itemText returns a member or an element as compact JSON.
func itemText(kind Kind, key string, value []byte) ([]byte, error) {
	var b bytes.Buffer
	if kind == Object {
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(key); err != nil {
			return nil, err
		}
		b.Truncate(b.Len() - 1)
		b.WriteByte(':')
	}
	err := json.Compact(&b, value)
	return b.Bytes(), err
}

// addFirst is the edit that fills an empty container.
func (j *JSON) addFirst(n *Node, item []byte) splice {
	inside := span{n.start + 1, n.end - 1}
	indent := j.indentAt(n.start)
	if c, ok := j.lastComment(inside.from, inside.to); ok {
		// The text behind the comment stays there, so that removing the item
		// gives the text back.
		if bytes.ContainsRune(j.src[c.to:inside.to], '\n') {
			return splice{c.to, c.to, newline(j.src) + j.pretty(item, indent+j.unit())}
		}
		return splice{c.to, c.to, " " + j.flat(item)}
	}
	if n != j.root && !bytes.ContainsRune(j.src[j.root.start:j.root.end], '\n') {
		return splice{inside.from, inside.to, j.flat(item)}
	}
	nl := newline(j.src)
	return splice{inside.from, inside.to, nl + j.pretty(item, indent+j.unit()) + nl + indent}
}

// addLast is the edit that adds behind the last item: the comma goes right
// behind it, the new item behind the comments on the same line, which belong to
// the old one.
func (j *JSON) addLast(n *Node, item []byte) []splice {
	last := n.Items[len(n.Items)-1]
	from := last.Value.end
	if last.comma >= 0 {
		from = last.comma + 1
	}
	at, open := j.restOfLine(from, n.end-1)
	indent := string(j.src[last.line:last.start])
	if !last.alone {
		indent = j.indentAt(n.start) + j.unit()
	}
	text := j.gap() + j.flat(item)
	if last.alone || open {
		text = newline(j.src) + j.pretty(item, indent)
	}
	if last.comma >= 0 {
		return []splice{{at, at, text + ","}}
	}
	return []splice{{last.Value.end, last.Value.end, ","}, {at, at, text}}
}

// Delete removes the item at path. A container that holds nothing afterwards
// has nothing between its brackets, unless there are comments. Errors: there is
// no such item.
func (j *JSON) Delete(path ...string) (*JSON, error) {
	if len(path) == 0 {
		return nil, errors.New("the root cannot be removed")
	}
	n := j.Get(path[:len(path)-1]...)
	i := indexOf(n, path[len(path)-1])
	if i < 0 {
		return nil, fmt.Errorf("%s does not exist", name(path))
	}
	if _, commented := j.lastComment(n.start, n.end); len(n.Items) == 1 && !commented {
		return j.edit(splice{n.start + 1, n.end - 1, ""})
	}
	return j.edit(j.deletion(n, i)...)
}

// deletion is the edit that removes one item: it, the white space before it,
// and a comma. Comments stay.
func (j *JSON) deletion(n *Node, i int) (edits []splice) {
	item := n.Items[i]
	from, end := n.start+1, item.Value.end
	if i > 0 {
		from = n.Items[i-1].comma + 1
	}
	behind := end // where the text goes on
	if item.comma >= 0 {
		if _, commented := j.lastComment(end, item.comma); !commented {
			behind = item.comma + 1
		}
	}
	if c, ok := j.lastComment(from, item.start); ok {
		from = c.to
		if j.lineComment(c) && !startsLine(j.src[behind:]) {
			// The text behind it must not become part of the comment.
			from += bytes.IndexByte(j.src[from:], '\n') + 1
		}
	}
	if item.comma < 0 && i > 0 {
		before := n.Items[i-1].comma
		edits = append(edits, splice{before, before + 1, ""})
	}
	edits = append(edits, splice{from, end, ""})
	if item.comma >= 0 {
		edits = append(edits, splice{item.comma, item.comma + 1, ""})
	}
	return edits
}

// startsLine reports whether nothing but white space stands before the next
// line break.
func startsLine(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r")
	return len(text) > 0 && text[0] == '\n'
}

// Set replaces the value at path. Errors: path does not exist, or value is not valid JSON.
func (j *JSON) Set(value []byte, path ...string) (*JSON, error) {
	n := j.Get(path...)
	if n == nil {
		return nil, fmt.Errorf("%s does not exist", name(path))
	}
	compact, err := itemText(Array, "", value)
	if err != nil {
		return nil, err
	}
	text := j.flat(compact)
	if bytes.ContainsRune(j.src[n.start:n.end], '\n') {
		indent := j.indentAt(n.start)
		text = strings.TrimPrefix(j.pretty(compact, indent), indent)
	}
	return j.edit(splice{n.start, n.end, text})
}

// Interior returns the white space between the brackets of the container at
// path, and whether there is nothing else.
func (j *JSON) Interior(path ...string) (string, bool) {
	n := j.Get(path...)
	if n == nil || n.Kind != Object && n.Kind != Array || len(n.Items) > 0 {
		return "", false
	}
	_, commented := j.lastComment(n.start, n.end)
	return string(j.src[n.start+1 : n.end-1]), !commented
}

// Refill sets the white space between the brackets of the container at path,
// which must hold nothing else. It is what [JSON.Interior] returned before an
// item was added and deleted.
func (j *JSON) Refill(interior string, path ...string) (*JSON, error) {
	if _, blank := j.Interior(path...); !blank || strings.Trim(interior, " \t\r\n") != "" {
		return nil, fmt.Errorf("%s is not empty", name(path))
	}
	n := j.Get(path...)
	return j.edit(splice{n.start + 1, n.end - 1, interior})
}

// edit makes the splices and parses the outcome.
func (j *JSON) edit(splices ...splice) (*JSON, error) {
	slices.SortStableFunc(splices, func(a, b splice) int { return a.from - b.from })
	return ParseJSON(apply(j.src, splices...))
}
