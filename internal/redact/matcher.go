package redact

import "slices"

// matcher tries rules at the places where a text holds their anchors. It is
// read-only once made.
type matcher struct {
	literals *automaton
	anchors  []anchor // by literal
}

// anchor is a literal and the rules that begin with it, in order of
// precedence.
type anchor struct {
	literal string
	exact   []*rule // where the case is as written
	folded  []*rule // in any case
}

// newMatcher returns a matcher of rules. At a place where several match, the
// first in the list wins.
func newMatcher(rules []rule) *matcher {
	m := &matcher{}
	index := make(map[string]int)
	var literals []string
	for i := range rules {
		r := &rules[i]
		for _, literal := range r.anchors {
			n, ok := index[literal]
			if !ok {
				n = len(literals)
				index[literal] = n
				literals = append(literals, literal)
				m.anchors = append(m.anchors, anchor{literal: literal})
			}
			if r.fold {
				m.anchors[n].folded = append(m.anchors[n].folded, r)
			} else {
				m.anchors[n].exact = append(m.anchors[n].exact, r)
			}
		}
	}
	m.literals = newAutomaton(literals)
	return m
}

// pass appends to found the secrets in v, in order and without overlap.
//
// A secret may lie well behind its anchor. What stands between is passed over
// as if the secret were already gone, for that is how it looks the next time.
func (m *matcher) pass(v view, found []span) []span {
	var ahead []span // found, but not yet passed; the nearest is the last
	m.literals.scan(v.text, v.lo, v.hi, func(end int, literals []int) int {
		for _, n := range literals {
			at := end - len(m.anchors[n].literal)
			for len(ahead) > 0 && nearest(ahead).end <= at {
				v.lo = nearest(ahead).end
				found = append(found, nearest(ahead))
				ahead = ahead[:len(ahead)-1]
			}
			w := v
			if len(ahead) > 0 {
				w.hi = nearest(ahead).start
			}
			if at >= w.lo && end <= w.hi {
				ahead = m.anchors[n].try(w, at, ahead)
			}
		}
		if len(ahead) > 0 && nearest(ahead).start < end {
			return nearest(ahead).end
		}
		return end
	})
	slices.Reverse(ahead)
	return append(found, ahead...)
}

func nearest(ahead []span) span { return ahead[len(ahead)-1] }

// try adds to ahead what the first of the anchor's rules that matches at at
// finds.
func (a *anchor) try(v view, at int, ahead []span) []span {
	before := len(ahead)
	if v.text[at:at+len(a.literal)] == a.literal {
		for _, r := range a.exact {
			if ahead = r.find(v, at, ahead); len(ahead) > before {
				break
			}
		}
	}
	if len(ahead) == before {
		for _, r := range a.folded {
			if ahead = r.find(v, at, ahead); len(ahead) > before {
				break
			}
		}
	}
	slices.Reverse(ahead[before:])
	return ahead
}
