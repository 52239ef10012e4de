package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

// restoreMemory brings back one memory as a new revision.
func (a *app) restoreMemory(cmd *cobra.Command, arg string, f restoreFlags) error {
	end, err := parseIDEnd(f.memory)
	if err != nil {
		return err
	}
	return a.withSnapshot(cmd, mustBeOpened, arg, func(ctx context.Context, s *opened, e snapshotEngine, ref amber.SnapshotRef) error {
		then, err := memoryAt(ctx, e, ref, end)
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

// memoryAt returns the memory of a snapshot that end names.
func memoryAt(ctx context.Context, e snapshotEngine, ref amber.SnapshotRef, end idEnd) (m amber.Memory, err error) {
	view, err := e.At(ctx, ref)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	if id, whole := end.whole(); whole {
		return view.Get(ctx, id)
	}
	var fits []amber.Memory
	q := amber.ListQuery{All: true, Limit: amber.MaxPageSize}
	for more := true; more; {
		page, err := view.List(ctx, q)
		if err != nil {
			return m, err
		}
		for _, m := range page.Items {
			if endsWith(string(m.ID), string(end)) {
				fits = append(fits, m)
			}
		}
		q.Cursor, more = page.Next, page.Next != ""
	}
	if len(fits) == 0 {
		return m, amber.Errorf(amber.KindNotFound, "find memory", string(end), "no memory id in the snapshot ends in these digits")
	}
	ids := make([]string, len(fits))
	for i, m := range fits {
		ids[i] = string(m.ID)
	}
	_, err = onlyFit("memory", end, ids)
	return fits[0], err
}

func (a *app) showMemoryRestore(r amber.MemoryRestore) error {
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
