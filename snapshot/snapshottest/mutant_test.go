package snapshottest_test

import (
	"context"
	"slices"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/snapshot/inmem"
	"github.com/amber-memory/amber/snapshot/snapshottest"
)

// chances is how often a check may look at a mutant: one that races is wrong
// only sometimes.
const chances = 30

// lifetimes is how many histories a mutant may live through at most.
const lifetimes = 40

// broken is the double with any of its methods replaced.
type broken struct {
	*inmem.Snapshotter
	clock *snapshottest.Clock
	// notes is for what a mutant remembers.
	notes map[string]any

	snapshot func(b *broken, ctx context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error)
	list     func(b *broken, ctx context.Context, q amber.SnapshotQuery) (amber.Page[amber.SnapshotMeta], error)
	show     func(b *broken, ctx context.Context, ref amber.SnapshotRef) (amber.SnapshotDetail, error)
	diff     func(b *broken, ctx context.Context, r amber.DiffRequest) (amber.SnapshotDiff, error)
	verify   func(b *broken, ctx context.Context, r amber.VerifyRequest) (amber.VerifyReport, error)
	del      func(b *broken, ctx context.Context, ref amber.SnapshotRef) error
	pin      func(b *broken, ctx context.Context, ref amber.SnapshotRef, pinned bool) error
	prune    func(b *broken, ctx context.Context, r amber.PruneRequest) (amber.PruneReport, error)
	gc       func(b *broken, ctx context.Context, r amber.GCRequest) (amber.GCReport, error)
	restore  func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error)
	check    func(b *broken, ctx context.Context, r amber.CheckRequest) (amber.CheckReport, error)
	agent    func(b *broken, d double) snapshottest.Agent
	reopened func(b *broken)
}

func (b *broken) Snapshot(ctx context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error) {
	if b.snapshot != nil {
		return b.snapshot(b, ctx, r)
	}
	return b.Snapshotter.Snapshot(ctx, r)
}

func (b *broken) ListSnapshots(ctx context.Context, q amber.SnapshotQuery) (amber.Page[amber.SnapshotMeta], error) {
	if b.list != nil {
		return b.list(b, ctx, q)
	}
	return b.Snapshotter.ListSnapshots(ctx, q)
}

func (b *broken) ShowSnapshot(ctx context.Context, ref amber.SnapshotRef) (amber.SnapshotDetail, error) {
	if b.show != nil {
		return b.show(b, ctx, ref)
	}
	return b.Snapshotter.ShowSnapshot(ctx, ref)
}

func (b *broken) DiffSnapshots(ctx context.Context, r amber.DiffRequest) (amber.SnapshotDiff, error) {
	if b.diff != nil {
		return b.diff(b, ctx, r)
	}
	return b.Snapshotter.DiffSnapshots(ctx, r)
}

func (b *broken) VerifySnapshot(ctx context.Context, r amber.VerifyRequest) (amber.VerifyReport, error) {
	if b.verify != nil {
		return b.verify(b, ctx, r)
	}
	return b.Snapshotter.VerifySnapshot(ctx, r)
}

func (b *broken) DeleteSnapshot(ctx context.Context, ref amber.SnapshotRef) error {
	if b.del != nil {
		return b.del(b, ctx, ref)
	}
	return b.Snapshotter.DeleteSnapshot(ctx, ref)
}

func (b *broken) PinSnapshot(ctx context.Context, ref amber.SnapshotRef, pinned bool) error {
	if b.pin != nil {
		return b.pin(b, ctx, ref, pinned)
	}
	return b.Snapshotter.PinSnapshot(ctx, ref, pinned)
}

func (b *broken) PruneSnapshots(ctx context.Context, r amber.PruneRequest) (amber.PruneReport, error) {
	if b.prune != nil {
		return b.prune(b, ctx, r)
	}
	return b.Snapshotter.PruneSnapshots(ctx, r)
}

func (b *broken) CollectGarbage(ctx context.Context, r amber.GCRequest) (amber.GCReport, error) {
	if b.gc != nil {
		return b.gc(b, ctx, r)
	}
	return b.Snapshotter.CollectGarbage(ctx, r)
}

