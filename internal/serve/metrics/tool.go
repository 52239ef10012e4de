package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// toolMetrics measure the calls of tools over MCP.
type toolMetrics struct {
	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	names    *expected
}

func newToolMetrics(f promauto.Factory) toolMetrics {
	return toolMetrics{
		total: f.NewCounterVec(counterOpts("mcp_tool_calls_total", "Calls of tools over MCP, by how they ended."),
			[]string{"tool", "outcome"}),
		duration: f.NewHistogramVec(histogramOpts("mcp_tool_duration_seconds", "How long calls of tools took.", fastBuckets),
			[]string{"tool"}),
		names: &expected{},
	}
}

// ExpectTools says which tools there are. A tool that is not among them counts
// as other.
func (m *Metrics) ExpectTools(names ...string) { m.tools.names.add(names) }

// Tool counts a call of a tool over MCP.
func (m *Metrics) Tool(name string, err error, took time.Duration) {
	name = m.tools.names.of(name)
	m.tools.total.WithLabelValues(name, outcomeOf(err)).Inc()
	m.tools.duration.WithLabelValues(name).Observe(took.Seconds())
}
