package snapshottest_test

import (
	"context"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/snapshot/inmem"
	"github.com/amber-memory/amber/snapshot/snapshottest"
)

type agentHandle = snapshottest.Agent

type snapshotFunc = func(b *broken, ctx context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error)

// meant changes what is told about a new snapshot.
func meant(f func(m *amber.SnapshotMeta)) snapshotFunc {
	return func(b *broken, ctx context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error) {
		m, err := b.Snapshotter.Snapshot(ctx, r)
		f(&m)
		return m, err
	}
}

// before changes a request for a snapshot.
func before(f func(b *broken, r *amber.SnapshotRequest)) snapshotFunc {
	return func(b *broken, ctx context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error) {
		f(b, &r)
		return b.Snapshotter.Snapshot(ctx, r)
	}
}

func takeMutants() []mutant {
	return []mutant{
		{"snapshot of a typing error makes an agent", "snapshot/unknown-agent-is-not-found", false, broken{
			snapshot: before(func(b *broken, r *amber.SnapshotRequest) {
				if a, err := b.Agent(r.Tenant, r.Agent); err == nil {
					_ = a.Make()
				}
			}),
		}},
		{"refused snapshot leaves an agent behind", "snapshot/unknown-agent-is-not-found", false, broken{
			snapshot: func(b *broken, ctx context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error) {
				m, err := b.Snapshotter.Snapshot(ctx, r)
				if a, aerr := b.Agent(r.Tenant, r.Agent); aerr == nil {
					_ = a.Make()
				}
				return m, err
			},
		}},
		{"snapshot tells another time", "snapshot/tells-what-it-is", false, broken{
			snapshot: meant(func(m *amber.SnapshotMeta) { m.CreatedAt = m.CreatedAt.Add(1e9) }),
		}},
		{"snapshot is not pinned at once", "snapshot/tells-what-it-is", false, broken{
			snapshot: before(func(_ *broken, r *amber.SnapshotRequest) { r.Pin = false }),
		}},
		{"show tells no state", "snapshot/tells-what-it-is", false, broken{
			show: func(b *broken, ctx context.Context, ref amber.SnapshotRef) (amber.SnapshotDetail, error) {
				d, err := b.Snapshotter.ShowSnapshot(ctx, ref)
				d.Parts = d.Parts[:min(2, len(d.Parts))]
				return d, err
			},
		}},
		{"snapshot clears the state", "snapshot/leaves-the-agent-alone", true, broken{
			snapshot: func(b *broken, ctx context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error) {
				m, err := b.Snapshotter.Snapshot(ctx, r)
				if err == nil {
					c := b.contents(r.Tenant, r.Agent)
					c.State = nil
					b.replace(r.Tenant, r.Agent, c)
				}
				return m, err
			},
		}},
		{"labels are cut", "snapshot/labels", false, broken{
			snapshot: before(func(_ *broken, r *amber.SnapshotRequest) { r.Label = r.Label[:min(len(r.Label), amber.MaxLabelBytes)] }),
		}},
		{"labels are mended", "snapshot/labels", false, broken{
			snapshot: before(func(_ *broken, r *amber.SnapshotRequest) { r.Label = strings.ReplaceAll(r.Label, "\n", " ") }),
		}},
		{"chain has no parents", "snapshot/chain", false, broken{
			snapshot: meant(func(m *amber.SnapshotMeta) { m.Parent = "" }),
		}},
		{"counter stands still", "snapshot/chain", false, broken{
			snapshot: meant(func(m *amber.SnapshotMeta) { m.Counter = 1 }),
		}},
		{"deletion leaves no stub", "snapshot/chain-goes-on-after-deletion", false, broken{
			del: func(b *broken, ctx context.Context, ref amber.SnapshotRef) error {
				b.notes["deleted"] = true
				return b.Snapshotter.DeleteSnapshot(ctx, ref)
			},
			snapshot: func(b *broken, ctx context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error) {
				m, err := b.Snapshotter.Snapshot(ctx, r)
				if b.notes["deleted"] != nil {
					all := b.all(ctx, r.Tenant, r.Agent)
					m.Counter, m.Parent = all[1].Counter+1, all[1].Digest
				}
				return m, err
			},
		}},
		{"snapshots are gone after opening again", "snapshot/is-there-after-opening-again", false, broken{
			reopened: func(b *broken) { b.notes["opened"] = asInt(b.notes["opened"]) + 1 },
			list: func(b *broken, ctx context.Context, q amber.SnapshotQuery) (amber.Page[amber.SnapshotMeta], error) {
				if asInt(b.notes["opened"]) > 1 {
					return amber.Page[amber.SnapshotMeta]{Items: []amber.SnapshotMeta{}}, nil
				}
				return b.Snapshotter.ListSnapshots(ctx, q)
			},
		}},
		{"restore is undone by opening again", "snapshot/is-there-after-opening-again", true, broken{
			restore: func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
				was := b.contents(r.Tenant, r.Agent)
				report, err := b.Snapshotter.Restore(ctx, r)
				if err == nil && !r.DryRun && r.To == "" {
					b.notes["was"], b.notes["ref"] = was, r.SnapshotRef
				}
				return report, err
			},
			reopened: func(b *broken) {
				if was, ok := b.notes["was"].(inmem.Contents); ok {
					ref := b.notes["ref"].(amber.SnapshotRef)
					b.replace(ref.Tenant, ref.Agent, was)
				}
			},
		}},
		{"unknown sources are passed over", "snapshot/unknown-source-is-not-found", false, broken{
			snapshot: before(func(_ *broken, r *amber.SnapshotRequest) { r.Sources = nil }),
		}},
		{"snapshot goes on after the end of the context", "context/ended-before", false, broken{
			snapshot: func(b *broken, ctx context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error) {
				m, err := b.Snapshotter.Snapshot(context.WithoutCancel(ctx), r)
				if ctx.Err() != nil {
					err = ctx.Err()
				}
				return m, err
			},
		}},
		{"restore goes on after the end of the context", "context/ended-before", false, broken{
			restore: func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
				report, err := b.Snapshotter.Restore(context.WithoutCancel(ctx), r)
				if ctx.Err() != nil {
					err = ctx.Err()
				}
				return report, err
			},
		}},
	}
}

func asInt(v any) int {
	n, _ := v.(int)
	return n
}
