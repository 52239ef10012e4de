package memory

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
)

func (a *app) historyCommand() *cobra.Command {
	return cli.Verb("history", func(cmd *cobra.Command, args []string) error {
		return a.WithMemory(cmd, args[0], func(ctx context.Context, s *cli.Opened, id amber.MemoryID) error {
			revisions, err := amber.All(ctx, s.Store.Memories.History, id)
			if err != nil {
				return err
			}
			return a.Out.Show(amber.Page[amber.Memory]{Items: revisions}, func(w io.Writer) { a.printRevisions(w, revisions) })
		})
	})
}

// printRevisions prints one block per revision: which, when, what changed, and the
// text where that did.
func (a *app) printRevisions(w io.Writer, revisions []amber.Memory) {
	p := a.Out
	var before amber.Memory
	for i, m := range revisions {
		changed := []string{"created"}
		if i > 0 {
			fmt.Fprintln(w)
			changed = agent.Changes(before, m)
		}
		fmt.Fprintf(w, "%s  %s  %s\n", p.Style(cli.Bold, fmt.Sprintf("revision %d", m.Revision)), p.Style(cli.Dim, m.UpdatedAt.String()), strings.Join(append(changed, author(before, m)...), ", "))
		if m.Title != before.Title {
			fmt.Fprintf(w, "    %s\n", p.Style(cli.Bold, cli.OneLine(m.Title, 90)))
		}
		if m.Content != before.Content {
			fmt.Fprintf(w, "    %s\n", cli.OneLine(m.Content, 240))
		}
		before = m
	}
}

// author says who wrote a revision, where that is known and another one than wrote the revision before.
func author(before, m amber.Memory) []string {
	if m.Author == (amber.Author{}) || m.Author == before.Author {
		return nil
	}
	return []string{"by " + cli.OneLine(words.Author(m.Trust, m.Author), 200)}
}
