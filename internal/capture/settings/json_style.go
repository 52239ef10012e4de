package settings

import (
	"bytes"
	"encoding/json"
	"strings"
)

// prefix returns the byte order mark, if there is one.
func (j *JSON) prefix() string {
	if bytes.HasPrefix(j.src, []byte(mark)) {
		return mark
	}
	return ""
}

// lastComment returns the last comment that lies between two offsets.
func (j *JSON) lastComment(from, to int) (last span, ok bool) {
	for _, c := range j.comments {
		if c.from >= from && c.to <= to {
			last, ok = c, true
		}
	}
	return last, ok
}

func (j *JSON) lineComment(c span) bool { return j.src[c.from+1] == '/' }

// restOfLine returns where the comments end that begin on the line of from,
// and whether the last of them reaches to the end of the line.
func (j *JSON) restOfLine(from, limit int) (at int, open bool) {
	at = from
	for _, c := range j.comments {
		if c.from < at || c.to > limit {
			continue
		}
		if len(bytes.Trim(j.src[at:c.from], " \t")) > 0 {
			break
		}
		at, open = c.to, j.lineComment(c)
	}
	return at, open
}

// indentAt returns the white space that begins the line of an offset.
func (j *JSON) indentAt(at int) string {
	line := j.src[bytes.LastIndexByte(j.src[:at], '\n')+1 : at]
	line = bytes.TrimPrefix(line, []byte(mark))
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit returns by how much this document indents: what the first item that
// begins a line has more than its container. Only so many are looked at.
func (j *JSON) unit() string {
	budget := 1000
	var find func(n *Node) string
	find = func(n *Node) string {
		for _, item := range n.Items {
			if budget--; budget < 0 {
				return ""
			}
			if item.alone {
				outer, indent := j.indentAt(n.start), string(j.src[item.line:item.start])
				if len(indent) > len(outer) && strings.HasPrefix(indent, outer) {
					return indent[len(outer):]
				}
			}
			if unit := find(item.Value); unit != "" {
				return unit
			}
		}
		return ""
	}
	if unit := find(j.root); unit != "" {
		return unit
	}
	return "  "
}

// gap returns what stands behind a comma on one line.
func (j *JSON) gap() string {
	if j.spaced() {
		return " "
	}
	return ""
}

// spaced reports whether this document puts a space behind a colon.
func (j *JSON) spaced() bool {
	for _, item := range j.root.Items {
		if item.Value.start > 0 && item.Key != "" {
			return j.src[item.Value.start-1] != ':'
		}
	}
	return true
}

// pretty returns compact JSON over several lines, the first one indented too.
func (j *JSON) pretty(item []byte, indent string) string {
	key, value := cutKey(item)
	var b bytes.Buffer
	if err := json.Indent(&b, value, indent, j.unit()); err != nil {
		b.Reset()
		b.Write(value) // it was compacted, so it can be indented
	}
	return strings.ReplaceAll(indent+key+b.String(), "\n", newline(j.src))
}

// flat returns compact JSON on one line, with spaces where this document has
// them.
func (j *JSON) flat(item []byte) string {
	if !j.spaced() {
		return string(item)
	}
	var b strings.Builder
	inside := false
	for i := 0; i < len(item); i++ {
		b.WriteByte(item[i])
		switch c := item[i]; {
		case inside && c == '\\':
			i++
			b.WriteByte(item[i])
		case c == '"':
			inside = !inside
		case !inside && (c == ':' || c == ','):
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// cutKey splits a compact member into its key with ": " and its value. An
// element has no key.
func cutKey(item []byte) (key string, value []byte) {
	if len(item) == 0 || item[0] != '"' {
		return "", item
	}
	for i := 1; i < len(item); i++ {
		switch item[i] {
		case '\\':
			i++
		case '"':
			if i+1 < len(item) && item[i+1] == ':' {
				return string(item[:i+1]) + ": ", item[i+2:]
			}
			return "", item
		}
	}
	return "", item
}
