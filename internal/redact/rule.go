package redact

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// span is a piece of a text and the rule that removes it. A span without a
// rule stays: it is a marker that was in the text before.
type span struct {
	start, end int
	rule       string
}

// rule recognises one kind of secret.
type rule struct {
	name    string
	anchors []string // one of them is part of, or beside, every secret of the kind
	fold    bool     // the anchors match in any case
	find    finder
}

// finder appends to found the secrets beside the anchor at at. Spans are in
// order, within v, not empty, and begin no earlier than v.lo.
type finder func(v view, at int, found []span) []span

// shape is a rule whose secret has a form RE2 can tell. The zero shape looks
// only forward from the anchor.
type shape struct {
	anchors []string
	pattern string                 // the head; its group, if any, is the secret
	lead    *class                 // what the head has before the anchor, if anything
	back    int                    // how much of it at most
	reach   int                    // how far behind the anchor the head may end; 256 if zero
	tail    *class                 // what the secret goes on with behind the head
	edge    edge                   // what may stand before the head
	body    int                    // accept sees so many last bytes of the secret's head; 0: all
	accept  func(body string) bool // nil: varied
}

// defaultReach is longer than the head of most shapes.
const defaultReach = 256

// prefixed is the rule for keys of a literal prefix and at least n bytes of a
// class.
func prefixed(name string, body *class, n int, prefixes ...string) rule {
	return prefixedShape(body, n, prefixes).named(name)
}

// bare is prefixed for prefixes without punctuation, which also occur inside
// base64 text.
func bare(name string, body *class, n int, prefixes ...string) rule {
	s := prefixedShape(body, n, prefixes)
	s.edge = base64Edge
	return s.named(name)
}

func prefixedShape(body *class, n int, prefixes []string) shape {
	quoted := make([]string, len(prefixes))
	longest := 0
	for i, p := range prefixes {
		quoted[i] = regexp.QuoteMeta(p)
		longest = max(longest, len(p))
	}
	return shape{
		anchors: prefixes,
		pattern: `(?:` + strings.Join(quoted, "|") + `)` + exactly(body, n),
		reach:   longest + n,
		tail:    body,
		body:    n,
	}
}

// named makes the shape a rule. Its expression is compiled when a text first
// holds an anchor.
func (s shape) named(name string) rule {
	if s.reach == 0 {
		s.reach = defaultReach
	}
	if s.accept == nil {
		s.accept = varied
	}
	expr := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:` + s.pattern + `)`) })
	return rule{name: name, anchors: s.anchors, find: func(v view, at int, found []span) []span {
		start, end, ok := s.match(expr, v, at)
		if !ok {
			return found
		}
		return append(found, span{start, end, name})
	}}
}

// match finds the secret beside the anchor at at.
func (s *shape) match(expr func() *regexp.Regexp, v view, at int) (start, end int, ok bool) {
	head := at
	for s.lead != nil && head > v.lo && at-head < s.back && s.lead.has[v.text[head-1]] {
		head--
	}
	if !v.begins(head, s.edge) {
		return 0, 0, false
	}
	m := expr().FindStringSubmatchIndex(v.text[head:min(v.hi, at+s.reach)])
	if m == nil || head+m[1] <= at {
		return 0, 0, false
	}
	last := len(m) - 2 // the one group, or the whole
	start, end = head+m[last], head+m[last+1]
	body := v.text[start:end]
	if s.body > 0 {
		body = body[len(body)-s.body:]
	}
	if !s.accept(body) {
		return 0, 0, false
	}
	if s.tail != nil {
		end = s.tail.run(v.text, end, v.hi)
	}
	return start, end, true
}

// exactly writes n bytes of a class as RE2.
func exactly(c *class, n int) string {
	return `[` + c.expr + `]{` + strconv.Itoa(n) + `}`
}
