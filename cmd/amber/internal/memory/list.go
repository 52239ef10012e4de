package memory

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/term"
)

// listFlags say what to list and how much of it.
type listFlags struct {
	filterFlags
	page         cli.PageFlags
	all, deleted bool
	at           string
	explain      bool
}

func (a *app) listCommand() *cobra.Command {
	var f listFlags
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("at") {
			return a.listAt(cmd, f)
		}
		if f.explain {
			return cli.Usage("--explain goes with --at")
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			filter, err := a.filter(ctx, s, f.filterFlags)
			if err != nil {
				return err
			}
			return cli.ShowPage(a.App, cmd, f.page, func(n int, c amber.Cursor) (amber.Page[amber.Memory], error) {
				return s.Store.Memories.List(ctx, amber.ListQuery{Filter: filter, All: f.all, Deleted: f.deleted, Limit: n, Cursor: c})
			}, a.printMemories)
		})
	})
	f.filterFlags.add(cmd)
	f.page.Add(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "list every scope and identity")
	cmd.Flags().BoolVar(&f.deleted, "deleted", false, "include forgotten memories")
	cmd.Flags().StringVar(&f.at, "at", "", "list the memories of this snapshot")
	cmd.Flags().BoolVar(&f.explain, "explain", false, "with --at, show how much of the snapshot was read")
	return cmd
}

// printMemories prints one line per memory.
func (a *app) printMemories(w io.Writer, items []amber.Memory) {
	for _, m := range items {
		fmt.Fprintln(w, a.memoryLine(m))
	}
}

// lineFacts is how many columns the facts of a memory take before its title.
const lineFacts = 51

// memoryLine tells a memory in one line.
func (a *app) memoryLine(m amber.Memory) string {
	title := m.Title
	if title == "" {
		title = m.Content
	}
	mark := ""
	if !m.DeletedAt.IsZero() {
		mark = a.Out.Style(cli.Dim, " (forgotten)")
	}
	room := 70
	if a.Out.Columns > 0 {
		room = max(a.Out.Columns-lineFacts-term.Width(mark), 20)
	}
	facts := fmt.Sprintf("%s  %-16s  %-9s", m.CreatedAt.Time().Format("2006-01-02"), m.Kind, m.Scope)
	return fmt.Sprintf("%s  %s  %s%s", a.Out.Style(cli.Amb, cli.ShortID(string(m.ID))), a.Out.Style(cli.Dim, facts), term.Cut(cli.OneLine(title, 200), room), mark)
}
