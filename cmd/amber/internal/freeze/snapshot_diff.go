package freeze

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

func (a *app) snapshotDiffCommand() *cobra.Command {
	var stat, rows bool
	cmd := cli.Verb("diff", func(cmd *cobra.Command, args []string) error {
		if stat && rows {
			return cli.Usage("--stat and --rows exclude each other")
		}
		to, err := cli.ParseSnapshotEnd(args[1])
		if err != nil {
			return err
		}
		return a.WithSnapshot(cmd, cli.MayBeAbsent, args[0], func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine, from wire.SnapshotRef) error {
			b, err := agent.FindSnapshot(ctx, e, s.AllSnapshots(), to)
			if err != nil {
				return err
			}
			r := wire.DiffRequest{Tenant: from.Tenant, Agent: from.Agent, A: from.ID, B: b, Rows: rows}
			d, err := cli.Working(a.App, "comparing", func() (wire.SnapshotDiff, error) { return e.DiffSnapshots(ctx, r) })
			if err != nil {
				return err
			}
			d.Store.Tables = cli.OrEmpty(d.Store.Tables)
			return a.Out.Show(d, func(w io.Writer) { a.printDiff(w, d) })
		})
	})
	cmd.Flags().BoolVar(&stat, "stat", false, "only count (the default)")
	cmd.Flags().BoolVar(&rows, "rows", false, "also name each row and file that changed")
	return cmd
}

func (a *app) printDiff(w io.Writer, d wire.SnapshotDiff) {
	changed := a.printChanges(w, d.Store, d.Notes, d.State)
	if g := d.Git; g.From != g.To {
		changed = true
		fmt.Fprintf(w, "history of the notes: %s, %s, +%d -%s\n",
			words.Count(g.Commits, "commit", "commits"), words.Count(g.FilesChanged, "file", "files"), g.Insertions, words.Count(g.Deletions, "line", "lines"))
	}
	for _, name := range d.Missing {
		changed = true
		fmt.Fprintf(w, "%s is not in both snapshots and was NOT compared\n", name)
	}
	if !changed {
		fmt.Fprintln(w, "nothing changed")
	}
}

// printChanges prints what differs of rows and files, and reports whether
// anything does.
func (a *app) printChanges(w io.Writer, store wire.StoreDiff, notes, state wire.FilesDiff) bool {
	var rows [][]string
	add := func(name string, added, changed, removed int64) {
		if added+changed+removed > 0 {
			rows = append(rows, []string{name, fmt.Sprint(added), fmt.Sprint(changed), fmt.Sprint(removed)})
		}
	}
	for _, t := range store.Tables {
		add(t.Name, t.Added, t.Changed, t.Removed)
	}
	add("notes", notes.Added, notes.Changed, notes.Removed)
	add("state", state.Added, state.Changed, state.Removed)
	if len(rows) == 0 {
		return false
	}
	cli.Table(w, []string{"WHAT", "ADDED", "CHANGED", "REMOVED"}, rows)
	a.printRows(w, store.Rows)
	a.printRows(w, notes.Files)
	a.printRows(w, state.Files)
	if store.More > 0 {
		fmt.Fprintf(w, "and %s more\n", words.Count(store.More, "row", "rows"))
	}
	return true
}

func (a *app) printRows(w io.Writer, rows []wire.RowDiff) {
	marks := map[amber.Op]string{amber.OpInsert: "+", amber.OpUpdate: "~", amber.OpDelete: "-"}
	for _, r := range rows {
		fmt.Fprintf(w, "%s %s %s", marks[r.Op], a.Out.Style(cli.Dim, cli.Flat(r.Table)), cli.Flat(r.Key))
		if r.Title != "" {
			fmt.Fprintf(w, "  %s", cli.OneLine(r.Title, 70))
		}
		fmt.Fprintln(w)
	}
}
