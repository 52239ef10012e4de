package redact

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Redactor removes secrets from texts. It is safe for concurrent use; make it
// with [New] and keep it: the expressions it has compiled are in it.
type Redactor struct {
	shapes   *matcher        // secrets that tell themselves
	inner    func() *matcher // shapes for readings of a text: without private blocks, whose end is in the text
	settings *matcher        // secrets that their surroundings tell
	exprs    exprs

	own    []own            // patterns of one's own
	except []*regexp.Regexp // of what is no secret
	names  func() []string  // of all rules, sorted
}

// New returns a Redactor with all [Rules].
func New() *Redactor {
	r := &Redactor{settings: newMatcher(settingRules, true)}
	r.names = sync.OnceValue(r.Rules)
	r.shapes = newMatcher(slices.Concat(shapeRules, [][]rule{r.markerRules()}), false)
	r.inner = sync.OnceValue(func() *matcher {
		return newMatcher(slices.Concat(shapeRules[1:], [][]rule{r.markerRules()}), false)
	})
	return r
}

// String returns s with every secret replaced by a marker, and what was
// replaced. It returns s itself when there is no secret.
func (r *Redactor) String(s string) (string, Report) {
	var report Report
	out := r.text(s, nil, &report)
	return out, report
}

// secrets returns the spans to replace, in order.
func (r *Redactor) secrets(text string) []span { return r.deep(text, nil, 0) }

// deep is secrets for a text, or for a reading of one, which was broken at edges.
func (r *Redactor) deep(text string, edges []int, depth int) []span {
	doc := document{exprs: &r.exprs, edges: edges}
	spans := r.round(text, &doc, nil, r.except, depth)
	if depth == 0 && !r.isSettled(text, &doc, spans) {
		spans = r.settle(text, &doc, spans)
	}
	return slices.DeleteFunc(spans, func(s span) bool { return s.rule == "" })
}

// isSettled reports whether spans are all that is found, also when they are gone. The rules alone
// find the same then; own patterns, exceptions and readings depend on what stands beside them.
func (r *Redactor) isSettled(text string, doc *document, spans []span) bool {
	switch {
	case doc.hidden, len(r.own)+len(r.except) > 0:
		return false
	case len(spans) == 0:
		return true
	}
	return len(r.hidden(text, doc, spans, 0)) == 0
}

// round adds to walls what the rules find between them, in the text and in its readings.
func (r *Redactor) round(text string, doc *document, walls []span, except []*regexp.Regexp, depth int) []span {
	hidden := r.hidden(text, doc, walls, depth)
	doc.hidden = doc.hidden || len(hidden) > 0
	return unite(r.plain(text, doc, walls, except, depth), hidden)
}

// plain adds to walls what the rules find between them: shapes first, then own
// patterns, then secrets that only their surroundings give away.
func (r *Redactor) plain(text string, doc *document, walls []span, except []*regexp.Regexp, depth int) []span {
	shapes := r.shapes
	if depth > 0 {
		shapes = r.inner()
	}
	for _, stage := range []finding{
		func(lo, hi int, found []span) []span { return shapes.pass(view{text, lo, hi, doc}, found) },
		func(lo, hi int, found []span) []span { return r.ownPass(text, doc, except, lo, hi, found) },
		func(lo, hi int, found []span) []span { return r.settings.pass(view{text, lo, hi, doc}, found) },
	} {
		walls = judged(text, between(text, walls, stage), except)
	}
	return walls
}

// finding appends to found what it finds from lo up to hi, in order.
type finding func(lo, hi int, found []span) []span

// between returns walls, which are in order, and what find adds in the gaps
// between them, in order.
func between(text string, walls []span, find finding) []span { return gaps(0, len(text), walls, find) }

// gaps is between for a part of a text.
func gaps(lo, hi int, walls []span, find finding) []span {
	var spans []span
	for _, w := range walls {
		if lo < w.start {
			spans = find(lo, w.start, spans)
		}
		spans = append(spans, w)
		lo = w.end
	}
	if lo < hi {
		spans = find(lo, hi, spans)
	}
	return spans
}

const (
	markerStart = "[REDACTED:"
	markerEnd   = "]"
)

// replace returns text with a marker for each span.
func replace(text string, spans []span) []byte {
	size := len(text)
	for _, s := range spans {
		size += len(markerStart) + len(s.rule) + len(markerEnd) - (s.end - s.start)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, s := range spans {
		out = append(out, text[at:s.start]...)
		out = append(out, markerStart...)
		out = append(out, s.rule...)
		out = append(out, markerEnd...)
		at = s.end
	}
	return append(out, text[at:]...)
}

// markerRules keeps the markers of known rules that are already in a text, so
// that no rule takes a word of theirs for an anchor.
func (r *Redactor) markerRules() []rule {
	return []rule{{anchors: []string{markerStart}, finder: func(v view, at int, found []span) []span {
		const longest = 64
		start := at + len(markerStart)
		name, _, closed := strings.Cut(v.text[start:min(v.hi, start+longest)], markerEnd)
		if !closed {
			return found
		}
		if _, known := slices.BinarySearch(r.names(), name); !known {
			return found
		}
		return append(found, span{start: at, end: start + len(name) + len(markerEnd)})
	}}}
}
