package nexus

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// The bytes that may be looked at in vain: so many, and a number of times those
// that were passed. A hostile file could begin an entry everywhere and end none.
const (
	maxNexusWork  = 64 << 20
	nexusWorkRate = 8
)

// nexusContext is in every entry.
var nexusContext = []byte(`"context"`)

// seek passes over everything up to the next entry, whole or torn, or up to
// the end. It reports how many bytes those are and whether there is one.
func (s *scanner) seek() (skipped int, found bool) {
	for s.work <= maxNexusWork+nexusWorkRate*s.at {
		pass := bytes.IndexByte(s.rest(), '{')
		if pass < 0 {
			pass = len(s.rest())
			s.at += pass
			return skipped + pass, false
		}
		if pass == 0 {
			if pass = s.try(); pass == 0 {
				return skipped, true
			}
		}
		s.at += pass
		skipped += pass
	}
	return skipped, false
}

// try returns 0 where an entry begins here, else how many bytes there are in
// which none does. Text cannot be taken for one: it has no quote behind a
// bracket.
func (s *scanner) try() (pass int) {
	if !s.follows(1, `"`) {
		return 1
	}
	raw, verdict := s.value(0, maxEntry)
	if verdict == nexusWhole && json.Valid(raw) {
		switch {
		case isEntry(raw):
			return 0
		case !bytes.Contains(raw, nexusContext):
			return len(raw)
		}
		s.work += len(raw)
		return 1
	}
	s.work += len(raw)
	if part, ok := salvage(raw); ok && isEntry(part) {
		return 0
	}
	return 1
}

// holdsEntry reports whether there is an entry somewhere in a JSON value.
func holdsEntry(raw []byte) bool {
	if !bytes.Contains(raw, nexusContext) {
		return false
	}
	s := scanner{b: raw}
	_, found := s.seek()
	return found
}

// salvage returns what there is of an entry before it is torn or damaged, as
// valid JSON.
func salvage(raw []byte) ([]byte, bool) {
	if part, ok := closeTorn(raw); ok && json.Valid(part) {
		return part, true
	}
	var bad *json.SyntaxError
	if !errors.As(json.Unmarshal(raw, new(json.RawMessage)), &bad) || bad.Offset < 1 {
		return nil, false
	}
	part, ok := closeTorn(raw[:bad.Offset-1])
	return part, ok && json.Valid(part)
}

// closeTorn closes what is left of an entry behind the last thing in it that
// is whole: a field of the entry or of its context, or an item of a list.
func closeTorn(raw []byte) ([]byte, bool) {
	const deepest = 3 // entry, context, list
	var open, safe []byte
	end, quoted, escaped := 0, false, false
	for i, c := range raw {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			open = append(open, c+2) // the closing bracket
		case c == '}' || c == ']':
			open = open[:max(0, len(open)-1)]
		case c != ',':
			continue
		}
		if quoted || strings.IndexByte("{}[],", c) < 0 || len(open) > deepest {
			continue
		}
		end, safe = i, append(safe[:0], open...)
		if c != ',' {
			end++
		}
	}
	if len(safe) == 0 {
		return nil, false
	}
	whole := bytes.Clone(raw[:end])
	for i := len(safe) - 1; i >= 0; i-- {
		whole = append(whole, safe[i])
	}
	return whole, true
}
