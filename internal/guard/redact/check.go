package redact

import "strings"

// Checked says what would be taken out of a text. Secrets are not in it.
type Checked struct {
	Found []Place `json:"found"`
	// Counts are by rule. Every rule of one's own is in it, also with 0.
	Counts map[string]int `json:"counts"`
}

// Place is where something is taken out.
type Place struct {
	Rule   string `json:"rule"`
	Line   int    `json:"line"`
	Column int    `json:"column"` // in bytes, from 1
	Bytes  int    `json:"bytes"`
}

// Check finds what rules would take out of a text. Own are the rules of the
// configuration, "name=pattern".
func Check(rules *Redactor, text string, own []string) Checked {
	r := Checked{Found: []Place{}, Counts: map[string]int{}}
	for _, rule := range own {
		name, _, _ := strings.Cut(rule, "=")
		r.Counts[strings.TrimSpace(name)] = 0
	}
	line, start, at := 1, 0, 0
	for _, f := range rules.Find(text) {
		line += strings.Count(text[at:f.Start], "\n")
		if i := strings.LastIndexByte(text[at:f.Start], '\n'); i >= 0 {
			start = at + i + 1
		}
		at = f.Start
		r.Counts[f.Rule]++
		r.Found = append(r.Found, Place{f.Rule, line, f.Start - start + 1, f.End - f.Start})
	}
	return r
}
