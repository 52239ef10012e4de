package redact

import "strings"

// said returns where a value begins that follows the name in start to end as
// words follow each other: "use token ...". Most words are too short for one.
func (v view) said(_, end int) (int, bool) {
	at := v.skip(end, " ")
	start := v.quote(at)
	return start, at > end && valueByte.run(v.text, start, v.hi)-start >= minRandom
}

// saidFor returns where the value begins that a sentence or a prompt gives to
// the name in start to end: "Password for joe: ...".
func (v view) saidFor(_, end int) (int, bool) {
	const longest = 80
	if !v.has(end, " for ") {
		return 0, false
	}
	line := v.text[end:min(v.hi, end+longest)]
	line, _, _ = strings.Cut(line, "\n")
	for _, sign := range [...]string{": ", " is "} {
		if i := strings.Index(line, sign); i >= 0 {
			return v.quote(v.skip(end+i+len(sign), " ")), true
		}
	}
	return 0, false
}
