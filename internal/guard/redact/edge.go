package redact

import "strings"

// view is the part of a text a rule may look at, text[lo:hi]. The text beyond
// has been removed or is a marker.
type view struct {
	text   string
	lo, hi int
	doc    *document
}

// edge says what may stand before a key.
type edge int

const (
	wordEdge   edge = iota // no letter or digit
	base64Edge             // neither those nor + - _ which base64 text is made of; a slash may be a path's
	noEdge                 // anything
)

// begins reports whether a key may begin at at. A key never begins inside a
// backslash escape; just behind one, as in "\nghp_", it may, as it may behind
// the code of a colour or the escape of a URL.
func (v view) begins(at int, e edge) bool {
	if at == v.lo || v.doc.isEdge(at) {
		return true
	}
	inside, behind := v.escape(at)
	if inside {
		return false
	}
	if behind || e == noEdge || v.behindCode(at) || v.behindPercent(at) {
		return true
	}
	before := v.text[at-1]
	if alnum.has[before] {
		return false
	}
	return e != base64Edge || before != '+' && before != '-' && before != '_'
}

// escape reports whether at lies inside a backslash escape, or just behind one
// that represents a control character or a code point. JSON inside JSON doubles
// its backslashes, so an even run of them may be an escape to the reader
// inside: a key may begin behind it, too.
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

// behindCode reports whether the control sequence for a colour ends at at, its
// first byte as it is or as programs write it.
func (v view) behindCode(at int) bool {
	const longest = 16
	if at <= v.lo || v.text[at-1] != 'm' {
		return false
	}
	i := at - 1
	for i > v.lo && at-i < longest && (digits.has[v.text[i-1]] || v.text[i-1] == ';') {
		i--
	}
	before := v.text[v.lo:i]
	for _, start := range [...]string{"\x1b[", `\u001b[`, `\u001B[`, `\x1b[`, `\033[`, `\e[`} {
		if strings.HasSuffix(before, start) {
			return true
		}
	}
	return false
}

// behindPercent reports whether an escape such as %3D ends at at.
func (v view) behindPercent(at int) bool {
	return at-3 >= v.lo && v.text[at-3] == '%' && hexAny.has[v.text[at-2]] && hexAny.has[v.text[at-1]]
}

// wordStart returns where the word of a class that ends at at begins, no more
// than longest bytes before. The letter of an escape such as \n and the code of
// a colour belong to no word.
func (v view) wordStart(at int, c *class, longest int) int {
	start := at
	for start > v.lo && at-start < longest && c.has[v.text[start-1]] && !v.behindCode(start) {
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
// backslashes or HTML may escape, or at itself.
func (v view) quote(at int) int {
	i := at
	for i < v.hi && v.text[i] == '\\' {
		i++
	}
	if i < v.hi && (v.text[i] == '"' || v.text[i] == '\'' || v.text[i] == '`') {
		return i + 1
	}
	if v.has(at, "&quot;") {
		return at + len("&quot;")
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

// unbroken reports whether n bytes from at on hold no white space and no
// quotation mark, as the head of a key does.
func (v view) unbroken(at, n int) bool {
	if at+n > v.hi {
		return false
	}
	for _, b := range []byte(v.text[at : at+n]) {
		if b <= ' ' || b == '"' {
			return false
		}
	}
	return true
}
