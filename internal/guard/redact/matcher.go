package redact

import (
	"slices"
	"strings"
)

// matcher tries rules at the places where a text holds their anchors. It is
// made in one walk over the anchors, without a table of states: a process that
// lives for a few milliseconds makes one, too. It is read-only once made.
//
// The first three bytes of an anchor are its key. A bit per hash of a key says
// whether an anchor may begin at a place; for most places none does, and that
// bit is all the scan looks at.
type matcher struct {
	fold    uint32          // what a key is or'ed with: caseBits when letters match in any case
	filter  [1 << 10]uint64 // a bit for each hash of a key
	first   [1 << 10]uint16 // by the upper bits of the hash: the first entry, counted from 1
	entries []entry         // lists that first and next hold together
}

// entry is an anchor of a rule.
type entry struct {
	rule   *rule
	key    uint32
	anchor uint16 // which of the rule's
	next   uint16 // the next entry, counted from 1; none if 0
}

func (e *entry) literal() string { return e.rule.anchors[e.anchor] }

const (
	keySize  = 3
	keyBits  = 1<<(8*keySize) - 1
	caseBits = 0x20_20_20 // they part the cases of letters, and a few other bytes that the anchor itself then parts
)

// newMatcher returns a matcher of rules, whose anchors match in any case if
// fold is set. At a place where several match, the one with the longest anchor
// wins, then the first in the list.
func newMatcher(groups [][]rule, fold bool) *matcher {
	m := &matcher{}
	if fold {
		m.fold = caseBits
	}
	size := 0
	for _, rules := range groups {
		for i := range rules {
			size += len(rules[i].anchors)
		}
	}
	m.entries = make([]entry, 0, size)
	for _, rules := range groups {
		for i := range rules {
			for anchor := range rules[i].anchors {
				m.add(entry{rule: &rules[i], anchor: uint16(anchor)})
			}
		}
	}
	return m
}

func (m *matcher) add(e entry) {
	literal := e.literal()
	e.key = uint32(literal[0])<<16 | uint32(literal[1])<<8 | uint32(literal[2]) | m.fold
	h := hash(e.key)
	m.filter[h>>6] |= 1 << (h & 63)
	link := &m.first[h>>6]
	for *link != 0 && len(m.entries[*link-1].literal()) >= len(literal) {
		link = &m.entries[*link-1].next
	}
	e.next, *link = *link, uint16(len(m.entries)+1)
	m.entries = append(m.entries, e)
}

// hash returns 16 bits made of a key.
func hash(key uint32) uint32 {
	const spread = 0x9e3779b1 // 2³² by the golden ratio
	return key * spread >> 16
}

// pass appends to found the secrets in v, in order and without overlap.
//
// A secret may lie well behind its anchor. pass treats the text between as if
// the secret were already gone, because that is how it looks the next time.
func (m *matcher) pass(v view, found []span) []span {
	var ahead []span  // found, but not yet passed; the nearest is the last
	last := uint32(0) // the last bytes read
	for i, text := v.lo, v.text[:v.hi]; i < len(text); i++ {
		last = last<<8 | uint32(text[i])
		key := last&keyBits | m.fold
		h := hash(key)
		if m.filter[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		at := i + 1 - keySize
		for len(ahead) > 0 && nearest(ahead).start <= at {
			v.lo = nearest(ahead).end
			found = append(found, nearest(ahead))
			ahead = ahead[:len(ahead)-1]
		}
		if at < v.lo {
			continue // inside a secret, or a key not yet read whole
		}
		w := v
		if len(ahead) > 0 {
			w.hi = nearest(ahead).start
		}
		ahead = m.try(w, at, key, ahead)
	}
	slices.Reverse(ahead)
	return append(found, ahead...)
}

func nearest(ahead []span) span { return ahead[len(ahead)-1] }

// try adds to ahead what the first rule finds that matches at at, where key
// stands.
func (m *matcher) try(v view, at int, key uint32, ahead []span) []span {
	before := len(ahead)
	for n := m.first[hash(key)>>6]; n != 0 && len(ahead) == before; {
		e := &m.entries[n-1]
		if e.key == key && m.stands(e.literal(), v, at) {
			ahead = e.rule.find(v, at, ahead)
		}
		n = e.next
	}
	slices.Reverse(ahead[before:])
	return ahead
}

// stands reports whether anchor stands at at.
func (m *matcher) stands(anchor string, v view, at int) bool {
	if m.fold != 0 {
		return v.has(at, anchor)
	}
	return strings.HasPrefix(v.text[at:v.hi], anchor)
}
