package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/amber-memory/amber/internal/base/events"
)

// retentionMetrics measure rounds of retention.
type retentionMetrics struct {
	rounds  *prometheus.CounterVec
	deleted prometheus.Counter
	kept    prometheus.Gauge
	orphans prometheus.Counter
	errors  prometheus.Counter
	success prometheus.Gauge
}

func newRetentionMetrics(f promauto.Factory) retentionMetrics {
	return retentionMetrics{
		rounds: f.NewCounterVec(counterOpts("retention_rounds_total", "Rounds of retention: ok, partial when something went wrong with some agents, failed."),
			[]string{"outcome"}),
		deleted: f.NewCounter(counterOpts("retention_deleted_total", "Snapshots that retention has deleted.")),
		kept:    f.NewGauge(gaugeOpts("retention_kept", "Snapshots that the last round of retention has kept.")),
		orphans: f.NewCounter(counterOpts("retention_orphans_removed_total", "Leftovers that retention has removed.")),
		errors:  f.NewCounter(counterOpts("retention_errors_total", "Things that went wrong in rounds of retention.")),
		success: f.NewGauge(gaugeOpts("retention_last_success_timestamp_seconds", "When a round of retention last went well, in Unix time.")),
	}
}

// Retention counts a round of retention, as it was reported.
func (m *Metrics) Retention(r events.RetentionReport, err error) {
	outcome := outcomeOK
	switch {
	case err != nil:
		outcome = "failed"
		m.retention.errors.Inc()
	case len(r.Errors) > 0:
		outcome = "partial"
	default:
		m.retention.success.Set(unix(r.At))
	}
	m.retention.rounds.WithLabelValues(outcome).Inc()
	m.retention.deleted.Add(float64(max(r.Deleted, 0)))
	m.retention.orphans.Add(float64(max(r.OrphansRemoved, 0)))
	m.retention.errors.Add(float64(len(r.Errors)))
	m.retention.kept.Set(float64(r.Kept))
}
