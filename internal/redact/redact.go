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
	shapes   *matcher // secrets that tell themselves
	settings *matcher // secrets that their surroundings tell
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
	return r
}

// String returns s with every secret replaced by a marker, and what was
// replaced. It returns s itself when there is no secret.
func (r *Redactor) String(s string) (string, Report) {
	spans := r.secrets(s)
	if len(spans) == 0 {
		return s, Report{}
	}
	return string(replace(s, spans)), reportOf(spans)
}

// Bytes is [Redactor.String] for bytes. It neither changes nor keeps b, and
// returns b itself when there is no secret.
func (r *Redactor) Bytes(b []byte) ([]byte, Report) {
	s := string(b)
	spans := r.secrets(s)
	if len(spans) == 0 {
		return b, Report{}
	}
	return replace(s, spans), reportOf(spans)
}

// secrets returns the spans to replace, in order.
func (r *Redactor) secrets(text string) []span {
	doc := document{exprs: &r.exprs}
	spans := r.round(text, &doc, nil, r.except)
	if len(r.own)+len(r.except) > 0 {
		spans = r.settle(text, &doc, spans)
	}
	return slices.DeleteFunc(spans, func(s span) bool { return s.rule == "" })
}

// round adds to walls what the rules find between them: shapes first, then own
// patterns, then what only its surroundings tell.
func (r *Redactor) round(text string, doc *document, walls []span, except []*regexp.Regexp) []span {
	for _, stage := range []finding{
		func(lo, hi int, found []span) []span { return r.shapes.pass(view{text, lo, hi, doc}, found) },
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
