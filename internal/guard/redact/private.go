package redact

import "strings"

// privateRules removes what an author marked as private: everything from
// <private> to the </private> that closes it. Blocks may be nested, tags may
// have attributes, be of any case, and be written with \u003c and \u003e as
// encoding/json does; only a type argument such as Local<Private> and a tag alone between backticks that nothing closes are none. A
// block that nothing closes goes on to the end of the text; inside JSON, where
// text lives in strings, to the end of its string.
//
// The anchors hold only as much of the tag as there are ways to write it.
var privateRules = []rule{{
	name:    privateName,
	anchors: []string{"<pr", "<pR", "<Pr", "<PR", `\u003c`, `\u003C`},
	finder:  findPrivate,
}}

const privateName = "private"

func findPrivate(v view, at int, found []span) []span {
	for at > v.lo && v.text[at] == '\\' && v.text[at-1] == '\\' {
		at--
	}
	b := block{view: v}
	if !b.named(at) || b.isTypeArgument(at) || b.isMention(at) {
		return found
	}
	b.json = v.doc.isJSON(v.text, at)
	if kind, _ := b.tag(at); kind != opening {
		return found
	}
	return append(found, span{at, b.end(at), privateName})
}

// isTypeArgument reports whether the tag at at is Local<Private> or the like:
// written so, and nothing closes it. It would take the rest of the text along.
func (b *block) isTypeArgument(at int) bool {
	return strings.HasPrefix(b.text[b.nameAt(at):b.hi], "Private") && at > b.doc.lastClosing(b.text)
}

// isMention reports whether the tag at at stands alone between backticks, as where a text speaks of such tags, and
// nothing closes it. It would take the rest of the text along.
func (b *block) isMention(at int) bool {
	const tag = "<private>"
	return at > b.lo && b.text[at-1] == '`' && b.has(at, tag+"`") && at > b.doc.lastClosing(b.text)
}

// Patterns of a tag in text and in a string of JSON. A bracket in an attribute
// might be a marker's; such a tag is none.
const (
	tagInText = tagHead + `[^<>\[\]]` + tagTail
	tagInJSON = tagHead + `[^<>\[\]"\\]|\\.` + tagTail
	tagHead   = `(?i)(?:<|\\+u003c)(/?)private(?:` + tagSpace + `+[\w:.-]{1,40}\s*=(?:`
	tagTail   = `){0,200}?)?` + tagSpace + `*(/?)(?:>|\\+u003e)`
	tagSpace  = `(?:\s|\\+[nrt])`
)

// block is a private block being measured.
type block struct {
	view
	json bool // it lies in a JSON string
}

type tagKind int

const (
	noTag tagKind = iota
	opening
	closing
	empty // <private/>
)

// tag reads the tag at at and returns its kind and end.
func (b *block) tag(at int) (tagKind, int) {
	switch {
	case !b.named(at):
		return noTag, at
	case b.has(at, "<private>"): // most are written so, and need no expression
		return opening, at + len("<private>")
	case b.has(at, "</private>"):
		return closing, at + len("</private>")
	}
	const longest = 512
	pattern := tagInText
	if b.json {
		pattern = tagInJSON
	}
	m := b.doc.exprs.match(pattern, b.text[at:min(b.hi, at+longest)])
	switch {
	case m == nil:
		return noTag, at
	case m[2] < m[3]:
		return closing, at + m[1]
	case m[4] < m[5]:
		return empty, at + m[1]
	}
	return opening, at + m[1]
}

// nameAt returns where the name of a tag that begins at at begins.
func (b *block) nameAt(at int) int {
	if b.text[at] == '\\' {
		return b.skip(at, `\`) + len("u003c")
	}
	return at + 1
}

// named reports whether a tag that begins at at has the name of the block.
func (b *block) named(at int) bool {
	name := b.nameAt(at)
	return b.has(name, "private") || b.has(name, "/private")
}

// end returns where the block that begins at at ends.
func (b *block) end(at int) int {
	depth := 0
	for i := at; i < b.hi; {
		if b.json && b.text[i] == '"' {
			return i
		}
		if b.text[i] != '<' && b.text[i] != '\\' {
			i++
			continue
		}
		kind, end := b.tag(i)
		switch kind {
		case noTag:
			i = b.behind(i)
			continue
		case opening:
			depth++
		case closing:
			depth--
		}
		if depth == 0 {
			return end
		}
		i = end
	}
	return b.hi
}

// behind returns the place behind the byte at i or, where backslashes begin,
// behind them and what the last of them escapes.
func (b *block) behind(i int) int {
	if b.text[i] != '\\' {
		return i + 1
	}
	end := b.skip(i, `\`)
	if (end-i)%2 == 1 && end < b.hi {
		end++
	}
	return end
}
