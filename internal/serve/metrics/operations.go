package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/amber-memory/amber/wire"
)

// operations measure the calls of contracts.
type operations struct {
	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
	items    *prometheus.CounterVec
	inFlight *prometheus.GaugeVec
}

func newOperations(f promauto.Factory) operations {
	return operations{
		total: f.NewCounterVec(counterOpts("operations_total", "Operations on the memory of an agent, by how they ended."),
			owned("layer", "operation", "outcome")),
		// Without an owner: a histogram of every agent would be a million series.
		duration: f.NewHistogramVec(histogramOpts("operation_duration_seconds", "How long operations took.", fastBuckets),
			[]string{"layer", "operation"}),
		bytes: f.NewCounterVec(counterOpts("operation_bytes_total", "Bytes of content that operations took in or gave out."),
			owned("layer", "direction")),
		items: f.NewCounterVec(counterOpts("operation_items_total", "Records that operations have read or changed."),
			owned("layer", "operation")),
		inFlight: f.NewGaugeVec(gaugeOpts("operations_in_flight", "Operations that are under way."), []string{"layer"}),
	}
}

// Begin implements [wire.Observer].
func (m *Metrics) Begin(ctx context.Context, op wire.Operation) (context.Context, func(wire.Outcome)) {
	running := m.operations.inFlight.WithLabelValues(op.Layer)
	running.Inc()
	started := m.o.Clock()
	return ctx, func(o wire.Outcome) {
		running.Dec()
		m.ended(op, o, m.o.Clock().Sub(started))
	}
}

// ended counts an operation.
func (m *Metrics) ended(op wire.Operation, o wire.Outcome, took time.Duration) {
	tenant, agent := m.ids.labels(op.Tenant, op.Agent)
	if op.Layer == layerSnapshots || op.Layer == layerRepository {
		m.snapshots.total.WithLabelValues(tenant, agent, op.Name, outcomeOf(o.Err)).Inc()
		m.snapshots.duration.WithLabelValues(op.Name).Observe(took.Seconds())
		return
	}
	m.operations.total.WithLabelValues(tenant, agent, op.Layer, op.Name, outcomeOf(o.Err)).Inc()
	m.operations.duration.WithLabelValues(op.Layer, op.Name).Observe(took.Seconds())
	add(m.operations.bytes, o.In, tenant, agent, op.Layer, directionIn)
	add(m.operations.bytes, o.Out, tenant, agent, op.Layer, directionOut)
	add(m.operations.items, int64(o.Items), tenant, agent, op.Layer, op.Name)
}

// The directions.
const (
	directionIn  = "in"
	directionOut = "out"
)

// add adds to a counter. Nothing makes no series, and a count that is wrong
// takes nothing away.
func add(v *prometheus.CounterVec, n int64, labels ...string) {
	if n > 0 {
		v.WithLabelValues(labels...).Add(float64(n))
	}
}
