package shown

import (
	"bytes"
	"encoding/json"
)

// JSON is [ForAgent] for the strings of a JSON document; everything else of it stays to the byte.
func JSON(doc []byte) []byte {
	var out []byte
	at := 0
	for start, end := nextString(doc, 0); start < len(doc); start, end = nextString(doc, end) {
		literal, text := doc[start:end], ""
		if isHarmless(literal) || json.Unmarshal(literal, &text) != nil {
			continue
		}
		clean := ForAgent(text)
		if clean == text {
			continue
		}
		var quoted bytes.Buffer
		e := json.NewEncoder(&quoted)
		e.SetEscapeHTML(false)
		if e.Encode(clean) != nil {
			continue // a string always marshals
		}
		out = append(append(out, doc[at:start]...), bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
		at = end
	}
	if at == 0 {
		return doc
	}
	return append(out, doc[at:]...)
}

// isHarmless reports whether a string holds nothing but ASCII as it is, and no sign of an element.
func isHarmless(literal []byte) bool {
	for _, c := range literal {
		if c >= 0x7f {
			return false
		}
	}
	return !bytes.ContainsAny(literal, "<[&") && !bytes.Contains(literal, []byte(`\u`))
}

// nextString returns where the next string of a document begins and ends, with its quotation marks; both are
// the length of the document when there is none.
func nextString(doc []byte, at int) (start, end int) {
	i := bytes.IndexByte(doc[at:], '"')
	if i < 0 {
		return len(doc), len(doc)
	}
	start = at + i
	for end = start + 1; end < len(doc); end++ {
		switch doc[end] {
		case '\\':
			end++
		case '"':
			return start, end + 1
		}
	}
	return len(doc), len(doc)
}
