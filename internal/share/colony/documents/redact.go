package documents

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/wire"
)

// nameOfNames is what a file would be called that holds the name of another.
const nameOfNames = "name.txt"

// Redact takes secrets out of the documents. A secret found in one document, or in the name of one, is taken out of all
// of them. A document with a secret in its name is left out. The keys that own names are secrets everywhere.
func (s *Set) Redact(part string, own Own) error {
	rules, known := own.redactor(), &redact.Secrets{}
	own.teach(known)
	names := s.Names()
	for _, name := range names {
		rules.Look(name, []byte(s.Documents[name]), known.Add)
		rules.Look(nameOfNames, []byte(name), known.Add)
	}
	known.Seal()
	for _, rule := range append(rules.Rules(), ownRule) {
		known.Allow(redact.Marker(rule))
	}
	s.Redacted = map[string]int{}
	for _, name := range names {
		if err := s.redactOne(part, name, rules, known); err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) redactOne(part, name string, rules *redact.Redactor, known *redact.Secrets) error {
	shown, _, err := redactText(rules, known, nameOfNames, name)
	if err != nil {
		return err
	}
	if shown != name {
		s.skip(part, shown, wire.SkipBadName, "file name contains a secret")
		delete(s.Documents, name)
		return nil
	}
	text, report, err := redactText(rules, known, name, s.Documents[name])
	if err != nil {
		return err
	}
	s.Documents[name] = text
	for rule, n := range report.Counts {
		s.Redacted[rule] += n
	}
	return nil
}

// redactText redacts until the rules find nothing more: once a known secret is
// gone, a rule may match the text around it.
func redactText(rules *redact.Redactor, known *redact.Secrets, name, text string) (string, redact.Report, error) {
	const looks = 4 // two are enough for almost every text
	var sum redact.Report
	b := []byte(text)
	for range looks {
		out, report := rules.Document(name, b, known)
		if report.Total == 0 {
			return string(b), sum, nil
		}
		b = out
		sum.Add(report)
	}
	return "", sum, amber.Errorf(amber.KindInternal, "redact", short(name), "the rules still find secrets after %d passes", looks)
}

func isMarked(text string) bool { return redact.IsMarked(text) }

// saysSame reports whether a local text says what a document of a vault does. A
// secret that was taken out on the way to the vault is no difference: the local
// text still holds it, and would lose it.
func saysSame(rules *redact.Redactor, name, local, document string) bool {
	if local == document {
		return true
	}
	if !isMarked(document) {
		return false
	}
	known := &redact.Secrets{}
	rules.Look(name, []byte(local), known.Add)
	known.Seal()
	clean, _, err := redactText(rules, known, name, local)
	return err == nil && clean == document
}
