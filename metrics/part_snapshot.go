package metrics

import (
	"context"

	"github.com/amber-memory/amber"
)

type snapshotter struct {
	watched
	next amber.Snapshotter
}

var _ amber.Snapshotter = snapshotter{}

func (s snapshotter) Snapshot(ctx context.Context, r amber.SnapshotRequest) (m amber.SnapshotMeta, err error) {
	ctx, end, err := s.of(r.Tenant, r.Agent).begin(ctx, "snapshot")
	defer func() { end(err, size{items: 1}) }()
	return s.next.Snapshot(ctx, r)
}

func (s snapshotter) ListSnapshots(ctx context.Context, q amber.SnapshotQuery) (l amber.Page[amber.SnapshotMeta], err error) {
	ctx, end, err := s.of(q.Tenant, q.Agent).begin(ctx, "list_snapshots")
	defer func() { end(err, size{items: len(l.Items)}) }()
	return s.next.ListSnapshots(ctx, q)
}

func (s snapshotter) ShowSnapshot(ctx context.Context, ref amber.SnapshotRef) (d amber.SnapshotDetail, err error) {
	ctx, end, err := s.of(ref.Tenant, ref.Agent).begin(ctx, "show_snapshot")
	defer func() { end(err, size{items: 1}) }()
	return s.next.ShowSnapshot(ctx, ref)
}

func (s snapshotter) DiffSnapshots(ctx context.Context, r amber.DiffRequest) (d amber.SnapshotDiff, err error) {
	ctx, end, err := s.of(r.Tenant, r.Agent).begin(ctx, "diff_snapshots")
	defer func() { end(err, size{items: 1}) }()
	return s.next.DiffSnapshots(ctx, r)
}

func (s snapshotter) VerifySnapshot(ctx context.Context, r amber.VerifyRequest) (v amber.VerifyReport, err error) {
	ctx, end, err := s.of(r.Tenant, r.Agent).begin(ctx, "verify_snapshot")
	defer func() { end(err, size{items: 1}) }()
	return s.next.VerifySnapshot(ctx, r)
}

func (s snapshotter) DeleteSnapshot(ctx context.Context, ref amber.SnapshotRef) (err error) {
	ctx, end, err := s.of(ref.Tenant, ref.Agent).begin(ctx, "delete_snapshot")
	defer func() { end(err, size{items: 1}) }()
	return s.next.DeleteSnapshot(ctx, ref)
}

func (s snapshotter) PinSnapshot(ctx context.Context, ref amber.SnapshotRef, pinned bool) (err error) {
	ctx, end, err := s.of(ref.Tenant, ref.Agent).begin(ctx, "pin_snapshot")
	defer func() { end(err, size{items: 1}) }()
	return s.next.PinSnapshot(ctx, ref, pinned)
}

func (s snapshotter) PruneSnapshots(ctx context.Context, r amber.PruneRequest) (p amber.PruneReport, err error) {
	ctx, end, err := s.of(r.Tenant, r.Agent).begin(ctx, "prune_snapshots")
	defer func() { end(err, size{items: len(p.Deleted)}) }()
	return s.next.PruneSnapshots(ctx, r)
}

func (s snapshotter) CollectGarbage(ctx context.Context, r amber.GCRequest) (g amber.GCReport, err error) {
	ctx, end, err := s.whole(r.Tenant).begin(ctx, "collect_garbage")
	defer func() { end(err, size{items: g.Deleted}) }()
	return s.next.CollectGarbage(ctx, r)
}

func (s snapshotter) Restore(ctx context.Context, r amber.RestoreRequest) (out amber.RestoreReport, err error) {
	ctx, end, err := s.of(r.Tenant, r.Agent).begin(ctx, "restore")
	defer func() { end(err, size{items: 1}) }()
	return s.next.Restore(ctx, r)
}
