package redact

import "strings"

// pairedValue returns where the value begins that stands in a field of its own
// beside the name in start to end: {"name": "TOKEN", "value": "..."}, in YAML
// and XML, too.
func (v view) pairedValue(start, end int) (int, bool) {
	at := v.gap(v.quote(end))
	field := v.quote(at)
	if at == end || !v.has(field, "value") {
		return 0, false
	}
	return v.value(start, field+len("value"))
}

// gap returns the place behind what parts two fields at at: commas and white
// space, escaped or not.
func (v view) gap(at int) int {
	for at < v.hi {
		next := v.skip(at, ", \t\r\n")
		if escaped := v.skip(next, `\`); escaped > next && (v.has(escaped, "n") || v.has(escaped, "r")) {
			next = escaped + 1
		}
		if next == at {
			break
		}
		at = next
	}
	return at
}

// gapBack returns the place before what parts two fields and ends at at.
func (v view) gapBack(at int) int {
	for at > v.lo {
		next := v.skipBack(at, ", \t\r\n")
		if next-2 >= v.lo && strings.IndexByte("nr", v.text[next-1]) >= 0 && v.text[next-2] == '\\' {
			next = v.skipBack(next-1, `\`)
		}
		if next == at {
			break
		}
		at = next
	}
	return at
}

// pairKeys are the fields that hold the name of a pair.
var pairKeys = [...]string{"name", "key"}

// valueBefore is pairedValue for a value that stands before the name:
// {"value": "...", "name": "TOKEN"}. Where a marker stands instead of the value
// the form is the same, and the value empty.
func (v view) valueBefore(start, _ int) (int, bool) {
	at, ok := v.fieldBefore(start, pairKeys[:]...)
	if !ok {
		return 0, false
	}
	gap := v.gapBack(at)
	end := v.quoteBack(gap)
	if gap == at || end == gap {
		return 0, false
	}
	if end == v.lo {
		return end, true
	}
	const longest = 512
	value := end
	for value > v.lo && end-value < longest && (valueByte.has[v.text[value-1]] || strings.IndexByte("=:,;&", v.text[value-1]) >= 0) {
		value--
	}
	_, ok = v.fieldBefore(value, "value")
	return value, ok
}

// fieldBefore returns where the field begins whose value, in quotation marks,
// begins at at, if it has one of names.
func (v view) fieldBefore(at int, names ...string) (int, bool) {
	mark := v.quoteBack(at)
	sign := v.skipBack(mark, " \t")
	if mark == at || sign == v.lo || v.text[sign-1] != ':' && v.text[sign-1] != '=' {
		return 0, false
	}
	end := v.quoteBack(v.skipBack(sign-1, " \t"))
	for _, name := range names {
		start := end - len(name)
		if v.has(start, name) && (start == v.lo || !nameByte.has[v.text[start-1]]) {
			return v.quoteBack(start), true
		}
	}
	return 0, false
}

// skipBack returns the last place up to at whose byte before is not one of
// set.
func (v view) skipBack(at int, set string) int {
	for at > v.lo && strings.IndexByte(set, v.text[at-1]) >= 0 {
		at--
	}
	return at
}

// quoteBack returns the place before a quotation mark that ends at at, and its
// backslashes, or at itself.
func (v view) quoteBack(at int) int {
	if at == v.lo || strings.IndexByte("\"'`", v.text[at-1]) < 0 {
		return at
	}
	return v.skipBack(at-1, `\`)
}
