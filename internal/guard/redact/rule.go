package redact

import (
	"cmp"
	"strings"
)

// span is a piece of a text and the rule that removes it. A span without a
// rule stays: it is a marker that was in the text before.
type span struct {
	start, end int
	rule       string
}

// rule recognises one kind of secret. Most do by the form of the secret's
// head: an anchor and so many bytes, or an RE2 pattern where that does not say
// it all. The tables of rules are static data, laid out by the compiler: they
// cost a process nothing until it looks at them.
type rule struct {
	name    string
	anchors []string               // one of them is part of, or beside, every secret of the kind; three bytes or more
	chars   *class                 // a head without a pattern is an anchor and body bytes of these
	pattern string                 // the head; its group, if any, is the secret
	least   int                    // no head of the pattern is shorter
	lead    *class                 // what the head has before the anchor, if anything
	back    int                    // how much of it at most
	reach   int                    // how far behind the anchor the head may end; 256 if zero
	edge    edge                   // what may stand before the head
	body    int                    // accept sees so many last bytes of the secret's head; 0: all
	accept  func(body string) bool // nil: varied
	tail    *class                 // what the secret goes on with behind the head; nil: chars
	finder  finder                 // finds it in another way, for secrets that have no head of their own
}

// finder appends to found the secrets beside the anchor at at. Spans are in
// order, within v, not empty, and begin no earlier than v.lo.
type finder func(v view, at int, found []span) []span

// defaultReach is longer than the head of most secrets.
const defaultReach = 256

// find appends to found the secrets beside the anchor at at, as a finder does.
func (r *rule) find(v view, at int, found []span) []span {
	if r.finder != nil {
		return r.finder(v, at, found)
	}
	start, end, ok := r.head(v, at)
	if !ok || !r.accepts(v.text[start:end]) {
		return found
	}
	switch {
	case r.tail != nil:
		end = r.tail.run(v.text, end, v.hi)
	case r.chars != nil:
		end = r.chars.run(v.text, end, v.hi)
	}
	return append(found, span{start, end, r.name})
}

// accepts reports whether a head of the right form may be a secret's.
func (r *rule) accepts(head string) bool {
	if r.body > 0 {
		head = head[len(head)-r.body:]
	}
	if r.accept == nil {
		return varied(head)
	}
	return r.accept(head)
}

// head returns where the head of the secret beside the anchor at at begins and
// ends.
func (r *rule) head(v view, at int) (start, end int, ok bool) {
	head := at
	for r.lead != nil && head > v.lo && at-head < r.back && r.lead.has[v.text[head-1]] {
		head--
	}
	if !v.begins(head, r.edge) {
		return 0, 0, false
	}
	if r.pattern == "" {
		end, ok = r.plainEnd(v, at)
		return at, end, ok
	}
	if !v.unbroken(head, r.least) {
		return 0, 0, false
	}
	reach := cmp.Or(r.reach, defaultReach)
	m := v.doc.exprs.match(r.pattern, v.text[head:min(v.hi, at+reach)])
	if m == nil || head+m[1] <= at {
		return 0, 0, false
	}
	last := len(m) - 2 // the one group, or the whole
	return head + m[last], head + m[last+1], true
}

// plainEnd returns where a head without a pattern ends.
func (r *rule) plainEnd(v view, at int) (end int, ok bool) {
	for _, anchor := range r.anchors {
		if !strings.HasPrefix(v.text[at:v.hi], anchor) {
			continue
		}
		start := at + len(anchor)
		if end = start + r.body; end <= v.hi && r.chars.run(v.text, start, end) == end {
			return end, true
		}
	}
	return 0, false
}
