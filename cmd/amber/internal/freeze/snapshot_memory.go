package freeze

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/wire"
)

// restoreMemory brings back one memory as a new revision.
func (a *app) restoreMemory(cmd *cobra.Command, arg string, f restoreFlags) error {
	end, err := agent.ParseIDEnd(f.memory)
	if err != nil {
		return err
	}
	return a.WithSnapshot(cmd, cli.MustBeOpened, arg, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine, ref wire.SnapshotRef) error {
		then, err := agent.FindMemoryAt(ctx, e, ref, end)
		if err != nil {
			return err
		}
		if !f.dryRun {
			if err := a.Confirm(f.yes, fmt.Sprintf("restore memory %s from snapshot %s", then.ID, cli.ShortID(string(ref.ID)))); err != nil {
				return err
			}
		}
		out, err := a.Site(s).BringBack(ctx, ref, then, f.dryRun)
		if err != nil {
			return err
		}
		return a.showMemoryRestore(out)
	})
}

func (a *app) showMemoryRestore(r wire.MemoryRestore) error {
	err := a.Out.Show(r, func(w io.Writer) {
		switch {
		case len(r.Changed) == 0:
			fmt.Fprintf(w, "%s is as it was: revision %d\n", r.Memory.ID, r.Memory.Revision)
		case r.DryRun:
			fmt.Fprintf(w, "%s would change: %s\n", r.Memory.ID, strings.Join(r.Changed, ", "))
		default:
			fmt.Fprintf(w, "%s revision %d: %s\n", r.Memory.ID, r.Memory.Revision, strings.Join(r.Changed, ", "))
		}
	})
	if len(r.Kept) > 0 {
		a.Out.Warn("not restored, an edit cannot change it: %s", strings.Join(r.Kept, ", "))
	}
	return err
}
