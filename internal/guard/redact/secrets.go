package redact

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Secrets remembers what was found in some texts, to take it out of others,
// where nothing gives it away, and to look for it in the bytes of a file that
// must not hold it. Letters match in any case.
//
// A secret is looked for as a whole, and so are both ends of it, for a file may
// break a text in two, and the words in it that a full-text index would hold. A
// secret too short or too plain to be distinguished from other text
// ("20240131", "postgres") is not looked for. At most 16384 secrets and 4 MiB
// of them are remembered. [Secrets.Left] says how many were left out.
//
// Secrets are added, then sealed, then used; only then by several goroutines,
// as long as none calls Allow or Excuse. The zero value is ready.
type Secrets struct {
	needles []needle
	known   map[string]bool
	bytes   int
	plain   int
	dropped int

	sealed int                // needles that are in the index
	index  map[uint64][]int32 // by their keys
	filter []uint64           // a bit for each hash of a key
	shift  int
}

// needle is something to look for.
type needle struct {
	text    string // in lower case
	key     int    // where its key begins
	rule    string
	with    string // what replaces it; "": it is only looked for
	allowed bool   // not any more
}

// Bounds, so that neither many secrets nor strange ones make a search slow.
const (
	maxSecrets     = 1 << 14
	maxSecretBytes = 4 << 20
	maxNeedle      = 2 << 10 // of what is longer, both ends are looked for
	maxPart        = 32      // bytes of an end
	maxWord        = 64
	maxAlike       = 64 // needles with one key
)

// Add remembers a secret that a rule found, as it stood in its text. How JSON
// writes it, and what it reads if it stood in JSON, are looked for as well.
func (s *Secrets) Add(rule, text string) { s.AddAs(rule, text, Marker(rule)) }

// AddAs is Add for what becomes with instead of a marker.
func (s *Secrets) AddAs(rule, text, with string) {
	lower := lowered(text)
	if s.known[lower] {
		return
	}
	if _, ok := keyAt(lower); !ok || !telling(text) {
		s.plain++
		return
	}
	if len(s.known) >= maxSecrets || s.bytes+len(text) > maxSecretBytes {
		s.dropped++
		return
	}
	if s.known == nil {
		s.known = map[string]bool{}
	}
	s.known[lower] = true
	s.bytes += len(text)
	for _, form := range spellings(text) {
		s.addForm(rule, form, with)
	}
}

// Clone returns a copy to add to, to allow and to excuse in, for one of several
// files that are searched for the same secrets. It has left out none yet.
func (s *Secrets) Clone() *Secrets {
	c := *s // the index of what is sealed is never written again
	c.needles, c.known = slices.Clone(s.needles), maps.Clone(s.known)
	c.plain, c.dropped = 0, 0
	return &c
}

// Left returns how many were too plain to be looked for, and how many were too
// many.
func (s *Secrets) Left() (plain, dropped int) { return s.plain, s.dropped }

// Len returns how many are remembered.
func (s *Secrets) Len() int { return len(s.known) }

func (s *Secrets) addForm(rule, text, with string) {
	text = lowered(text)
	if len(text) <= maxNeedle {
		s.push(needle{text: text, rule: rule, with: with})
	}
	if end := min(len(text)/2, maxPart); end >= keyBytes {
		s.addPart(rule, text[:end])
		s.addPart(rule, text[len(text)-end:])
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r >= 0x80 || !alnum.has[r] }) {
		if word != text && len(word) <= maxWord {
			s.addPart(rule, word)
		}
	}
}

func (s *Secrets) addPart(rule, text string) {
	if telling(text) {
		s.push(needle{text: text, rule: rule})
	}
}

func (s *Secrets) push(n needle) {
	var ok bool
	if n.key, ok = keyAt(n.text); ok {
		s.needles = append(s.needles, n)
	}
}

// spellings returns the ways to write a text: as it is, as JSON does, and what it
// reads where it is written as JSON does.
func spellings(text string) []string {
	all := []string{text}
	for _, html := range []bool{true, false} {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if enc.Encode(text) == nil {
			quoted := b.String() // and a line feed
			all = append(all, quoted[1:len(quoted)-2])
		}
	}
	if strings.Contains(text, `\`) {
		var read string
		if json.Unmarshal([]byte(`"`+text+`"`), &read) == nil && telling(read) {
			all = append(all, read)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// telling reports whether a text is told from others by its bytes alone:
// neither words, nor numbers, nor so few hexadecimal digits that an id or a
// digest may hold them by chance.
func telling(text string) bool {
	const fewHex = 12
	if len(text) < keyBytes {
		return false
	}
	var lower, upper, other, digit, hex int
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			digit++
			hex++
		case c >= 'a' && c <= 'f':
			lower++
			hex++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= 'A' && c <= 'Z':
			upper++
		case c != '_' && c != '-' && c != '.' && c != ':':
			other++
		}
	}
	switch letters := lower + upper; {
	case letters == 0:
		return false
	case other == 0 && digit == 0 && (lower == 0 || upper == 0):
		return false
	case other == 0 && hex == lower+digit && upper == 0:
		return hex >= fewHex
	}
	return true
}

// lowered is text with ASCII letters in lower case: its length stays.
func lowered(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}
