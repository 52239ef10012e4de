package redact

import (
	"cmp"
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
}

// New returns a Redactor with all [Rules].
func New() *Redactor {
	return &Redactor{
		shapes:   newMatcher(slices.Concat(shapeRules, [][]rule{markerRules()}), false),
		settings: newMatcher(settingRules, true),
	}
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
	walls := r.shapes.pass(view{text, 0, len(text), &doc}, nil)
	spans := slices.Clone(walls)
	lo := 0
	for _, w := range append(walls, span{start: len(text)}) {
		if lo < w.start {
			spans = r.settings.pass(view{text, lo, w.start, &doc}, spans)
		}
		lo = w.end
	}
	spans = slices.DeleteFunc(spans, func(s span) bool { return s.rule == "" })
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
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
func markerRules() []rule {
	names := sync.OnceValue(Rules)
	return []rule{{anchors: []string{markerStart}, finder: func(v view, at int, found []span) []span {
		const longest = 64
		start := at + len(markerStart)
		name, _, closed := strings.Cut(v.text[start:min(v.hi, start+longest)], markerEnd)
		if !closed {
			return found
		}
		if _, known := slices.BinarySearch(names(), name); !known {
			return found
		}
		return append(found, span{start: at, end: start + len(name) + len(markerEnd)})
	}}}
}
