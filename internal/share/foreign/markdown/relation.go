package markdown

import (
	"strings"
	"unicode"
)

// linksTo is the type of a relation that has no other.
const linksTo = "links_to"

// relation is a link from a document to another.
type relation struct {
	Type    string `json:"type"`
	Target  string `json:"target"`
	Context string `json:"context,omitempty"`
	line    int
}

// relations returns the links of a document, in order, each once.
func (d document) relations() (out []relation) {
	seen := map[relation]bool{}
	for _, b := range d.blocks {
		for _, r := range d.relationsOf(b) {
			if !seen[r] {
				seen[r] = true
				r.line = b.line
				out = append(out, r)
			}
		}
	}
	return out
}

func (d document) relationsOf(b block) (out []relation) {
	clean := withoutCode(b.text)
	for _, target := range d.fileLinks(clean) {
		out = append(out, relation{Type: linksTo, Target: target})
	}
	if !strings.Contains(clean, "[[") {
		return out
	}
	if forced := directive().FindStringIndex(clean); forced != nil {
		clean = clean[:forced[0]]
	} else if r, ok := explicit(clean, b.text); ok && b.item {
		return append(out, r)
	}
	for _, target := range wikiLinks(clean, b.text) {
		out = append(out, relation{Type: linksTo, Target: target})
	}
	return out
}

// explicit reads an item that is a relation and nothing else: type [[Target]] (context).
func explicit(text, source string) (relation, bool) {
	from, to := nextWikiLink(text, 0)
	if from < 0 {
		return relation{}, false
	}
	r := relation{Type: relationType(source[:from]), Target: linkTarget(source[from+2 : to])}
	if r.Type == "" || r.Target == "" {
		return r, false
	}
	after := strings.TrimSpace(source[to+2:])
	if after != "" {
		if !inParentheses(after) {
			return r, false
		}
		r.Context = strings.TrimSpace(after[1 : len(after)-1])
	}
	return r, true
}

// relationType returns the type before a link: one word, or several in quotes; "" for anything else.
func relationType(before string) string {
	before = strings.TrimSpace(before)
	if before == "" {
		return ""
	}
	if q := before[0]; len(before) > 1 && (q == '"' || q == '\'') && before[len(before)-1] == q {
		return strings.TrimSpace(before[1 : len(before)-1])
	}
	if strings.ContainsFunc(before, unicode.IsSpace) {
		return ""
	}
	return before
}

// inParentheses reports whether a text is one group in parentheses and nothing more.
func inParentheses(s string) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			return i == len(s)-1 && s[0] == '('
		}
	}
	return false
}
