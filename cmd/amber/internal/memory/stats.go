package memory

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) statsCommand() *cobra.Command {
	return cli.Verb("stats", func(cmd *cobra.Command, _ []string) error {
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			return cli.Answer(s.Store.Stats.Stats(ctx))(a.Out, a.printStats)
		})
	})
}

// printStats prints an aligned table: totals, with the parts of memories below
// them.
func (a *app) printStats(w io.Writer, s amber.Stats) {
	p := a.Out
	row := func(name string, n int64) { fmt.Fprintf(w, "%-22s %10d\n", name, n) }
	part := func(name string, n int64) {
		if n > 0 {
			fmt.Fprintln(w, p.Style(cli.Dim, fmt.Sprintf("%-22s %10d", "  "+name, n)))
		}
	}
	row("memories", s.Memories)
	for _, k := range amber.MemoryKinds() {
		part(string(k), s.ByKind[k])
	}
	for _, sc := range amber.Scopes() {
		part("scope "+string(sc), s.ByScope[sc])
	}
	for _, t := range amber.Trusts() {
		part("trust "+string(t), s.ByTrust[t])
	}
	row("forgotten", s.Deleted)
	row("revisions", s.Revisions)
	row("relations", s.Relations)
	row("embeddings", s.Embeddings)
	row("sessions", s.Sessions)
	row("turns", s.Turns)
	row("loops", s.Loops)
	row("compactions", s.Compactions)
	row("changes", s.Changes)
	row("bytes", s.Bytes)
}
