package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/amber-memory/amber"
)

// syncMetrics measure what is exchanged with other stores.
type syncMetrics struct {
	chunks    *prometheus.CounterVec
	records   *prometheus.CounterVec
	conflicts *prometheus.CounterVec
}

func newSyncMetrics(f promauto.Factory) syncMetrics {
	return syncMetrics{
		chunks:    f.NewCounterVec(counterOpts("sync_chunks_total", "Chunks that were exported or applied."), owned("direction")),
		records:   f.NewCounterVec(counterOpts("sync_records_total", "Records that applied chunks have brought."), owned("kind")),
		conflicts: f.NewCounterVec(counterOpts("sync_conflicts_total", "Versions in applied chunks that were made without knowing of another."), owned()),
	}
}

// syncMeter measures what a replica gives and takes.
type syncMeter struct {
	amber.Replica
	m      *Metrics
	tenant amber.TenantID
	agent  amber.AgentID
}

func (s syncMeter) Exported(ctx context.Context, n amber.ExportNote) error {
	err := s.Replica.Exported(ctx, n)
	if err == nil && n.Chunk != "" {
		tenant, agent := s.m.ids.labels(s.tenant, s.agent)
		s.m.sync.chunks.WithLabelValues(tenant, agent, directionOut).Inc()
	}
	return err
}

func (s syncMeter) Apply(ctx context.Context, c amber.Incoming) (amber.Applied, error) {
	a, err := s.Replica.Apply(ctx, c)
	if err != nil || a.Already {
		return a, err
	}
	tenant, agent := s.m.ids.labels(s.tenant, s.agent)
	s.m.sync.chunks.WithLabelValues(tenant, agent, directionIn).Inc()
	add(s.m.sync.records, int64(a.Sessions), tenant, agent, "session")
	add(s.m.sync.records, int64(a.Memories), tenant, agent, "memory")
	add(s.m.sync.records, int64(a.Prompts), tenant, agent, "prompt")
	add(s.m.sync.records, int64(a.Relations), tenant, agent, "relation")
	add(s.m.sync.conflicts, int64(a.Conflicts), tenant, agent)
	return a, err
}
