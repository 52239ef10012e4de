package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/term"
)

// PageFlags cut a listing into pages.
type PageFlags struct {
	N      int
	Cursor string
	JSONL  bool
}

// Add adds the flags.
func (f *PageFlags) Add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.IntVarP(&f.N, "limit", "n", amber.DefaultPageSize, fmt.Sprintf("list at most this many (up to %d)", amber.MaxPageSize))
	fl.StringVar(&f.Cursor, "cursor", "", "continue at this cursor of the page before")
	AddJSONL(cmd, &f.JSONL)
	cmd.PreRunE = func(*cobra.Command, []string) error { return PageSize(f.N) }
}

// AddJSONL is for listings that have no pages.
func AddJSONL(cmd *cobra.Command, jsonl *bool) {
	cmd.Flags().BoolVar(jsonl, "jsonl", false, "print one JSON document per line")
}

// ShowPage prints one page of a listing. With --jsonl and no -n it streams every page: a caller who pipes a
// listing wants all of it.
func ShowPage[T any](a *App, cmd *cobra.Command, f PageFlags, read func(n int, c amber.Cursor) (amber.Page[T], error), human func(w io.Writer, items []T)) error {
	if err := oneFormat(a, f.JSONL); err != nil {
		return err
	}
	page, err := read(f.N, amber.Cursor(f.Cursor))
	if err != nil {
		return err
	}
	for f.JSONL && page.Next != "" && !cmd.Flags().Changed("limit") {
		if err := Lines(a.Out, page.Items); err != nil {
			return err
		}
		if page, err = read(amber.MaxPageSize, page.Next); err != nil {
			return err
		}
	}
	if err := ShowItems(a, f.JSONL, page, human); err != nil {
		return err
	}
	a.NoteAside(page.SetAside)
	if page.Next != "" && !a.Global.JSON {
		a.Out.Note("there are more; continue with --cursor %s", page.Next)
	}
	return nil
}

// ShowItems prints a listing that is already here.
func ShowItems[T any](a *App, jsonl bool, page amber.Page[T], human func(w io.Writer, items []T)) error {
	if err := oneFormat(a, jsonl); err != nil {
		return err
	}
	if page.Items == nil {
		page.Items = []T{} // a list is never null in JSON
	}
	if jsonl {
		return Lines(a.Out, page.Items)
	}
	return a.Out.Show(page, func(w io.Writer) {
		if len(page.Items) == 0 {
			a.Out.Note("nothing to list")
			return
		}
		human(w, page.Items)
	})
}

// Listing prints what a call lists, unless the call failed:
//
//	return cli.Listing(s.Store.Notes.ListNotes(ctx))(a.App, jsonl, a.printNotes)
func Listing[T any](items []T, err error) func(a *App, jsonl bool, human func(w io.Writer, items []T)) error {
	return func(a *App, jsonl bool, human func(w io.Writer, items []T)) error {
		if err != nil {
			return err
		}
		return ShowItems(a, jsonl, amber.Page[T]{Items: items}, human)
	}
}

// oneFormat refuses to print a listing in two ways at once.
func oneFormat(a *App, jsonl bool) error {
	if jsonl && a.Global.JSON {
		return Usage("--json and --jsonl exclude each other")
	}
	return nil
}

// Table prints rows in columns under a heading. Cells are stored text: each
// is brought onto one line and made fit for a terminal. On a terminal the table
// is as wide as that.
func Table(w io.Writer, heading []string, rows [][]string) {
	t := term.Table{Heading: heading}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = Flat(cell)
		}
		t.Rows = append(t.Rows, cells)
	}
	_ = t.Write(w, columnsOf(w)) // w is the printer's buffer, which keeps its own error
}

// TableOf is Table with a row for each item.
func TableOf[T any](w io.Writer, heading []string, items []T, row func(T) []string) {
	rows := make([][]string, len(items))
	for i, item := range items {
		rows[i] = row(item)
	}
	Table(w, heading, rows)
}

// Flat makes stored text fit for one line of a terminal, whole.
func Flat(s string) string { return clip.Line(Safe(s)) }

// PageSize checks -n of a listing.
func PageSize(n int) error {
	if n > amber.MaxPageSize {
		return Usage("-n is %d, want at most %d", n, amber.MaxPageSize)
	}
	return Limit("-n", n)
}
