package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony"
)

// plainDocuments is the argument that stands for documents as one JSON object of
// names and texts: on stdin for a backup, on stdout for a restore.
const plainDocuments = "-"

// partInput is the part that a skipped document of stdin belongs to.
const partInput = "stdin"

// maxPlain bounds the object: every byte of a text may be written as an escape of
// six characters.
const maxPlain = 6 * colony.DefaultMaxBytes

// cutPlain takes the argument for documents as JSON out of the others, and reports
// whether it was among them.
func cutPlain(args []string) (rest []string, plain bool) {
	rest = slices.DeleteFunc(slices.Clone(args), func(s string) bool { return s == plainDocuments })
	return rest, len(rest) < len(args)
}

// checkPlain refuses flags that do not go with documents as JSON.
func checkPlain(f *vaultFlags, dir string) error {
	switch {
	case dir != "":
		return usage("--dir and - do not go together: documents are in a folder, or in JSON")
	case f.keyFile == stdinKey:
		return usage("--api-key-file - and - both want stdin: name a file with the key")
	}
	return nil
}

// readPlain reads the documents on stdin. Nothing is left out: whoever gives an
// object means all of it. Errors: invalid when it is not an object of texts, has a
// name twice, or holds too much.
func (a *app) readPlain() (vaultDocuments, error) {
	text, err := a.text(plainDocuments, maxPlain)
	if err != nil {
		return vaultDocuments{}, err
	}
	docs, err := colony.ParseDocuments([]byte(text))
	if err != nil {
		e := &amber.Error{Op: "read stdin", Kind: amber.KindOf(err), Err: err}
		e.Hint = `stdin takes one JSON object of names and texts, as {"MEMORY.md": "We chose PostgreSQL."}`
		return vaultDocuments{}, e
	}
	total := 0
	for _, name := range docs.Names() {
		total += len(docs[name])
		if len(docs[name]) > maxVaultDocument {
			return vaultDocuments{}, amber.Errorf(amber.KindInvalid, "read stdin", oneLine(name, 80), "the document has more than %s", byteSize(maxVaultDocument))
		}
	}
	if total > colony.DefaultMaxBytes {
		return vaultDocuments{}, amber.Errorf(amber.KindInvalid, "read stdin", "", "the documents have more than %s of text", byteSize(colony.DefaultMaxBytes))
	}
	return vaultDocuments{Documents: docs}, nil
}

// printPlain prints the documents as one JSON object of names and texts, which
// vault backup - takes. What was checked, and what a person should know, is on
// stderr: the object is all of stdout.
func (a *app) printPlain(ctx context.Context, got colony.Restored, dryRun bool, seen *lateWitness) error {
	out := a.out
	out.json = true
	if err := out.show(got.Documents, nil); err != nil {
		return err
	}
	a.out.note("%s of %s, signature: %s", got.ID, flat(got.Label), a.describeSignature(got.Checks.Signature, got.Issuer))
	if n := marked(got.Documents, got.Documents.Names()); n > 0 {
		got.Warnings = append(got.Warnings, fmt.Sprintf("in %s secrets were taken out before they went to the vault", count(n, "document", "documents")))
	}
	a.warnRestored(got)
	if dryRun {
		return nil
	}
	if err := seen.keep(ctx); err != nil {
		a.out.warn("what was seen could not be remembered: %v", err)
	}
	return nil
}
