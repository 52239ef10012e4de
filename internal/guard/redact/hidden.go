package redact

import (
	"cmp"
	"slices"
)

// A rule reads bytes, and a secret may be written so that its bytes are others: spelled with
// escapes, full-width letters or invisible characters between its own (fold.go), broken over
// lines or strings (joined.go), or in base64 or hexadecimal digits (encoded.go). Each of these
// has a reading: the text as it was before, with the place of every byte of it. The rules look
// at the reading, and what they find there goes from where it stands.
//
//	text ── rules ────────────────────────────> spans ──┐
//	  └──── readings ── rules ── spans ── places ───────┴── joined
//
// A reading is made of the few lines that need one, so a usual text pays for looking whether
// there are any. Readings may have readings, up to maxDepth.
const maxDepth = 2

// reading is a part of a text as it reads.
type reading struct {
	text []byte
	from []source // of each byte
}

// source is where a byte of a reading stands in the text.
type source struct{ start, end int }

func (r *reading) add(b byte, start, end int) {
	r.text = append(r.text, b)
	r.from = append(r.from, source{start, end})
}

// copy adds bytes of the text as they are.
func (r *reading) copy(text string, start, end int) {
	for i := start; i < end; i++ {
		r.add(text[i], i, i+1)
	}
}

// place returns where a span of the reading stands in the text.
func (r *reading) place(s span) span {
	return span{r.from[s.start].start, r.from[s.end-1].end, s.rule}
}

// hidden returns what readings of the text between walls hold, in no order.
func (r *Redactor) hidden(text string, doc *document, walls []span, depth int) (found []span) {
	if depth >= maxDepth {
		return nil
	}
	gaps(0, len(text), walls, func(lo, hi int, _ []span) []span {
		found = r.folded(text, lo, hi, depth, found)
		found = r.joined(text, lo, hi, depth, found)
		found = r.encoded(text, doc, lo, hi, depth, found)
		found = r.dumped(text, lo, hi, depth, found)
		return nil
	})
	return slices.DeleteFunc(found, func(s span) bool { return !doc.inOneString(text, s) })
}

// unite returns the spans of two lists in order, those that overlap as one. A marker of
// earlier stays as it is.
func unite(spans, more []span) []span {
	if len(more) == 0 {
		return spans
	}
	all := slices.Concat(spans, more)
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	out := all[:0]
	for _, s := range all {
		last := len(out) - 1
		switch {
		case last < 0 || s.start >= out[last].end:
			out = append(out, s)
		case s.rule == "": // it stays, and what overlaps it goes
			out[last] = s
		case out[last].rule != "":
			if s.end-s.start > out[last].end-out[last].start {
				out[last].rule = s.rule
			}
			out[last].end = max(out[last].end, s.end)
		}
	}
	return out
}

// inOneString reports whether a span may go: in JSON what stands in one string may.
func (d *document) inOneString(text string, s span) bool {
	if !d.isJSON(text, s.start) {
		return true
	}
	if !d.inString(text, s.start) {
		return false
	}
	i, onMark := slices.BinarySearch(d.strings, s.start)
	return !onMark && s.end < d.strings[i] && escapeEnd(text, s.start) == 0
}
