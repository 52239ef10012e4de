package redact

import (
	"regexp"
	"sync"
)

// privateRule removes what an author marked as private: everything from
// <private> to the </private> that closes it. Blocks may be nested, tags may
// have attributes, be of any case, and be written with \u003c and \u003e as
// encoding/json does. A block that nothing closes goes on to the end of the
// text; inside JSON, where text lives in strings, to the end of its string.
func privateRule() rule {
	// A bracket in an attribute might be a marker's; such a tag is none.
	inText := tagExpr(`[^<>\[\]]`)
	inJSON := tagExpr(`[^<>\[\]"\\]|\\.`)
	return rule{
		name:    "private",
		anchors: []string{"<private", `\u003cprivate`},
		fold:    true,
		find: func(v view, at int, found []span) []span {
			for at > v.lo && v.text[at] == '\\' && v.text[at-1] == '\\' {
				at--
			}
			b := block{view: v, json: v.doc.isJSON(v.text, at), expr: inText()}
			if b.json {
				b.expr = inJSON()
			}
			if kind, _ := b.tag(at); kind != opening {
				return found
			}
			return append(found, span{at, b.end(at), "private"})
		},
	}
}

// tagExpr compiles, when first asked, the expression for a tag whose
// attributes are made of what attribute matches.
func tagExpr(attribute string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		const space = `(?:\s|\\+[nrt])`
		attributes := `(?:` + space + `+[\w:.-]{1,40}\s*=(?:` + attribute + `){0,200}?)?`
		return regexp.MustCompile(`(?i)^(?:<|\\+u003c)(/?)private` + attributes + space + `*(/?)(?:>|\\+u003e)`)
	})
}

// block is a private block being measured.
type block struct {
	view
	json bool // it lies in a JSON string
	expr *regexp.Regexp
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
	name := at + 1
	if b.text[at] == '\\' {
		name = b.skip(at, `\`) + len("u003c")
	}
	if !b.has(name, "private") && !b.has(name, "/private") {
		return noTag, at
	}
	const longest = 512
	m := b.expr.FindStringSubmatchIndex(b.text[at:min(b.hi, at+longest)])
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
