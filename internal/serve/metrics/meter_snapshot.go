package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// snapshotMetrics measure what is done with snapshots and repositories.
type snapshotMetrics struct {
	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
	fence    prometheus.Histogram
	damage   *prometheus.CounterVec
	freed    *prometheus.CounterVec
	packs    *prometheus.CounterVec
}

func newSnapshotMetrics(f promauto.Factory) snapshotMetrics {
	return snapshotMetrics{
		total: f.NewCounterVec(counterOpts("snapshot_operations_total", "Operations on snapshots and repositories, by how they ended."),
			owned("operation", "outcome")),
		duration: f.NewHistogramVec(histogramOpts("snapshot_operation_duration_seconds", "How long operations on snapshots took.", slowBuckets),
			[]string{"operation"}),
		bytes: f.NewCounterVec(counterOpts("snapshot_bytes_total", "Bytes that snapshots hold, and bytes that had to be stored for them."),
			owned("kind")),
		fence: f.NewHistogram(histogramOpts("snapshot_fence_seconds", "How long writers stood still for a snapshot.", fastBuckets)),
		damage: f.NewCounterVec(counterOpts("damage_found_total", "Things that a check has found damaged, each time it has found them."),
			owned("operation")),
		freed: f.NewCounterVec(counterOpts("gc_freed_bytes_total", "Bytes that collecting garbage has freed."), []string{labelTenant}),
		packs: f.NewCounterVec(counterOpts("gc_deleted_packs_total", "Packs that collecting garbage has deleted."), []string{labelTenant}),
	}
}

// snapshotMeter measures what is in the answers of a snapshotter.
type snapshotMeter struct {
	wire.Snapshotter
	m *Metrics
}

func (s snapshotMeter) Snapshot(ctx context.Context, r wire.SnapshotRequest) (wire.SnapshotMeta, error) {
	meta, err := s.Snapshotter.Snapshot(ctx, r)
	if err == nil {
		tenant, agent := s.m.ids.labels(meta.Tenant, meta.Agent)
		add(s.m.snapshots.bytes, meta.BytesTotal, tenant, agent, "held")
		add(s.m.snapshots.bytes, meta.BytesNew, tenant, agent, "stored")
		s.m.snapshots.fence.Observe(meta.FenceMS / 1000)
	}
	return meta, err
}

func (s snapshotMeter) VerifySnapshot(ctx context.Context, r wire.VerifyRequest) (wire.VerifyReport, error) {
	report, err := s.Snapshotter.VerifySnapshot(ctx, r)
	s.m.damaged(r.Tenant, r.Agent, "verify_snapshot", report.Damaged)
	return report, err
}

func (s snapshotMeter) CollectGarbage(ctx context.Context, r wire.GCRequest) (wire.GCReport, error) {
	report, err := s.Snapshotter.CollectGarbage(ctx, r)
	if err == nil && !report.DryRun {
		tenant, _ := s.m.ids.labels(r.Tenant, "")
		add(s.m.snapshots.freed, report.Freed, tenant)
		add(s.m.snapshots.packs, int64(report.Deleted), tenant)
	}
	return report, err
}

// checkMeter measures what checks of a repository have found.
type checkMeter struct {
	wire.RepositoryChecker
	m *Metrics
}

func (c checkMeter) CheckRepository(ctx context.Context, r wire.CheckRequest) (wire.CheckReport, error) {
	report, err := c.RepositoryChecker.CheckRepository(ctx, r)
	c.m.damaged(r.Tenant, "", "check_repository", report.Damaged)
	return report, err
}

// damaged counts damage. Without damage it makes no labels: the tenant or the agent may not exist.
func (m *Metrics) damaged(t amber.TenantID, a amber.AgentID, operation string, found []wire.Damage) {
	if len(found) > 0 {
		tenant, agent := m.ids.labels(t, a)
		add(m.snapshots.damage, int64(len(found)), tenant, agent, operation)
	}
}
