package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/wire"
)

// restoreMemory brings back one memory as a new revision.
func (a *app) restoreMemory(cmd *cobra.Command, arg string, f restoreFlags) error {
	end, err := agent.ParseIDEnd(f.memory)
	if err != nil {
		return err
	}
	return a.withSnapshot(cmd, mustBeOpened, arg, func(ctx context.Context, s *opened, e snapshotEngine, ref wire.SnapshotRef) error {
		then, err := agent.FindMemoryAt(ctx, e, ref, end)
		if err != nil {
			return err
		}
		if !f.dryRun {
			if err := a.confirm(f.yes, fmt.Sprintf("restore memory %s from snapshot %s", then.ID, shortID(string(ref.ID)))); err != nil {
				return err
			}
		}
		out, err := a.site(s).BringBack(ctx, ref, then, f.dryRun)
		if err != nil {
			return err
		}
		return a.showMemoryRestore(out)
	})
}

func (a *app) showMemoryRestore(r wire.MemoryRestore) error {
	err := a.out.show(r, func(w io.Writer) {
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
		a.out.warn("not restored, an edit cannot change it: %s", strings.Join(r.Kept, ", "))
	}
	return err
}
