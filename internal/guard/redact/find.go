package redact

import (
	"slices"
	"strings"
)

// Found is a secret in a text: the bytes from Start up to End.
type Found struct {
	Rule       string
	Start, End int
}

// Find returns the secrets that [Redactor.String] removes, in order and
// without overlap, for callers that must know what they were.
func (r *Redactor) Find(text string) []Found {
	spans := r.secrets(text)
	if len(spans) == 0 {
		return nil
	}
	found := make([]Found, len(spans))
	for i, s := range spans {
		found[i] = Found{s.rule, s.start, s.end}
	}
	return found
}

// WithoutPrivate returns text without what stands between private tags, which never leaves,
// also where secrets may.
func (r *Redactor) WithoutPrivate(text string) string {
	found := slices.DeleteFunc(r.Find(text), func(f Found) bool { return f.Rule != privateName })
	if len(found) == 0 {
		return text
	}
	return Replace(text, found)
}

// Replace returns text with a marker for each secret of found, which is in
// order and without overlap.
func Replace(text string, found []Found) string {
	spans := make([]span, len(found))
	for i, f := range found {
		spans[i] = span{f.Start, f.End, f.Rule}
	}
	return string(replace(text, spans))
}

// Marker returns what stands where a rule removed something. No rule finds
// anything in it.
func Marker(rule string) string { return markerStart + rule + markerEnd }

// IsMarked reports whether something was removed from text before.
func IsMarked(text string) bool { return strings.Contains(text, markerStart) }
