package redact

import (
	"slices"
	"strings"
)

// Bounds of a word that goes on behind a break.
const (
	minBroken = 10       // bytes of both parts: shorter secrets are not broken
	maxBefore = 256      // bytes that are read before the first break: the name of a secret
	maxJoined = 64 << 10 // bytes of all parts
)

// brokenByte are the bytes that a break may stand between.
var brokenByte = newClass("!#$%&*+./0-9?@A-Z^_a-z|~-")

// breakLead are the first bytes of a break.
var breakLead = func() (lead [256]bool) {
	for _, b := range []byte("\n\r\"'`\\") {
		lead[b] = true
	}
	return lead
}()

// breakNext are the bytes that may follow the first of a break, but for the end of a line.
var breakNext = func() (next [256]bool) {
	for _, b := range []byte("\n\r\\nr\"'` \t+.&") {
		next[b] = true
	}
	return next
}()

// joined finds secrets that are broken over lines or over the strings of a program.
func (r *Redactor) joined(text string, lo, hi, depth int, found []span) []span {
	for i := lo + 1; i < hi; i++ {
		if !breakLead[text[i]] || !brokenByte.has[text[i-1]] || i+1 < hi && !breakNext[text[i+1]] && text[i] != '\n' {
			continue
		}
		w := broken{text: text, lo: lo, hi: hi}
		if !w.join(i) {
			continue
		}
		found = r.readBroken(&w, depth, found)
		i = w.end - 1
		lo = w.last // what is read before the next break begins here
	}
	return found
}

// readBroken adds what the rules find across the breaks of a word.
func (r *Redactor) readBroken(w *broken, depth int, found []span) []span {
	for _, s := range r.deep(string(w.reading.text), w.breaks, depth+1) {
		i, _ := slices.BinarySearch(w.breaks, s.start+1)
		if i == len(w.breaks) || w.breaks[i] >= s.end {
			continue // on one line: it is found there
		}
		if slices.Contains(surroundingRules, s.rule) && !w.goesOn && (s.rule != "password-assignment" || w.named) {
			continue
		}
		found = append(found, w.reading.place(s))
	}
	return found
}

// surroundingRules judge a value by its name alone, so the first word of any line might be taken
// for a part of it.
var surroundingRules = []string{
	"secret-assignment", "password-assignment", "env-assignment", "session-cookie", "authorization-header", "bearer-token", "command-password",
}

// broken is a word that goes on behind a break, with what stands before it in its line.
type broken struct {
	text    string
	lo, hi  int
	reading reading
	breaks  []int // where the parts begin in the reading, but for the first
	last    int   // where the last part begins in the text
	end     int   // where it ends
	named   bool  // a part is the name of another value
	goesOn  bool  // each part has its line or string to itself, or is made as machines make them
}

// join reads the word whose first part ends at at, where a break begins. It reports whether
// there is another part that may belong to it.
func (w *broken) join(at int) bool {
	next, quoted, ok := w.breakAt(at)
	if !ok {
		return false
	}
	first := at
	for first > w.lo && at-first < minBroken && brokenByte.has[w.text[first-1]] {
		first--
	}
	if !w.mayGoOn(first, at, next) {
		return false
	}
	start := max(lineStart(w.text, at, w.lo), at-maxBefore)
	w.reading.copy(w.text, start, at)
	w.goesOn = true
	for ok && len(w.reading.text) < maxJoined {
		w.last, w.end = next, brokenByte.padded(w.text, next, w.hi)
		w.breaks = append(w.breaks, len(w.reading.text))
		w.reading.copy(w.text, w.last, w.end)
		name := w.isName()
		w.named = w.named || name
		w.goesOn = w.goesOn && (quoted || w.isAlone() || random(w.text[w.last:w.end]) && !name)
		next, quoted, ok = w.breakAt(w.end)
		ok = ok && w.isAlone() && w.mayGoOn(w.last, w.end, next)
	}
	w.reading.copy(w.text, w.end, wordEnd(w.text, w.end, min(w.hi, w.end+maxBefore)))
	return true
}