func (b *broken) Restore(ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
	if b.restore != nil {
		return b.restore(b, ctx, r)
	}
	return b.Snapshotter.Restore(ctx, r)
}

func (b *broken) CheckRepository(ctx context.Context, r amber.CheckRequest) (amber.CheckReport, error) {
	if b.check != nil {
		return b.check(b, ctx, r)
	}
	return b.Snapshotter.CheckRepository(ctx, r)
}

// contents returns what an agent is; nothing when it does not exist.
func (b *broken) contents(tenant amber.TenantID, id amber.AgentID) inmem.Contents {
	a, err := b.Agent(tenant, id)
	if err != nil {
		return inmem.Contents{}
	}
	c, err := a.Contents()
	if err != nil {
		return inmem.Contents{}
	}
	return c
}

// replace makes an agent what c says; it has to exist.
func (b *broken) replace(tenant amber.TenantID, id amber.AgentID, c inmem.Contents) {
	a, err := b.Agent(tenant, id)
	if err == nil {
		_ = a.Replace(c)
	}
}

// all returns every snapshot of an agent, newest first.
func (b *broken) all(ctx context.Context, tenant amber.TenantID, id amber.AgentID) []amber.SnapshotMeta {
	page, _ := b.Snapshotter.ListSnapshots(ctx, amber.SnapshotQuery{Tenant: tenant, Agent: id, Limit: amber.MaxPageSize})
	return page.Items
}

// force deletes a snapshot whatever keeps it, but for the last one.
func (b *broken) force(ctx context.Context, ref amber.SnapshotRef) error {
	if err := b.Snapshotter.PinSnapshot(ctx, ref, false); err != nil {
		return err
	}
	return b.Snapshotter.DeleteSnapshot(ctx, ref)
}

// mutant is a snapshotter that breaks one promise.
type mutant struct {
	name  string
	check string // the check that must notice it
	lived bool   // whether histories must notice it too
	broken
}

func (m mutant) world(t *testing.T) snapshottest.World {
	t.Helper()
	b := m.broken
	b.notes = map[string]any{}
	w := worldOf(t, func(s *inmem.Snapshotter, clock *snapshottest.Clock, h *snapshottest.Handle) {
		b.Snapshotter, b.clock = s, clock
		h.Snapshots, h.Checker = &b, &b
		if b.agent != nil {
			h.Agent = func(tenant amber.TenantID, id amber.AgentID) snapshottest.Agent {
				return b.agent(&b, double{s, tenant, id})
			}
		}
	})
	if open := w.Open; b.reopened != nil {
		w.Open = func(ctx context.Context) (snapshottest.Handle, error) {
			b.reopened(&b)
			return open(ctx)
		}
	}
	return w
}

func mutants() []mutant {
	return slices.Concat(restoreMutants(), takeMutants(), readMutants(), keepMutants(), pruneMutants(), raceMutants())
}

func checks() map[string]snapshottest.Check {
	all := map[string]snapshottest.Check{}
	for _, c := range snapshottest.Checks() {
		all[c.Name] = c
	}
	return all
}

func TestChecksNoticeMutants(t *testing.T) {
	t.Parallel()
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			c, ok := checks()[m.check]
			if !ok {
				t.Fatalf("there is no check %q", m.check)
			}
			for range chances {
				if err := c.Run(t.Context(), m.world(t)); err != nil {
					t.Log(err)
					return
				}
			}
			t.Fatalf("check %s does not notice it", m.check)
		})
	}
}

// Every check has a mutant, so that none passes everything.
func TestEveryCheckNoticesSomething(t *testing.T) {
	t.Parallel()
	missed := checks()
	for _, m := range mutants() {
		delete(missed, m.check)
	}
	for name := range missed {
		t.Errorf("there is no mutant for check %s", name)
	}
}

func TestHistoriesNoticeMutants(t *testing.T) {
	t.Parallel()
	for _, m := range mutants() {
		if !m.lived {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(lifetimes) {
				if err := snapshottest.History(t.Context(), m.world(t), seed, snapshottest.HistoryOptions{}); err != nil {
					t.Logf("noticed by history %d: %v", seed, err)
					return
				}
			}
			t.Errorf("%d histories do not notice it", lifetimes)
		})
	}
}
