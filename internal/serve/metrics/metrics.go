package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/wire"
)

// Options say how to measure. Clock is required.
type Options struct {
	Clock   amber.Clock // durations are measured with it too
	Version string      // of this build
	Commit  string
	// Interval is how often [Metrics.Run] looks at the agents; less than
	// [MinInterval] counts as that.
	Interval time.Duration
	// LookTimeout bounds one look at all agents; 0: MinInterval.
	LookTimeout time.Duration
	After       func(time.Duration) <-chan time.Time // nil: [time.After]
}

// MinInterval is the shortest time between two looks at the agents.
const MinInterval = 10 * time.Second

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

// New returns metrics that have measured nothing yet. The error is of kind
// invalid.
func New(o Options) (*Metrics, error) {
	if o.Clock == nil {
		return nil, amber.Errorf(amber.KindInvalid, "make metrics", "", "a clock is required")
	}
	o.Interval = max(o.Interval, MinInterval)
	if o.LookTimeout <= 0 {
		o.LookTimeout = MinInterval
	}
	if o.After == nil {
		o.After = time.After
	}
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
	return m, nil
}

// Store returns s, measured. Others watch it beside.
func (m *Metrics) Store(tenant amber.TenantID, agent amber.AgentID, s amber.Store, others ...wire.Observer) amber.Store {
	return Instrument(tenant, agent, s, append(others[:len(others):len(others)], m)...)
}

// Snapshots returns s, measured. Others watch it beside. An empty tenant means
// that s is of many agents: see [InstrumentSnapshots].
func (m *Metrics) Snapshots(tenant amber.TenantID, agent amber.AgentID, s wire.Snapshotter, others ...wire.Observer) wire.Snapshotter {
	return InstrumentSnapshots(tenant, agent, snapshotMeter{s, m}, append(others[:len(others):len(others)], m)...)
}

// Repository returns c, measured. Others watch it beside.
func (m *Metrics) Repository(tenant amber.TenantID, c wire.RepositoryChecker, others ...wire.Observer) wire.RepositoryChecker {
	return InstrumentRepository(tenant, checkMeter{c, m}, append(others[:len(others):len(others)], m)...)
}

// Publisher returns p, measured. Others watch it beside.
func (m *Metrics) Publisher(p events.Publisher, others ...wire.Observer) events.Publisher {
	return InstrumentPublisher(p, append(others[:len(others):len(others)], m)...)
}