// mayGoOn reports whether the word at next may be another part of the one from first up to at.
func (w *broken) mayGoOn(first, at, next int) bool {
	end := brokenByte.run(w.text, next, min(w.hi, next+maxBefore))
	part := w.text[next:end]
	if len(part) < 2 || at-first+len(part) < minBroken {
		return false
	}
	t := tallyOf(part)
	return (t.digit > 0 || t.upper >= 4 && t.lower == 0 || t.lower > 0 && t.upper > 1 || len(part) >= minRandom) && t.letters()+t.digit > 1 && wordShare(part) < 0.5
}

// wordEnd returns where the text from at on has a blank or the end of a line.
func wordEnd(text string, at, hi int) int {
	for at < hi && text[at] > ' ' {
		at++
	}
	return at
}

// isAlone reports whether nothing but a quotation mark follows the last part in its line.
func (w *broken) isAlone() bool {
	i := w.end
	for i < w.hi && strings.IndexByte("\"'`,;) \t\r", w.text[i]) >= 0 {
		i++
	}
	return i >= w.hi || w.text[i] == '\n' || w.text[i] == '\\'
}

// isName reports whether the last part is the name of another value.
func (w *broken) isName() bool {
	i := w.end
	if w.text[i-1] == '=' {
		return i < w.hi && alnum.has[w.text[i]]
	}
	for i < w.hi && (w.text[i] == ' ' || w.text[i] == '\t') {
		i++
	}
	return i < w.hi && (w.text[i] == '=' || w.text[i] == ':')
}

// breakAt returns where the word goes on behind the break at at: the end of a line, as it is or
// escaped, with a backslash before it or none, and blanks behind it; or the end of one string of
// a program and the beginning of the next, a plus sign or a dot between them.
func (w *broken) breakAt(at int) (next int, quoted, ok bool) {
	v := view{text: w.text, lo: w.lo, hi: w.hi}
	i := v.quote(at)
	quoted = i > at
	if i = v.newline(i); quoted {
		i = w.operator(v.skip(i, " \t"), v)
		i = w.operator(v.skip(v.newline(i), " \t"), v)
		open := v.quote(i)
		return open, true, open > i && open < w.hi && brokenByte.has[w.text[open]]
	}
	if i == at {
		return at, false, false
	}
	i = v.skip(i, " \t")
	for _, mark := range [...]string{"> ", "# ", "// ", "* ", "| "} { // of a mail, a comment, a list
		if v.has(i, mark) {
			i = v.skip(i+len(mark), " ")
			break
		}
	}
	i = v.skip(v.lineNumber(w.diffMark(at, i)), " \t")
	return i, false, i < w.hi && brokenByte.has[w.text[i]]
}

// diffMark returns the place behind the sign at i with which a patch marks a line, where the line that ends at at has
// the same sign, or i itself.
func (w *broken) diffMark(at, i int) int {
	if i >= w.hi || w.text[i] != '+' && w.text[i] != '-' || w.text[i-1] != '\n' {
		return i
	}
	if start := lineStart(w.text, at, w.lo); w.text[start] != w.text[i] {
		return i
	}
	return i + 1
}

// lineNumber returns the place behind the number at i with which a tool shows a line, or i itself.
func (v view) lineNumber(i int) int {
	const longest = 6
	end := digits.run(v.text, i, min(v.hi, i+longest))
	switch {
	case end == i:
	case v.has(end, "\t"):
		return end + 1
	case v.has(end, arrow):
		return end + len(arrow)
	}
	return i
}

// operator returns the place behind what joins two strings.
func (w *broken) operator(at int, v view) int {
	if end := v.skip(at, "+.&"); end-at <= 2 {
		return v.skip(end, " \t")
	}
	return at
}

// newline returns the place behind the end of a line at at, which may be escaped or follow a
// backslash that joins lines, or at itself.
func (v view) newline(at int) int {
	i := v.skip(at, `\`)
	if i > at && i < v.hi && (v.text[i] == 'n' || v.text[i] == 'r') {
		if i++; v.text[i-1] == 'r' {
			if more := v.skip(i, `\`); more > i && v.has(more, "n") {
				i = more + 1
			}
		}
		return i
	}
	if v.has(i, "\r\n") {
		return i + 2
	}
	if v.has(i, "\n") {
		return i + 1
	}
	return at
}
