package snapshottest_test

import (
	"context"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/snapshot/inmem"
)

type restoreFunc = func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error)

// restored runs a restore and then does something to the agent, given what it
// was before and what it is now.
func restored(f func(was, is *inmem.Contents)) restoreFunc {
	return func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
		was := b.contents(r.Tenant, r.Agent)
		report, err := b.Snapshotter.Restore(ctx, r)
		if err != nil || r.DryRun {
			return report, err
		}
		is := b.contents(r.Tenant, report.Agent)
		f(&was, &is)
		b.replace(r.Tenant, report.Agent, is)
		return report, nil
	}
}

// asking changes a request before it is restored.
func asking(f func(b *broken, r *amber.RestoreRequest)) restoreFunc {
	return func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
		f(b, &r)
		return b.Snapshotter.Restore(ctx, r)
	}
}

// telling changes the report of a restore.
func telling(f func(r *amber.RestoreReport)) restoreFunc {
	return func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
		report, err := b.Snapshotter.Restore(ctx, r)
		f(&report)
		return report, err
	}
}

// addMissing copies what is only in from.
func addMissing[K comparable, V any](to, from map[K]V) {
	for k, v := range from {
		if _, ok := to[k]; !ok {
			to[k] = v
		}
	}
}

func restoreMutants() []mutant {
	return []mutant{
		{"restore only adds", "restore/brings-back-exactly", true, broken{restore: restored(func(was, is *inmem.Contents) {
			addMissing(is.Memories, was.Memories)
			addMissing(is.Notes, was.Notes)
		})}},
		{"restore leaves edited memories", "restore/brings-back-exactly", true, broken{restore: restored(func(was, is *inmem.Contents) {
			for id, m := range was.Memories {
				if _, ok := is.Memories[id]; ok {
					is.Memories[id] = m
				}
			}
		})}},
		{"restore loses tags", "restore/brings-back-exactly", true, broken{restore: restored(func(_, is *inmem.Contents) {
			for id, m := range is.Memories {
				m.Tags = nil
				is.Memories[id] = m
			}
		})}},
		{"restore forgets notes in folders", "restore/brings-back-exactly", false, broken{restore: restored(func(_, is *inmem.Contents) {
			maps.DeleteFunc(is.Notes, func(name, _ string) bool { return slices.Contains([]byte(name), '/') })
		})}},
		{"restore skips what is empty", "restore/nothing-is-brought-back-as-nothing", false, broken{restore: restored(func(was, is *inmem.Contents) {
			if len(is.Memories) == 0 {
				is.Memories = was.Memories
			}
			if len(is.Notes) == 0 {
				is.Notes = was.Notes
			}
		})}},
		{"restore leaves keys of state", "restore/clears-state-that-was-not-there", true, broken{restore: restored(func(was, is *inmem.Contents) {
			addMissing(is.State, was.State)
		})}},
		{"safety snapshot is taken after the restore", "restore/safety-snapshot", true, broken{
			restore: func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
				if r.DryRun || r.To != "" {
					return b.Snapshotter.Restore(ctx, r)
				}
				r.NoSafetySnapshot = true
				report, err := b.Snapshotter.Restore(ctx, r)
				if err != nil {
					return report, err
				}
				s, err := b.Snapshotter.Snapshot(ctx, amber.SnapshotRequest{Tenant: r.Tenant, Agent: r.Agent, Label: amber.LabelBeforeRestore + string(r.ID)})
				report.SafetySnapshot = s.ID
				return report, err
			},
		}},
		{"safety snapshot has no label", "restore/safety-snapshot", false, broken{
			list: func(b *broken, ctx context.Context, q amber.SnapshotQuery) (amber.Page[amber.SnapshotMeta], error) {
				page, err := b.Snapshotter.ListSnapshots(ctx, q)
				for i := range page.Items {
					page.Items[i].Label = ""
				}
				return page, err
			},
		}},
		{"safety snapshot is always taken", "restore/without-safety-snapshot", false, broken{
			restore: asking(func(_ *broken, r *amber.RestoreRequest) { r.NoSafetySnapshot = false }),
		}},
		{"old generation is always discarded", "restore/without-safety-snapshot", false, broken{
			restore: asking(func(_ *broken, r *amber.RestoreRequest) { r.DiscardOld = true }),
		}},
		{"second restore of one snapshot finds the backup of the first", "restore/twice", true, broken{
			restore: func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
				if b.notes[string(r.ID)] != nil {
					return amber.RestoreReport{}, amber.Errorf(amber.KindInternal, "restore", string(r.ID), "the backup exists")
				}
				if !r.DryRun && r.To == "" {
					b.notes[string(r.ID)] = true
				}
				return b.Snapshotter.Restore(ctx, r)
			},
		}},
		{"restore is always of the newest", "restore/any-order", true, broken{
			restore: func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
				for _, m := range b.all(ctx, r.Tenant, r.Agent) {
					if !isSafety(m) {
						r.ID = m.ID
						break
					}
				}
				return b.Snapshotter.Restore(ctx, r)
			},
		}},
		{"generation stays the same", "restore/agent-goes-on", false, broken{
			restore: telling(func(r *amber.RestoreReport) { r.Generation = min(r.Generation, 2) }),
		}},
		{"restore of nothing empties the agent", "restore/unknown-changes-nothing", false, broken{
			restore: func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
				report, err := b.Snapshotter.Restore(ctx, r)
				if amber.KindOf(err) == amber.KindNotFound {
					b.replace(r.Tenant, r.Agent, inmem.Contents{})
				}
				return report, err
			},
		}},
		{"restore takes another agent's snapshot", "restore/of-another-agent-is-refused", false, broken{
			restore: func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
				report, err := b.Snapshotter.Restore(ctx, r)
				if amber.KindOf(err) == amber.KindCrossTenant {
					return report, nil
				}
				return report, err
			},
		}},
		{"restore reaches the namesake of another tenant", "restore/others-stay", false, broken{
			restore: func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
				report, err := b.Snapshotter.Restore(ctx, r)
				b.replace("other", r.Agent, b.contents(r.Tenant, r.Agent))
				return report, err
			},
		}},
		{"only is ignored", "only/each-part", true, broken{
			restore: asking(func(_ *broken, r *amber.RestoreRequest) {
				if !r.DryRun {
					r.Only = nil
				}
			}),
		}},
		{"only the first of several parts", "only/each-part", true, broken{
			restore: asking(func(_ *broken, r *amber.RestoreRequest) {
				if len(r.Only) > 1 && !r.DryRun {
					r.Only = r.Only[:1]
				}
			}),
		}},
		{"unknown parts are passed over", "only/unknown-part-is-invalid", false, broken{
			restore: asking(func(_ *broken, r *amber.RestoreRequest) {
				r.Only = slices.DeleteFunc(slices.Clone(r.Only), func(p string) bool { return p == "everything" || p == "memories" })
			}),
		}},
		{"dry run restores", "dry-run/changes-nothing", true, broken{
			restore: asking(func(_ *broken, r *amber.RestoreRequest) { r.DryRun = false }),
		}},
		{"dry run takes a safety snapshot", "dry-run/changes-nothing", true, broken{
			restore: func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
				if r.DryRun && r.To == "" {
					_, _ = b.Snapshotter.Snapshot(ctx, amber.SnapshotRequest{Tenant: r.Tenant, Agent: r.Agent})
				}
				return b.Snapshotter.Restore(ctx, r)
			},
		}},
		{"dry run of a fork makes the agent", "dry-run/changes-nothing", false, broken{
			restore: asking(func(_ *broken, r *amber.RestoreRequest) { r.DryRun = r.DryRun && r.To == "" }),
		}},
		{"dry run counts from the snapshot to the agent", "dry-run/counts", true, broken{
			restore: telling(func(r *amber.RestoreReport) {
				n := &r.Plan.Notes
				n.Added, n.Removed = n.Removed, n.Added
			}),
		}},
		{"dry run counts no state", "dry-run/counts", true, broken{
			restore: telling(func(r *amber.RestoreReport) { r.Plan.State = amber.FilesDiff{} }),
		}},
		{"dry run counts all parts", "dry-run/counts-of-one-part", true, broken{
			restore: asking(func(_ *broken, r *amber.RestoreRequest) {
				if r.DryRun {
					r.Only = nil
				}
			}),
		}},
		{"fork replaces the agent itself", "fork/makes-another-agent", true, broken{
			restore: func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
				report, err := b.Snapshotter.Restore(ctx, r)
				if err == nil && !r.DryRun && r.To != "" {
					b.replace(r.Tenant, r.Agent, b.contents(r.Tenant, r.To))
				}
				return report, err
			},
		}},
		{"fork is empty", "fork/makes-another-agent", true, broken{restore: restored(func(_, is *inmem.Contents) {
			if len(is.Notes) == 3 {
				is.Notes = nil
			}
		})}},
		{"fork overwrites", "fork/existing-agent-is-a-conflict", false, broken{
			restore: func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
				report, err := b.Snapshotter.Restore(ctx, r)
				if amber.KindOf(err) == amber.KindConflict {
					err = nil
				}
				return report, err
			},
		}},
		{"dry run does not see a conflict", "fork/existing-agent-is-a-conflict", false, broken{
			restore: asking(func(_ *broken, r *amber.RestoreRequest) {
				if r.DryRun {
					r.To = ""
				}
			}),
		}},
		{"fork is another name of the agent", "fork/both-go-on-apart", false, broken{agent: func(_ *broken, d double) agentHandle {
			if d.id == "fork" {
				d.id = "scout"
			}
			return d
		}}},
		{"fork keeps the device", "fork/has-a-device-of-its-own", false, broken{
			snapshot: func(b *broken, ctx context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error) {
				m, err := b.Snapshotter.Snapshot(ctx, r)
				m.Device = "the one device"
				return m, err
			},
		}},
	}
}
