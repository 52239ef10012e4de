package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber/colony"
)

// printBackedUp prints the id first: it is what scripts want.
func (a *app) printBackedUp(w io.Writer, r colony.BackupReport, documents int) {
	p := a.out
	fmt.Fprintln(w, r.ID)
	what := fmt.Sprintf("backed up %s as %s, %s", count(int64(documents), "document", "documents"), flat(r.Label), byteSize(r.ByteSize))
	switch {
	case r.Unchanged:
		what = fmt.Sprintf("unchanged: the newest snapshot of %s holds the same %s; nothing was uploaded", flat(r.Label), count(int64(documents), "document", "documents"))
	case r.Resumed:
		what += ", going on where an upload was interrupted"
	}
	fmt.Fprintln(w, " ", what)
	if r.SupersededBy != "" {
		fmt.Fprintf(w, "  %s another writer was later: the newest one is %s\n", p.style(amb, "SUPERSEDED"), r.SupersededBy)
	}
	if r.Signed {
		fmt.Fprintln(w, "  signed by", flat(string(r.Issuer)))
	}
	if !r.Encrypted && !r.Unchanged {
		p.note("it is not encrypted: whoever keeps the vault can read it; --encrypt-to RECIPIENT")
	}
	if r.Pruned != nil {
		fmt.Fprintf(w, "  pruned: deleted %s, kept %d\n", count(int64(len(r.Pruned.Deleted)), "snapshot", "snapshots"), len(r.Pruned.Kept))
	}
}

// noteVaultDocuments tells what was taken out and what stayed here.
func (a *app) noteVaultDocuments(d vaultDocuments) {
	total := 0
	for _, n := range d.Redacted {
		total += n
	}
	if total > 0 {
		a.out.note("redacted: %s taken out (%s)", count(int64(total), "passage", "passages"), flat(strings.Join(slices.Sorted(maps.Keys(d.Redacted)), ", ")))
	}
	a.noteLeftOut(d.Skipped, "backup")
}
