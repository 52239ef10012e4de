package redact

import "strings"

// nameByte and valueByte tell names from values. Values hold nothing that
// parts a name from a value: no two values overlap, so each byte is judged
// once.
var (
	nameByte  = newClass("0-9A-Za-z_.-")
	valueByte = newClass("!#$%*+./0-9?@A-Z^_a-z|~-")
)

// maxName is longer than names are.
const maxName = 80

// assignment is a name and the value it gets.
type assignment struct {
	name, tail string // the name, and its end from the part that calls it secret
	nameEnd    int
	start, end int // the value
	quoted     bool
	setting    bool // NAME=value as in an environment file
	paired     bool // name and value are two fields
	said       bool // the value follows without a separator, as in a sentence
}

// forms are the ways of giving a value to a name, in the order in which they
// are tried. Which of them a text has does not change when the value has
// become a marker, so that no other is tried then.
var forms = [...]func(v view, start, end int) (int, bool){
	view.pairedValue, view.valueBefore, view.value, view.argument, view.saidFor, view.said,
}

// assignment reads the assignment to the name around at. It is not ok when
// there is none, or its value is too short for a secret.
func (v view) assignment(at int) (a assignment, ok bool) {
	start := v.wordStart(at, &nameByte, maxName)
	end := nameByte.run(v.text, at, min(v.hi, at+maxName))
	if v.has(end, " key") {
		end += len(" key") // as people write it
	}
	a.name, a.tail, a.nameEnd = v.text[start:end], v.text[at:end], end
	for i, find := range forms {
		if a.start, ok = find(v, start, end); ok {
			a.paired, a.said = i < 2, i == len(forms)-1
			break
		}
	}
	if !ok {
		return a, false
	}
	a.quoted = a.start > v.lo && strings.IndexByte("\"'`", v.text[a.start-1]) >= 0
	if v.has(a.start, "base64:") {
		a.start += len("base64:") // as Laravel writes its key
	}
	a.end = valueByte.padded(v.text, a.start, v.hi)
	a.setting = v.isSetting(start, end)
	return a, a.end-a.start >= minPlain
}

// value returns where the value of the name in start to end begins. A name in
// quotation marks has a value in quotation marks: anything else would be a
// number of JSON, which a marker cannot replace.
func (v view) value(_, end int) (start int, ok bool) {
	at := v.quote(end)
	inQuotes := at > end
	at = v.skip(v.skip(at, "]"), " \t")
	at = v.typeName(at)
	behind := v.separator(at)
	switch {
	case behind > at:
	case v.has(at, "("), inQuotes && v.has(at, ","):
		behind, inQuotes = at+1, true // an argument
	default:
		return 0, false
	}
	at = v.skip(behind, " \t")
	if v.text[behind-1] == ':' {
		at = v.typeName(at) // name: type = value
		at = v.skip(v.skip(at, "="), " \t")
	}
	start = v.quote(at)
	return start, start > at || !inQuotes
}

// separator returns the place behind what parts a name from its value at at,
// or at itself: = : := => > "is" and such, some also as JSON and URLs escape
// them.
func (v view) separator(at int) int {
	if escaped := v.skip(at, `\`); escaped > at && v.has(escaped, "u003e") {
		return escaped + len("u003e")
	}
	for _, word := range [...]string{"is ", "is: ", "%3d", "%3a"} {
		if v.has(at, word) {
			return at + len(word)
		}
	}
	const longest = 3
	behind := v.skip(at, ":=>")
	if behind-at > longest {
		return at
	}
	return behind
}

// typeName returns the place behind the name of a string type that an equals
// sign follows, or at itself.
func (v view) typeName(at int) int {
	for _, name := range [...]string{"string =", "str =", "&str =", "String =", "&'static str ="} {
		if v.has(at, name) {
			return at + len(name) - 1
		}
	}
	return at
}

// argument returns where the value of a command's option in start to end
// begins: --name value, or set name value.
func (v view) argument(start, end int) (int, bool) {
	if !strings.HasPrefix(v.text[start:end], "--") && !strings.HasSuffix(v.text[v.lo:start], " set ") {
		return 0, false
	}
	at := v.skip(end, " ")
	return v.quote(at), at > end
}

// isSetting reports whether the name is written as in an environment file:
// upper case, first in its line or command, an equals sign right behind it.
func (v view) isSetting(start, end int) bool {
	if start == end || !v.has(end, "=") {
		return false
	}
	if upperWord.run(v.text, start, end) < end {
		return false
	}
	if _, behind := v.escape(start); behind || start == 0 || v.behindCode(start) {
		return true
	}
	return start > v.lo && strings.IndexByte(" \t\r\n\"'`", v.text[start-1]) >= 0
}
