package redact

import (
	"encoding/json"
	"strings"
)

// JSON is [Redactor.String] for a JSON document, which stays one. Beyond what
// String sees it looks at strings as they read: "\u0067hp_..." is a key as well.
// Seen, if it is not nil, is called with each secret, as it stands in the
// document or as it reads. A text that is no JSON is treated as any text.
func (r *Redactor) JSON(doc string, seen func(rule, secret string)) (string, Report) {
	var report Report
	out := doc
	if strings.Contains(doc, `\u00`) && json.Valid([]byte(doc)) {
		out = r.escaped(doc, seen, &report)
	}
	out = r.text(out, seen, &report)
	return out, report
}

// text is String that reports and counts.
func (r *Redactor) text(s string, seen func(rule, secret string), report *Report) string {
	spans := r.secrets(s)
	if len(spans) == 0 {
		return s
	}
	for _, f := range spans {
		if seen != nil {
			seen(f.rule, s[f.start:f.end])
		}
	}
	report.Add(reportOf(spans))
	return string(replace(s, spans))
}

// escaped redacts those strings of a document that hold escaped ASCII, each as
// it reads. All other bytes stay.
func (r *Redactor) escaped(doc string, seen func(rule, secret string), report *Report) string {
	return rewrite(doc, `\u00`, func(text string) string { return r.text(text, seen, report) })
}

// rewrite returns a document with another text in each string that holds a sign, where
// clean gives it another. All other bytes stay.
func rewrite(doc, sign string, clean func(text string) string) string {
	var out strings.Builder
	at := 0
	for start, end := nextString(doc, 0); start < len(doc); start, end = nextString(doc, end) {
		literal, text := doc[start:end], ""
		if !strings.Contains(literal, sign) || json.Unmarshal([]byte(literal), &text) != nil {
			continue
		}
		other := clean(text)
		if other == text {
			continue
		}
		quoted, err := json.Marshal(other)
		if err != nil {
			continue // a string always marshals
		}
		out.WriteString(doc[at:start])
		out.Write(quoted)
		at = end
	}
	out.WriteString(doc[at:])
	return out.String()
}

// nextString returns where the next string of a valid document begins and
// ends, with its quotation marks; both are the length of the document when
// there is none.
func nextString(doc string, at int) (start, end int) {
	i := strings.IndexByte(doc[at:], '"')
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
