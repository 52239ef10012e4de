package main

import (
	"fmt"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony"
	"github.com/amber-memory/amber/internal/redact"
)

func (a *app) printVaultRestored(w io.Writer, r vaultRestored, planned bool) {
	p := a.out
	did, write := "restored", "wrote"
	if planned {
		did, write = "would restore", "would write"
	}
	where := "the notes"
	if r.Dir != "" {
		where = flat(r.Dir)
	}
	fmt.Fprintf(w, "%s %s of %s, taken %s, to %s\n", did, r.ID, flat(r.Label), flat(r.CreatedAt), where)
	a.printVaultChecks(w, r.Restored)
	replaced := map[string]bool{}
	for _, name := range r.Replaced {
		replaced[name] = true
	}
	for _, name := range r.Written {
		note := ""
		switch {
		case replaced[name] && redact.IsMarked(r.Documents[name]):
			note = p.style(amb, " over one that says something else; secrets were taken out of this one")
		case replaced[name]:
			note = p.style(amb, " over one that says something else")
		}
		fmt.Fprintf(w, "  %s %s%s\n", write, flat(name), note)
	}
	if n := len(r.Unchanged); n > 0 {
		fmt.Fprintf(w, "  %s the same\n", count(int64(n), "document is", "documents are"))
	}
}

// printVaultChecks says what was checked and what was not.
func (a *app) printVaultChecks(w io.Writer, r colony.Restored) {
	p, c := a.out, r.Checks
	fmt.Fprintln(w, "  digest of the documents: it matches")
	declared := "they match"
	if !c.Declared {
		declared = p.style(amb, "NOT CHECKED")
	}
	fmt.Fprintln(w, "  declared fields:", declared)
	for _, text := range c.Relaxed {
		fmt.Fprintln(w, "    let through:", flat(text))
	}
	fmt.Fprintln(w, "  signature:", a.describeSignature(c.Signature, r.Issuer))
}

func (a *app) describeSignature(found string, key amber.KeyID) string {
	switch found {
	case colony.SignatureVerified:
		return "verified, by the trusted key " + flat(string(key))
	case colony.SignatureUnknown:
		return "it matches, and nobody said that the key is to be trusted: " + flat(string(key))
	case colony.SignatureNone:
		return "none: whoever may write to the vault can have made it"
	case colony.SignatureSkipped:
		return a.out.style(amb, "NOT CHECKED") + ", it names " + claimedKey(key)
	}
	return flat(found)
}

// claimedKey names the key of a signature that nobody has checked.
func claimedKey(key amber.KeyID) string {
	if key == "" {
		return "a key that cannot be read"
	}
	return flat(string(key))
}

// warnRestored tells what the reader should know about.
func (a *app) warnRestored(r colony.Restored) {
	if r.Fallback != "" {
		a.out.warn("not the snapshot that the pointer names: %s", r.Fallback)
	}
	for _, text := range r.Warnings {
		a.out.warn("%s", text)
	}
}
