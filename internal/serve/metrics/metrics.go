package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Options say how to measure. Clock is required.
type Options struct {
	Clock   amber.Clock // durations are measured with it too
	Version string      // of this build
	Commit  string
	// Beside sees the same operations, and its context is theirs; nil: there is no other observer.
	Beside wire.Observer
}

// Interval is the time between two looks at the agents, and how long one look may take.
const Interval = 10 * time.Second

// Metrics counts and measures. It has a registry of its own. Safe for
// concurrent use.
type Metrics struct {
	o        Options
	registry *prometheus.Registry
	ids      *ids
	scrapes  chan struct{} // one element for each scrape that is under way

	operations operations
	snapshots  snapshotMetrics
	retention  retentionMetrics
	vault      vaultMetrics
	audit      auditMetrics
	auth       *prometheus.CounterVec
	http       httpMetrics
	tools      toolMetrics
	looks      lookMetrics
	sources    *sources
}

var _ wire.Observer = (*Metrics)(nil)

// New returns metrics that have measured nothing yet.
func New(o Options) *Metrics {
	r := prometheus.NewRegistry()
	f := promauto.With(r)
	m := &Metrics{
		o: o, registry: r, ids: newIDs(f), scrapes: make(chan struct{}, maxScrapes),
		operations: newOperations(f), snapshots: newSnapshotMetrics(f),
		retention: newRetentionMetrics(f), vault: newVaultMetrics(f), audit: newAuditMetrics(f), auth: newAuthMetrics(f),
		http: newHTTPMetrics(f), tools: newToolMetrics(f), looks: newLookMetrics(f),
	}
	m.sources = newSources(m)
	f.NewGaugeVec(gaugeOpts("build_info", "Always 1; the labels say what is running."),
		[]string{"version", "commit", "go_version"}).With(build(o)).Set(1)
	r.MustRegister(m.sources, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}
