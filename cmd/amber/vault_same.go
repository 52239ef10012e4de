package main

import "github.com/amber-memory/amber/internal/redact"

// saysSame reports whether what is here says what a document of a vault does. A
// secret that was taken out on the way there is no difference: what is here has
// it, and would lose it.
func saysSame(rules *redact.Redactor, name, here, document string) bool {
	if here == document {
		return true
	}
	if !redact.IsMarked(document) {
		return false
	}
	known := &redact.Secrets{}
	rules.Look(name, []byte(here), known.Add)
	known.Seal()
	told, _, err := redactText(rules, known, name, here)
	return err == nil && told == document
}

// marked counts the documents in which secrets were taken out.
func marked(documents map[string]string, names []string) (n int64) {
	for _, name := range names {
		if redact.IsMarked(documents[name]) {
			n++
		}
	}
	return n
}
