package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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

// bringBack brings a memory back as it was then, or tells what that would
// change. Errors: refused for what was erased.
func bringBack(ctx context.Context, s *opened, from amber.SnapshotID, then amber.Memory, dryRun bool) (amber.MemoryRestore, error) {
	out := amber.MemoryRestore{From: from, Memory: then, Changed: []string{"brought back"}, Kept: []string{}, DryRun: dryRun}
	now, err := s.Store.Memories.Get(ctx, then.ID)
	switch {
	case err == nil:
		out.Changed, out.Kept = orEmpty(editable(now, then)), orEmpty(fixed(now, then))
	case amber.KindOf(err) != amber.KindNotFound:
		return out, err
	}
	if s.sqlite != nil { // it can restore all of it, but what was erased
		out.Changed, out.Kept = append(out.Changed, out.Kept...), []string{}
		if err := s.sqlite.MayRestore(ctx, then.ID); err != nil {
			return out, err
		}
	}
	if dryRun {
		return out, nil
	}
	return out, putBack(ctx, s, then, now, &out)
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
		return m, amber.Errorf(amber.KindNotFound, "find memory", string(end), "no id in the snapshot ends in it")
	}
	ids := make([]string, len(fits))
	for i, m := range fits {
		ids[i] = string(m.ID)
	}
	_, err = onlyFit("memory", end, ids)
	return fits[0], err
}

// editable names the fields in which a memory differs and that an edit
// changes.
func editable(now, then amber.Memory) []string {
	return slices.DeleteFunc(changes(now, then), func(field string) bool { return field == "sources" })
}

// fixed names the fields in which a memory differs and that an edit cannot
// change.
func fixed(now, then amber.Memory) []string {
	var names []string
	for _, f := range []struct {
		name    string
		differs bool
	}{
		{"scope", now.Scope != then.Scope || now.Identities != then.Identities},
		{"topic", now.Topic != then.Topic},
		{"sources", !slices.Equal(now.SourceRefs, then.SourceRefs)},
		{"trust", now.Trust != then.Trust},
	} {
		if f.differs {
			names = append(names, f.name)
		}
	}
	return names
}

// putBack makes the newest revision of a memory say what it said then.
func putBack(ctx context.Context, s *opened, then, now amber.Memory, out *amber.MemoryRestore) (err error) {
	if len(out.Changed) == 0 && len(out.Kept) == 0 {
		out.Memory = now
		return nil
	}
	if !s.config.Config.Memory.Write.Enabled {
		return amber.Errorf(amber.KindRefused, "restore memory", string(then.ID), "memory.write.enabled is false")
	}
	if s.sqlite != nil {
		out.Memory, err = s.sqlite.RestoreMemory(ctx, then)
		return err
	}
	if now.ID == "" {
		e := amber.Errorf(amber.KindUnsupported, "restore memory", string(then.ID), "it is not live, and the store cannot bring one back under its id")
		e.Hint = "amber snapshot restore --only memory brings back all of them"
		return e
	}
	out.Memory, err = s.Store.Editor.Edit(ctx, amber.EditRequest{
		ID: then.ID, IfRevision: now.Revision,
		Kind: &then.Kind, Title: &then.Title, Content: &then.Content, Summary: &then.Summary, Tags: &then.Tags, Metadata: &then.Metadata,
	})
	return err
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
