package metrics

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/events"
	"github.com/amber-memory/amber/wire"
)

type snapshotter part[wire.Snapshotter]

func (s snapshotter) Snapshot(ctx context.Context, r wire.SnapshotRequest) (m wire.SnapshotMeta, err error) {
	ctx, end, err := s.of(r.Tenant, r.Agent).begin(ctx, "snapshot")
	defer func() { end(err, size{items: 1}) }()
	return s.next.Snapshot(ctx, r)
}

func (s snapshotter) ListSnapshots(ctx context.Context, q wire.SnapshotQuery) (l amber.Page[wire.SnapshotMeta], err error) {
	ctx, end, err := s.of(q.Tenant, q.Agent).begin(ctx, "list_snapshots")
	defer func() { end(err, size{items: len(l.Items)}) }()
	return s.next.ListSnapshots(ctx, q)
}

func (s snapshotter) ShowSnapshot(ctx context.Context, ref wire.SnapshotRef) (d wire.SnapshotDetail, err error) {
	ctx, end, err := s.of(ref.Tenant, ref.Agent).begin(ctx, "show_snapshot")
	defer func() { end(err, size{items: 1}) }()
	return s.next.ShowSnapshot(ctx, ref)
}

func (s snapshotter) DiffSnapshots(ctx context.Context, r wire.DiffRequest) (d wire.SnapshotDiff, err error) {
	ctx, end, err := s.of(r.Tenant, r.Agent).begin(ctx, "diff_snapshots")
	defer func() { end(err, size{items: 1}) }()
	return s.next.DiffSnapshots(ctx, r)
}

func (s snapshotter) VerifySnapshot(ctx context.Context, r wire.VerifyRequest) (v wire.VerifyReport, err error) {
	ctx, end, err := s.of(r.Tenant, r.Agent).begin(ctx, "verify_snapshot")
	defer func() { end(err, size{items: 1}) }()
	return s.next.VerifySnapshot(ctx, r)
}

func (s snapshotter) DeleteSnapshot(ctx context.Context, ref wire.SnapshotRef) (err error) {
	ctx, end, err := s.of(ref.Tenant, ref.Agent).begin(ctx, "delete_snapshot")
	defer func() { end(err, size{items: 1}) }()
	return s.next.DeleteSnapshot(ctx, ref)
}

func (s snapshotter) PinSnapshot(ctx context.Context, ref wire.SnapshotRef, pinned bool) (err error) {
	ctx, end, err := s.of(ref.Tenant, ref.Agent).begin(ctx, "pin_snapshot")
	defer func() { end(err, size{items: 1}) }()
	return s.next.PinSnapshot(ctx, ref, pinned)
}

func (s snapshotter) PruneSnapshots(ctx context.Context, r wire.PruneRequest) (p wire.PruneReport, err error) {
	ctx, end, err := s.of(r.Tenant, r.Agent).begin(ctx, "prune_snapshots")
	defer func() { end(err, size{items: len(p.Deleted)}) }()
	return s.next.PruneSnapshots(ctx, r)
}

func (s snapshotter) CollectGarbage(ctx context.Context, r wire.GCRequest) (g wire.GCReport, err error) {
	ctx, end, err := s.whole(r.Tenant).begin(ctx, "collect_garbage")
	defer func() { end(err, size{items: g.Deleted}) }()
	return s.next.CollectGarbage(ctx, r)
}

func (s snapshotter) Restore(ctx context.Context, r wire.RestoreRequest) (out wire.RestoreReport, err error) {
	ctx, end, err := s.of(r.Tenant, r.Agent).begin(ctx, "restore")
	defer func() { end(err, size{items: 1}) }()
	return s.next.Restore(ctx, r)
}

type checker part[wire.RepositoryChecker]

func (c checker) CheckRepository(ctx context.Context, r wire.CheckRequest) (out wire.CheckReport, err error) {
	ctx, end, err := c.whole(r.Tenant).begin(ctx, "check_repository")
	defer func() { end(err, size{items: out.Snapshots}) }()
	return c.next.CheckRepository(ctx, r)
}

type publisher part[events.Publisher]

func (p publisher) Publish(ctx context.Context, e events.Event) (err error) {
	ctx, end, err := p.of(e.Tenant, e.Agent).begin(ctx, "publish")
	defer func() { end(err, size{items: 1}) }()
	return p.next.Publish(ctx, e)
}
