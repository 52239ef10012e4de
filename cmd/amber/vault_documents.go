package main

import (
	"context"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony"
	"github.com/amber-memory/amber/internal/redact"
)

// vaultDocuments are what a backup holds, what it does not hold though it was
// found, and how often each rule took something out.
type vaultDocuments struct {
	colony.Documents
	Skipped  []amber.Skipped
	Redacted map[string]int
}

// noteDocuments returns the notes of an agent, as files are called, without
// secrets unless export.redact is false.
func (a *app) noteDocuments(ctx context.Context, s *opened) (vaultDocuments, error) {
	d, err := readNotes(ctx, s)
	if err == nil && s.config.Config.Export.Redact {
		err = d.redact(partNotes, a.vaultOwn(s, vaultFlags{}))
	}
	return d, err
}

// The parts that a skipped document belongs to.
const (
	partNotes = "notes"
	partDir   = "dir"
)

// noteSuffix ends the name of the document of a note: that of its file.
const noteSuffix = ".md"

// readNotes reads every note.
func readNotes(ctx context.Context, s *opened) (vaultDocuments, error) {
	d := vaultDocuments{Documents: colony.Documents{}}
	take := func(n amber.Note, err error) error {
		name := n.Name + noteSuffix
		switch amber.KindOf(err) {
		case "":
			d.Documents[name] = n.Content
		case amber.KindNotFound: // deleted meanwhile
		case amber.KindDamaged:
			d.skip(partNotes, name, amber.SkipUnreadable, err.Error())
		default:
			return err
		}
		return nil
	}
	if s.notes != nil {
		return d, s.notes.LoadNotes(ctx, take)
	}
	notes, err := s.Store.Notes.ListNotes(ctx)
	if err != nil {
		return d, err
	}
	for _, n := range notes {
		note, err := s.Store.Notes.ReadNote(ctx, n.Name)
		note.Name = n.Name
		if err := take(note, err); err != nil {
			return d, err
		}
	}
	return d, nil
}

const notText = "it is no text in UTF-8"

// skip notes that something is not in the backup.
func (d *vaultDocuments) skip(part, path, reason, detail string) {
	d.Skipped = append(d.Skipped, amber.Skipped{Part: part, Path: path, Reason: reason, Detail: detail})
}

// redact takes out what package redact knows: what is a secret in one document,
// or in the name of one, is taken out of all. A document with a secret in its
// name stays here. The keys of this side are secrets wherever they stand.
func (d *vaultDocuments) redact(part string, own ownThings) error {
	rules, known := own.redactor(), &redact.Secrets{}
	own.teach(known)
	names := slices.Sorted(maps.Keys(d.Documents))
	for _, name := range names {
		rules.Look(name, []byte(d.Documents[name]), known.Add)
		rules.Look(nameOfNames, []byte(name), known.Add)
	}
	known.Seal()
	for _, rule := range append(rules.Rules(), ownRule) {
		known.Allow(redact.Marker(rule))
	}
	d.Redacted = map[string]int{}
	for _, name := range names {
		told, _, err := redactText(rules, known, nameOfNames, name)
		if err != nil {
			return err
		}
		if told != name {
			d.skip(part, told, amber.SkipBadName, "there is a secret in its name")
			delete(d.Documents, name)
			continue
		}
		text, report, err := redactText(rules, known, name, d.Documents[name])
		if err != nil {
			return err
		}
		d.Documents[name] = text
		for rule, n := range report.Counts {
			d.Redacted[rule] += n
		}
	}
	return nil
}

// nameOfNames is what a file would be called that holds the name of another.
const nameOfNames = "name.txt"

// redactText redacts until nothing is found any more: what was known may have
// stood where the rules see something else without it.
func redactText(rules *redact.Redactor, known *redact.Secrets, name, text string) (string, redact.Report, error) {
	const looks = 4 // two are enough for almost everything
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
	return "", sum, amber.Errorf(amber.KindInternal, "redact", name, "something is left after redaction")
}
