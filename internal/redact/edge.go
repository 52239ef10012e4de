package redact

import "strings"

// view is the part of a text a rule may look at, text[lo:hi]. What lies
// beyond has been removed or is a marker.
type view struct {
	text   string
	lo, hi int
	doc    *document
}

// edge says what may stand before a key.
type edge int

const (
	wordEdge   edge = iota // no letter, digit or underscore
	base64Edge             // neither those nor + / - which base64 text is made of
	noEdge                 // anything
)

// begins reports whether a key may begin at at. A key never begins inside a
// backslash escape; just behind one, as in "\nghp_", it may.
func (v view) begins(at int, e edge) bool {
	if at == v.lo {
		return true
	}
	inside, behind := v.escape(at)
	if inside {
		return false
	}
	if behind || e == noEdge {
		return true
	}
	before := v.text[at-1]
	if wordByte.has[before] {
		return false
	}
	return e != base64Edge || before != '+' && before != '/' && before != '-'
}

// escape reports whether at lies inside a backslash escape, or just behind one
// that stands for a control character or a code point. JSON inside JSON
// doubles its backslashes, so an even run of them may be an escape to the
// reader inside: a key may begin behind it, too.
func (v view) escape(at int) (inside, behind bool) {
	const longest = len(`\u0000`)
	for back := 1; back <= longest && at-back >= v.lo; back++ {
		slash := at - back
		if v.text[slash] != '\\' {
			continue
		}
		size := v.escapeSize(slash)
		inside = back < size && v.escapes(slash)
		behind = back == size && (size > 2 || strings.IndexByte("bfnrt", v.text[slash+1]) >= 0)
		return inside, behind
	}
	return false, false
}

// escapes reports whether the backslash at slash begins an escape: whether it
// ends an odd run of them.
func (v view) escapes(slash int) bool {
	run := 0
	for slash-run >= v.lo && v.text[slash-run] == '\\' {
		run++
	}
	return run%2 == 1
}

// escapeSize returns the length of the escape that begins at slash.
func (v view) escapeSize(slash int) int {
	if slash+6 > v.hi || v.text[slash+1] != 'u' {
		return 2
	}
	if hexAny.run(v.text, slash+2, slash+6) < slash+6 {
		return 2
	}
	return 6
}

// wordStart returns where the word of a class that ends at at begins, no more
// than longest bytes before. The letter of an escape such as \n belongs to no
// word.
func (v view) wordStart(at int, c *class, longest int) int {
	start := at
	for start > v.lo && at-start < longest && c.has[v.text[start-1]] {
		start--
	}
	if start > v.lo && start < at && v.text[start-1] == '\\' && strings.IndexByte("bfnrt", v.text[start]) >= 0 {
		start++
	}
	return start
}

// skip returns the first place from at on whose byte is not one of set.
func (v view) skip(at int, set string) int {
	for at < v.hi {
		i := 0
		for i < len(set) && set[i] != v.text[at] {
			i++
		}
		if i == len(set) {
			return at
		}
		at++
	}
	return at
}

// quote returns the place behind a quotation mark at at, which any number of
// backslashes may escape, or at itself.
func (v view) quote(at int) int {
	i := at
	for i < v.hi && v.text[i] == '\\' {
		i++
	}
	if i < v.hi && (v.text[i] == '"' || v.text[i] == '\'' || v.text[i] == '`') {
		return i + 1
	}
	return at
}

// has reports whether text stands at at, ASCII letters folded.
func (v view) has(at int, text string) bool {
	if at < v.lo || at+len(text) > v.hi {
		return false
	}
	for i := range len(text) {
		if lower(v.text[at+i]) != lower(text[i]) {
			return false
		}
	}
	return true
}
