package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/term"
)

// pageFlags cut a listing into pages.
type pageFlags struct {
	n      int
	cursor string
	jsonl  bool
}

func (f *pageFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.IntVarP(&f.n, "limit", "n", amber.DefaultPageSize, fmt.Sprintf("list at most this many (up to %d)", amber.MaxPageSize))
	fl.StringVar(&f.cursor, "cursor", "", "continue at this cursor of the page before")
	addJSONL(cmd, &f.jsonl)
}

// addJSONL is for listings that have no pages.
func addJSONL(cmd *cobra.Command, jsonl *bool) {
	cmd.Flags().BoolVar(jsonl, "jsonl", false, "print one JSON document per line")
}

// showPage prints one page of a listing. With --jsonl and no -n it streams
// every page: somebody who pipes a listing wants all of it.
func showPage[T any](a *app, cmd *cobra.Command, f pageFlags, read func(n int, c amber.Cursor) (amber.Page[T], error), human func(w io.Writer, items []T)) error {
	if err := oneFormat(a, f.jsonl); err != nil {
		return err
	}
	page, err := read(f.n, amber.Cursor(f.cursor))
	if err != nil {
		return err
	}
	for f.jsonl && page.Next != "" && !cmd.Flags().Changed("limit") {
		if err := lines(a.out, page.Items); err != nil {
			return err
		}
		if page, err = read(amber.MaxPageSize, page.Next); err != nil {
			return err
		}
	}
	if err := showItems(a, f.jsonl, page, human); err != nil {
		return err
	}
	a.noteAside(page.SetAside)
	if page.Next != "" && !a.global.json {
		a.out.note("there are more; continue with --cursor %s", page.Next)
	}
	return nil
}

// showItems prints a listing that is already here.
func showItems[T any](a *app, jsonl bool, page amber.Page[T], human func(w io.Writer, items []T)) error {
	if err := oneFormat(a, jsonl); err != nil {
		return err
	}
	if page.Items == nil {
		page.Items = []T{} // a list is never null in JSON
	}
	if jsonl {
		return lines(a.out, page.Items)
	}
	return a.out.show(page, func(w io.Writer) {
		if len(page.Items) == 0 {
			a.out.note("nothing to list")
			return
		}
		human(w, page.Items)
	})
}

// oneFormat refuses to print a listing in two ways at once.
func oneFormat(a *app, jsonl bool) error {
	if jsonl && a.global.json {
		return usage("--json and --jsonl exclude each other")
	}
	return nil
}

// table prints rows in columns under a heading. Cells are stored text: each
// is brought onto one line and made fit for a terminal. On a terminal the table
// is as wide as that.
func table(w io.Writer, heading []string, rows [][]string) {
	t := term.Table{Heading: heading}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = flat(cell)
		}
		t.Rows = append(t.Rows, cells)
	}
	_ = t.Write(w, columnsOf(w)) // w is the printer's buffer, which keeps its own error
}

// flat makes stored text fit for one line of a terminal, whole.
func flat(s string) string { return strings.Join(strings.Fields(safe(s)), " ") }

// pageSize checks -n of a listing.
func pageSize(n int) error {
	if n > amber.MaxPageSize {
		return usage("-n is %d, want at most %d", n, amber.MaxPageSize)
	}
	return limit("-n", n)
}
