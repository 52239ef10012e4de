package exchange

import (
	"fmt"
	"io"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

// tellFound tells, beside the result, what an import is about to do.
func (a *app) tellFound(r wire.ForeignImport) {
	a.ShowAside(func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s, %s, %s\n", cli.Flat(r.Path), a.Out.Style(cli.Bold, r.Title), words.Count(r.Files, "file", "files"), bytesOf(r.Bytes))
		how := "found"
		if r.Partial {
			how = "found in the first " + bytesOf(firstLook)
		}
		fmt.Fprintf(w, "  %s: %s\n", how, parts(r, func(c wire.ImportCounts) int64 { return c.Read }))
		a.printSamples(w, r)
	})
}

func (a *app) printSamples(w io.Writer, r wire.ForeignImport) {
	for _, s := range r.Samples {
		cli.Wrapped(w, 4, "  %s", a.Out.Style(cli.Dim, cli.OneLine(s, 100)))
	}
}

// show prints what was imported, or would be.
func (a *app) show(all wire.ForeignImports) error {
	return a.Out.Show(all, func(w io.Writer) {
		for _, r := range all.Items {
			a.printImport(w, r)
		}
	})
}

func (a *app) printImport(w io.Writer, r wire.ForeignImport) {
	verb := "imported"
	if r.DryRun {
		verb = "would import"
		fmt.Fprintf(w, "%s: %s, %s, %s\n", cli.Flat(r.Path), a.Out.Style(cli.Bold, r.Title), words.Count(r.Files, "file", "files"), bytesOf(r.Bytes))
		a.printSamples(w, r)
	}
	fmt.Fprintf(w, "%s from %s: %s new, %s changed, %s known\n", verb, cli.Flat(r.Path),
		parts(r, func(c wire.ImportCounts) int64 { return c.New }), parts(r, func(c wire.ImportCounts) int64 { return c.Changed }),
		parts(r, func(c wire.ImportCounts) int64 { return c.Known }))
	if r.Older > 0 {
		fmt.Fprintf(w, "  %s older than --since\n", words.Count(r.Older, "item is", "items are"))
	}
	a.printConflicts(w, r)
	a.printSkips(w, r)
	for _, warning := range r.Warnings {
		cli.Wrapped(w, 2, "  %s", cli.Flat(warning))
	}
	if r.ID != "" {
		a.Out.Note("to take it back: amber import undo %s", r.ID)
	}
}

func (a *app) printConflicts(w io.Writer, r wire.ForeignImport) {
	for _, c := range r.ConflictList[:min(len(r.ConflictList), cli.MaxWarnings)] {
		cli.Wrapped(w, 4, "  %s %s %s: changed here and in %s; the text here stays", a.Out.Style(cli.Amb, "CONFLICT"), c.Kind, cli.Flat(c.ID), cli.Flat(c.Place))
	}
	if more := r.Conflicts - int64(min(len(r.ConflictList), cli.MaxWarnings)); more > 0 {
		fmt.Fprintf(w, "  %s %d more\n", a.Out.Style(cli.Amb, "CONFLICT"), more)
	}
}

func (a *app) printSkips(w io.Writer, r wire.ForeignImport) {
	if r.Skipped == 0 {
		return
	}
	fmt.Fprintf(w, "  %s:\n", words.Count(r.Skipped, "item was skipped", "items were skipped"))
	for _, s := range r.Skips[:min(len(r.Skips), cli.MaxWarnings)] {
		cli.Wrapped(w, 6, "    %s: %s", cli.Flat(s.Place), cli.Flat(s.Reason))
	}
	if more := r.Skipped - int64(min(len(r.Skips), cli.MaxWarnings)); more > 0 {
		fmt.Fprintf(w, "    %d more; --json names up to %d\n", more, wire.MaxImportSkips)
	}
}
