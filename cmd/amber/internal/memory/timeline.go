package memory

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) timelineCommand() *cobra.Command {
	var f cli.IdentityFlags
	var before, after int
	cmd := cli.Verb("timeline", func(cmd *cobra.Command, args []string) error {
		if before < 0 || after < 0 || before > amber.MaxPageSize || after > amber.MaxPageSize {
			return cli.Usage("--before and --after must be 0 to %d", amber.MaxPageSize)
		}
		return a.WithMemory(cmd, args[0], func(ctx context.Context, s *cli.Opened, id amber.MemoryID) error {
			memories, err := s.Store.Memories.Timeline(ctx, id, before, after)
			if err != nil {
				return err
			}
			ids, err := a.Identities(ctx, s, f)
			if err != nil {
				return err
			}
			memories = seenBeside(memories, id, ids)
			return a.Out.Show(amber.Page[amber.Memory]{Items: memories}, func(w io.Writer) { a.printTimeline(w, memories, id) })
		})
	})
	f.AddNames(cmd)
	cmd.Flags().IntVar(&before, "before", 5, "how many older memories at most")
	cmd.Flags().IntVar(&after, "after", 5, "how many newer memories at most")
	return cmd
}

// seenBeside leaves out what is neither visible to ids nor of the scope and
// identity of the memory that was asked for.
func seenBeside(memories []amber.Memory, pivot amber.MemoryID, ids amber.Identities) []amber.Memory {
	at := slices.IndexFunc(memories, func(m amber.Memory) bool { return m.ID == pivot })
	if at < 0 {
		return nil
	}
	scope, identity := memories[at].Scope, memories[at].Identity()
	return slices.DeleteFunc(memories, func(m amber.Memory) bool {
		return !ids.Sees(m.Scope, m.Identities) && (m.Scope != scope || m.Identity() != identity)
	})
}

// printTimeline prints one line per memory, the one asked for marked.
func (a *app) printTimeline(w io.Writer, memories []amber.Memory, pivot amber.MemoryID) {
	p := a.Out
	for _, m := range memories {
		mark := "  "
		if m.ID == pivot {
			mark = p.Style(cli.Bold, "> ")
		}
		fmt.Fprintln(w, mark+a.memoryLine(m))
	}
}
