package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/serve/metrics"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/store/storetest"
	"github.com/amber-memory/amber/wire"
)

// measured is a place whose stores are measured.
type measured struct{ m *metrics.Metrics }

func (p measured) Open(_ context.Context, env storetest.Env) (amber.Store, io.Closer, error) {
	s, err := inmem.New(inmem.Options{Clock: env.Clock, Random: env.Random, Queue: env.Queue, LogAll: true})
	if err != nil {
		return amber.Store{}, nil, err
	}
	return p.m.Store(tenant, agent, s.Store()), io.NopCloser(nil), nil
}

func (measured) Remove() error { return nil }

func TestAMeasuredStoreKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	report, err := storetest.Run(t.Context(), storetest.Backend{
		Name: "measured", LogsAll: true, Fresh: func() (storetest.Place, error) { return measured{m}, nil },
	})
	must.NoError(t, err)
	for _, name := range report.NotRun {
		if !strings.HasPrefix(name, "durable/") && !strings.HasPrefix(name, "shared/") {
			t.Errorf("check %s was not run", name)
		}
	}
	if len(report.Passed) == 0 {
		t.Error("no check passed")
	}
	if len(lines(t, m, "amber_operations_total")) == 0 {
		t.Error("nothing was measured")
	}
}

// A measured engine answers as the engine itself, its errors included.
func TestMeasuredSnapshotsAnswerAsTheEngine(t *testing.T) {
	t.Parallel()
	h, _, err := home.Open(t.TempDir(), home.Options{Clock: now, Random: random()})
	must.Do(t, err)
	a := must.Get(h.Agent(tenant, agent))(t)
	store := must.Get(sqlite.Open(t.Context(), a, sqlite.Options{Clock: now, Random: random()}))(t)
	defer store.Close()
	engine := must.Get(snapshot.New(snapshot.Options{Home: h, Clock: now, Random: random()}))(t)
	m, ctx := newMetrics(t), t.Context()
	s, r := m.Snapshots("", "", engine), m.Repository("", engine)
	one := must.Get(s.Snapshot(ctx, wire.SnapshotRequest{Tenant: tenant, Agent: agent, Label: "one", Pin: true}))(t)
	must.Equal(t, "label", one.Label, "one")
	must.Equal(t, "pinned", one.Pinned, true)
	two := must.Get(s.Snapshot(ctx, wire.SnapshotRequest{Tenant: tenant, Agent: agent}))(t)
	ref := wire.SnapshotRef{Tenant: tenant, Agent: agent, ID: one.ID}
	answers := func(s wire.Snapshotter, r wire.RepositoryChecker) (all []any) {
		add := func(v any, err error) { all = append(all, v, fmt.Sprint(err)) }
		add(s.ListSnapshots(ctx, wire.SnapshotQuery{Tenant: tenant, Agent: agent, Limit: 1}))
		add(s.ListSnapshots(ctx, wire.SnapshotQuery{Tenant: tenant, Agent: agent, Limit: -1}))
		add(s.ShowSnapshot(ctx, ref))
		add(s.DiffSnapshots(ctx, wire.DiffRequest{Tenant: tenant, Agent: agent, A: one.ID, B: two.ID, Rows: true}))
		add(s.VerifySnapshot(ctx, wire.VerifyRequest{SnapshotRef: ref, ReadData: true}))
		add(s.PruneSnapshots(ctx, wire.PruneRequest{Tenant: tenant, Agent: agent, KeepLast: 1, DryRun: true}))
		add(s.CollectGarbage(ctx, wire.GCRequest{Tenant: tenant, DryRun: true}))
		add(s.Restore(ctx, wire.RestoreRequest{SnapshotRef: ref, Only: []string{wire.PartNotes}, DryRun: true}))
		add(nil, s.DeleteSnapshot(ctx, ref))
		add(r.CheckRepository(ctx, wire.CheckRequest{Tenant: tenant, ReadData: true}))
		return all
	}
	answers(engine, engine) // what was verified once is remembered
	must.Equal(t, "the measured engine and the engine",
		answers(s, r), answers(engine, engine), cmp.AllowUnexported(amber.Time{}), cmpopts.IgnoreFields(wire.RestorePlan{}, "SpaceFree"))
	must.NoError(t, errors.Join(s.PinSnapshot(ctx, ref, false), s.DeleteSnapshot(ctx, ref)))
	must.Kind(t, "the deleted snapshot", must.Err(engine.ShowSnapshot(ctx, ref)), amber.KindNotFound)
	if len(lines(t, m, "amber_snapshot_operations_total")) == 0 {
		t.Error("nothing was measured")
	}
}
