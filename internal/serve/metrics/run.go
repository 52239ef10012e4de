package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/amber-memory/amber"
)

// lookMetrics measure the looks at agents.
type lookMetrics struct {
	rounds   *prometheus.CounterVec
	duration prometheus.Gauge
	success  prometheus.Gauge
}

func newLookMetrics(f promauto.Factory) lookMetrics {
	return lookMetrics{
		rounds:   f.NewCounterVec(counterOpts("look_rounds_total", "Looks at all agents that gauges come from, by how they ended."), []string{"outcome"}),
		duration: f.NewGauge(gaugeOpts("look_duration_seconds", "How long the last look at all agents took.")),
		success:  f.NewGauge(gaugeOpts("look_last_success_timestamp_seconds", "When a look at all agents last went well, in Unix time.")),
	}
}

// Look asks for the gauges of the agents and keeps them for scrapes. The caller looks again after each [Interval].
func (m *Metrics) Look(ctx context.Context) error {
	m.sources.successes()
	look := m.sources.get().Look
	if look == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, Interval)
	defer cancel()
	started := m.o.Clock()
	gauges, err := look(ctx)
	ended := m.o.Clock()
	m.looks.rounds.WithLabelValues(outcomeOf(err)).Inc()
	m.looks.duration.Set(ended.Sub(started).Seconds())
	if err == nil {
		m.looks.success.Set(unix(amber.At(ended)))
	}
	// The gauges that were seen count also when another look has failed.
	m.sources.keep(gauges, ended)
	return err
}

// staleAfter is how many intervals the gauges of the last look are shown for.
const staleAfter = 5

// unix returns t in seconds, 0 for the absent one.
func unix(t amber.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

// age returns how long ago t was.
func age(now time.Time, t amber.Time) float64 { return max(0, unix(amber.At(now))-unix(t)) }
