package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Redactor removes secrets from texts. It is safe for concurrent use; make it
// with [New] and keep it, for it is costlier to make than to use.
type Redactor struct {
	shapes   *matcher // secrets that tell themselves
	settings *matcher // secrets that their surroundings tell
}

// New returns a Redactor with all [Rules].
func New() *Redactor {
	known := make(map[string]bool)
	for _, name := range Rules() {
		known[name] = true
	}
	return &Redactor{
		shapes:   newMatcher(append(shapeRules(), markerRule(known))),
		settings: newMatcher(settingRules()),
	}
}

// Rules returns the names of all rules, sorted. They are what a marker and the
// counts of a [Report] name.
func Rules() []string {
	var names []string
	for _, r := range slices.Concat(shapeRules(), settingRules()) {
		names = append(names, r.name)
	}
	for _, n := range vendorKeys() {
		names = append(names, n.rule)
	}
	names = append(names, impliedRules...)
	slices.Sort(names)
	return slices.Compact(names)
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
	var doc document
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

// markerRule keeps the markers of known rules that are already in a text, so
// that no rule takes a word of theirs for an anchor.
func markerRule(known map[string]bool) rule {
	return rule{anchors: []string{markerStart}, find: func(v view, at int, found []span) []span {
		rest := v.text[at+len(markerStart) : min(v.hi, at+len(markerStart)+64)]
		name, _, closed := strings.Cut(rest, markerEnd)
		if !closed || !known[name] {
			return found
		}
		return append(found, span{start: at, end: at + len(markerStart) + len(name) + len(markerEnd)})
	}}
}
