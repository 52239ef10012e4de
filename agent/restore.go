package agent

import (
	"context"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Snapshot freezes the agent as it is now. Tenant and Agent of the request may be
// empty. Errors: those of [wire.SnapshotTaker].
func (a *Agent) Snapshot(ctx context.Context, r wire.SnapshotRequest) (wire.SnapshotMeta, error) {
	e, err := a.Snapshots(ctx)
	if err != nil {
		return wire.SnapshotMeta{}, err
	}
	r.Tenant, r.Agent = a.Tenant(), a.ID()
	return e.Snapshot(ctx, r)
}

// Restore brings the agent back as it was when a snapshot was taken. First another snapshot freezes the
// agent as it is, unless snapshot.auto.before_restore is false. Entries of the journal that the snapshot holds are
// drained into the restored agent; those that came later are parked, see [Agent.DrainParked]. Errors: those of
// [wire.Restorer].
func (a *Agent) Restore(ctx context.Context, r wire.RestoreRequest) (wire.RestoreReport, error) {
	e, err := a.Snapshots(ctx)
	if err != nil {
		return wire.RestoreReport{}, err
	}
	r.Tenant, r.Agent = a.Tenant(), a.ID()
	r.NoSafetySnapshot = r.NoSafetySnapshot || !a.config.Snapshot.Auto.BeforeRestore
	return e.Restore(ctx, r)
}

// At opens the memory of a snapshot of the agent to read from. The caller closes the
// view. Errors: not_found; damaged; too_new.
func (a *Agent) At(ctx context.Context, ref wire.SnapshotRef) (View, error) {
	e, err := a.Snapshots(ctx)
	if err != nil {
		return nil, err
	}
	return e.At(ctx, ref)
}

// RestoreMemory makes the newest revision of a memory say what it said in a snapshot, or reports what that
// would change. Errors: not_found; refused for a memory that was erased.
func (a *Agent) RestoreMemory(ctx context.Context, r wire.MemoryRestoreRequest) (wire.MemoryRestore, error) {
	end, err := ParseIDEnd(string(r.Memory))
	if err != nil {
		return wire.MemoryRestore{}, err
	}
	e, err := a.Snapshots(ctx)
	if err != nil {
		return wire.MemoryRestore{}, err
	}
	then, err := FindMemoryAt(ctx, e, r.SnapshotRef, end)
	if err != nil {
		return wire.MemoryRestore{}, err
	}
	return a.BringBack(ctx, r.ID, then, r.DryRun)
}

// BringBack is [Agent.RestoreMemory] for a memory that was read from the snapshot
// already.
func (a *Agent) BringBack(ctx context.Context, from amber.SnapshotID, then amber.Memory, dryRun bool) (wire.MemoryRestore, error) {
	out := wire.MemoryRestore{From: from, Memory: then, Changed: []string{"brought back"}, Kept: []string{}, DryRun: dryRun}
	now, err := a.plain.Memories.Get(ctx, then.ID)
	switch {
	case err == nil:
		out.Changed, out.Kept = append([]string{}, editable(now, then)...), append([]string{}, fixed(now, then)...)
	case amber.KindOf(err) != amber.KindNotFound:
		return out, err
	}
	if a.core != nil { // it can restore every field, but nothing that was erased
		out.Changed, out.Kept = append(out.Changed, out.Kept...), []string{}
		if err := a.core.MayRestore(ctx, then.ID); err != nil {
			return out, err
		}
	}
	if dryRun {
		return out, nil
	}
	return out, a.putBack(ctx, then, now, &out)
}

// putBack makes the newest revision of a memory say what it said then.
func (a *Agent) putBack(ctx context.Context, then, now amber.Memory, out *wire.MemoryRestore) (err error) {
	if len(out.Changed) == 0 && len(out.Kept) == 0 {
		out.Memory = now
		return nil
	}
	if !a.config.Memory.Write.Enabled {
		return amber.Errorf(amber.KindRefused, "restore memory", string(then.ID), "memory.write.enabled is false")
	}
	if a.core != nil {
		out.Memory, err = a.core.RestoreMemory(ctx, then)
		return err
	}
	if now.ID == "" {
		return amber.Errorf(amber.KindUnsupported, "restore memory", string(then.ID), "the memory is not live, and the store cannot bring a memory back under its id").
			WithHint("amber snapshot restore --only memory brings back all of them")
	}
	out.Memory, err = a.plain.Editor.Edit(ctx, then.AsEdit(now.Revision))
	return err
}

// editable names the fields in which a memory differs and that an edit changes.
func editable(now, then amber.Memory) []string {
	return slices.DeleteFunc(Changes(now, then), func(field string) bool { return field == "sources" })
}

// fixed names the fields in which a memory differs and that an edit cannot change.
func fixed(now, then amber.Memory) []string {
	return differing([]difference{
		{"scope", now.Scope != then.Scope || now.Identities != then.Identities},
		{"topic", now.Topic != then.Topic},
		{"sources", !slices.Equal(now.SourceRefs, then.SourceRefs)},
		{"trust", now.Trust != then.Trust},
	})
}

// Changes names what differs between two revisions of a memory.
func Changes(from, to amber.Memory) []string {
	return differing([]difference{
		{"forgotten", from.DeletedAt.IsZero() && !to.DeletedAt.IsZero()},
		{"brought back", !from.DeletedAt.IsZero() && to.DeletedAt.IsZero()},
		{"title", from.Title != to.Title},
		{"content", from.Content != to.Content},
		{"summary", from.Summary != to.Summary},
		{"kind", from.Kind != to.Kind},
		{"tags", !slices.Equal(from.Tags, to.Tags)},
		{"metadata", !maps.Equal(from.Metadata, to.Metadata)},
		{"sources", !slices.Equal(from.SourceRefs, to.SourceRefs)},
		{"trust", from.Trust != to.Trust},
	})
}

// difference says whether two memories differ in a field.
type difference struct {
	field   string
	differs bool
}

func differing(all []difference) (fields []string) {
	for _, d := range all {
		if d.differs {
			fields = append(fields, d.field)
		}
	}
	return fields
}
