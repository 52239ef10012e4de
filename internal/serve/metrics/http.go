package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// httpMetrics measure requests.
type httpMetrics struct {
	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
	inFlight prometheus.Gauge
	routes   *expected
}

func newHTTPMetrics(f promauto.Factory) httpMetrics {
	return httpMetrics{
		total: f.NewCounterVec(counterOpts("http_requests_total", "Requests that were answered, by class of status."),
			[]string{"route", "method", "status"}),
		duration: f.NewHistogramVec(histogramOpts("http_request_duration_seconds", "How long requests took.", fastBuckets),
			[]string{"route", "method"}),
		bytes: f.NewCounterVec(counterOpts("http_bytes_total", "Bytes of the bodies of requests and answers."),
			[]string{"route", "direction"}),
		inFlight: f.NewGauge(gaugeOpts("http_requests_in_flight", "Requests that are being answered.")),
		routes:   &expected{},
	}
}

// methods and statuses are the values of their labels.
var (
	methods  = newClosed(http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions)
	statuses = []string{other, "1xx", "2xx", "3xx", "4xx", "5xx"}
)

// ExpectRoutes says which patterns of routes there are. A route that is not
// among them counts as other, so that a path never becomes a label.
func (m *Metrics) ExpectRoutes(patterns ...string) { m.http.routes.add(patterns) }

// HTTP counts a request that was answered: the pattern of its route, never the
// path; how long it took; the bytes of the bodies.
func (m *Metrics) HTTP(route, method string, status int, took time.Duration, in, out int64) {
	route, method = m.http.routes.of(route), methods.of(method)
	class := status / 100
	if class < 1 || class >= len(statuses) {
		class = 0
	}
	m.http.total.WithLabelValues(route, method, statuses[class]).Inc()
	m.http.duration.WithLabelValues(route, method).Observe(took.Seconds())
	add(m.http.bytes, in, route, directionIn)
	add(m.http.bytes, out, route, directionOut)
}

// InFlight returns next with the requests counted that are being answered.
func (m *Metrics) InFlight(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.http.inFlight.Inc()
		defer m.http.inFlight.Dec()
		next.ServeHTTP(w, r)
	})
}

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
