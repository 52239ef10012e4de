package metrics

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/wire"
)

type snapshotter part[wire.Snapshotter]

func (s snapshotter) Snapshot(ctx context.Context, r wire.SnapshotRequest) (m wire.SnapshotMeta, err error) {
	defer s.of(r.Tenant, r.Agent).watch(&ctx, &err, "snapshot")(one)
	return s.next.Snapshot(ctx, r)
}

func (s snapshotter) ListSnapshots(ctx context.Context, q wire.SnapshotQuery) (l amber.Page[wire.SnapshotMeta], err error) {
	defer s.of(q.Tenant, q.Agent).watch(&ctx, &err, "list_snapshots")(func() size { return size{items: len(l.Items)} })
	return s.next.ListSnapshots(ctx, q)
}

func (s snapshotter) ShowSnapshot(ctx context.Context, ref wire.SnapshotRef) (d wire.SnapshotDetail, err error) {
	defer s.of(ref.Tenant, ref.Agent).watch(&ctx, &err, "show_snapshot")(one)
	return s.next.ShowSnapshot(ctx, ref)
}

func (s snapshotter) DiffSnapshots(ctx context.Context, r wire.DiffRequest) (d wire.SnapshotDiff, err error) {
	defer s.of(r.Tenant, r.Agent).watch(&ctx, &err, "diff_snapshots")(one)
	return s.next.DiffSnapshots(ctx, r)
}

func (s snapshotter) VerifySnapshot(ctx context.Context, r wire.VerifyRequest) (v wire.VerifyReport, err error) {
	defer s.of(r.Tenant, r.Agent).watch(&ctx, &err, "verify_snapshot")(one)
	return s.next.VerifySnapshot(ctx, r)
}

func (s snapshotter) DeleteSnapshot(ctx context.Context, ref wire.SnapshotRef) (err error) {
	defer s.of(ref.Tenant, ref.Agent).watch(&ctx, &err, "delete_snapshot")(one)
	return s.next.DeleteSnapshot(ctx, ref)
}

func (s snapshotter) PinSnapshot(ctx context.Context, ref wire.SnapshotRef, pinned bool) (err error) {
	defer s.of(ref.Tenant, ref.Agent).watch(&ctx, &err, "pin_snapshot")(one)
	return s.next.PinSnapshot(ctx, ref, pinned)
}

func (s snapshotter) PruneSnapshots(ctx context.Context, r wire.PruneRequest) (p wire.PruneReport, err error) {
	defer s.of(r.Tenant, r.Agent).watch(&ctx, &err, "prune_snapshots")(func() size { return size{items: len(p.Deleted)} })
	return s.next.PruneSnapshots(ctx, r)
}

func (s snapshotter) CollectGarbage(ctx context.Context, r wire.GCRequest) (g wire.GCReport, err error) {
	defer s.whole(r.Tenant).watch(&ctx, &err, "collect_garbage")(func() size { return size{items: g.Deleted} })
	return s.next.CollectGarbage(ctx, r)
}

func (s snapshotter) Restore(ctx context.Context, r wire.RestoreRequest) (out wire.RestoreReport, err error) {
	defer s.of(r.Tenant, r.Agent).watch(&ctx, &err, "restore")(one)
	return s.next.Restore(ctx, r)
}

type checker part[wire.RepositoryChecker]

func (c checker) CheckRepository(ctx context.Context, r wire.CheckRequest) (out wire.CheckReport, err error) {
	defer c.whole(r.Tenant).watch(&ctx, &err, "check_repository")(func() size { return size{items: out.Snapshots} })
	return c.next.CheckRepository(ctx, r)
}

type publisher part[events.Publisher]

func (p publisher) Publish(ctx context.Context, e events.Event) (err error) {
	defer p.of(e.Tenant, e.Agent).watch(&ctx, &err, "publish")(one)
	return p.next.Publish(ctx, e)
}
