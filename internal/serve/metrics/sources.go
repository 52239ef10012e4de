package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/wire"
)

// Sources are asked for what only they know. Each may be nil. All but Look
// answer at once: they are asked at every scrape.
type Sources struct {
	OpenAgents func() int
	Workers    func() []wire.WorkerHealth // their names are part of the program
	Bus        func() BusState
	Database   func() DatabaseState // of servers whose agents live in PostgreSQL
	// Look looks at every agent that is to be shown, as [Look] does, and its error says what it
	// could not see. Only [Metrics.Look] calls it. It returns when its context ends.
	Look func(ctx context.Context) ([]AgentGauges, error)
}

// BusState is how the connection to a broker is doing.
type BusState struct {
	Connected bool
	Published int64 // events that the broker has taken
	Failed    int64 // attempts that came to nothing
	Skipped   int64 // events that were left out because they can never be published
	Lag       int64 // events that wait; negative when the number is not known
}

// DatabaseState is how the PostgreSQL databases of a server are doing, added up.
type DatabaseState struct {
	pgdb.Counts
	SetBack  bool           // one was set back, and is not used
	Oldest   float64        // how long the oldest view of a database is open, in seconds; negative when that is not known
	LagBytes int64          // how much of the log the slowest standby has not replayed; negative when none follows, or that is not told
	Servers  int64          // that live; 0 when that is not known
	Agents   map[string]int // by class
}

// sources is the collector of what others know.
type sources struct {
	m *Metrics

	mu      sync.Mutex
	s       Sources
	gauges  []AgentGauges         // of the last look
	seenAt  time.Time             // when it was
	success map[string]amber.Time // when a worker was last seen to have done well
}

func newSources(m *Metrics) *sources { return &sources{m: m, success: map[string]amber.Time{}} }

// Watch says whom to ask. It replaces what was said before.
func (m *Metrics) Watch(s Sources) {
	m.sources.mu.Lock()
	defer m.sources.mu.Unlock()
	m.sources.s = s
}

func (s *sources) get() Sources {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.s
}

func (s *sources) keep(gauges []AgentGauges, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gauges, s.seenAt = gauges, at
}

// fresh returns the gauges of the last look, unless it was too long ago.
func (s *sources) fresh(now time.Time) []AgentGauges {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.seenAt) > staleAfter*Interval {
		return nil
	}
	return s.gauges
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

var (
	descAgentsOpen    = desc("agents_open", "Agents that are open.")
	descWorkerUp      = desc("worker_up", "Whether the last round of a worker went well.", "worker")
	descWorkerRuns    = desc("worker_runs_total", "Rounds of a worker.", "worker")
	descWorkerFails   = desc("worker_failures_total", "Rounds of a worker that failed.", "worker")
	descWorkerSuccess = desc("worker_last_success_timestamp_seconds", "When a worker was last seen to have done well, in Unix time.", "worker")
	descBusConnected  = desc("nats_connected", "Whether there is a connection to the broker.")
	descBusPublished  = desc("nats_published_total", "Events that the broker has taken.")
	descBusFailed     = desc("nats_failed_total", "Attempts to publish that came to nothing.")
	descBusSkipped    = desc("nats_skipped_total", "Events that were left out because they can never be published.")
	descBusLag        = desc("nats_lag_entries", "Events that wait to be published.")

	descDatabaseConns   = desc("database_connections", "Connections to PostgreSQL, by state: open, used, and most there may be.", "state")
	descDatabaseWaits   = desc("database_connection_waits_total", "Times that no connection to PostgreSQL was free.")
	descDatabaseWrites  = desc("database_writes_total", "Transactions that write.")
	descDatabaseHead    = desc("database_head_wait_seconds_total", "Time until transactions that write had their locks.")
	descDatabaseTaken   = desc("database_heads_taken_total", "Transactions that gave up waiting for the writer of another server.")
	descDatabaseRetries = desc("database_retries_total", "Transactions that were begun again because a connection was lost.")
	descDatabaseSettled = desc("database_commits_settled_total", "Commits whose answer was lost, and that were looked for.")
	descDatabaseUnknown = desc("database_commits_unknown_total", "Commits of which it was not found out whether they were stored.")
	descDatabaseBack    = desc("database_set_back", "Whether a database was set back and is not used.")
	descDatabaseOldest  = desc("database_oldest_view_seconds", "How long the oldest view of the database is open; vacuum removes nothing newer.")
	descDatabaseLag     = desc("database_standby_lag_bytes", "How much of the log the slowest standby has not replayed.")
	descDatabaseServers = desc("database_servers", "Servers of the common database that live.")
	descDatabaseAgents  = desc("database_agents", "Agents, by how many changes their memory has seen: up to a thousand, ten_thousand, hundred_thousand, million, more.", "class")
)

func databaseDescs() []*prometheus.Desc {
	return []*prometheus.Desc{
		descDatabaseConns, descDatabaseWaits, descDatabaseWrites, descDatabaseHead, descDatabaseTaken, descDatabaseRetries, descDatabaseSettled,
		descDatabaseUnknown, descDatabaseBack, descDatabaseOldest, descDatabaseLag, descDatabaseServers, descDatabaseAgents,
	}
}

func collectDatabase(ch chan<- prometheus.Metric, d DatabaseState) {
	for state, n := range map[string]int64{"open": d.Connections, "used": d.InUse, "most": d.Most} {
		ch <- gauge(descDatabaseConns, float64(n), state)
	}
	ch <- counter(descDatabaseWaits, d.PoolWaits)
	ch <- counter(descDatabaseWrites, d.Writes)
	ch <- prometheus.MustNewConstMetric(descDatabaseHead, prometheus.CounterValue, d.HeadWait.Seconds())
	ch <- counter(descDatabaseTaken, d.HeadsTaken)
	ch <- counter(descDatabaseRetries, d.Retries)
	ch <- counter(descDatabaseSettled, d.Settled)
	ch <- counter(descDatabaseUnknown, d.Unknown)
	ch <- gauge(descDatabaseBack, truth(d.SetBack))
	if d.Oldest >= 0 {
		ch <- gauge(descDatabaseOldest, d.Oldest)
	}
	if d.LagBytes >= 0 {
		ch <- gauge(descDatabaseLag, float64(d.LagBytes))
	}
	if d.Servers > 0 {
		ch <- gauge(descDatabaseServers, float64(d.Servers))
	}
	for class, n := range d.Agents {
		ch <- gauge(descDatabaseAgents, float64(n), class)
	}
}

// Describe implements [prometheus.Collector].
func (s *sources) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descAgentsOpen, descWorkerUp, descWorkerRuns, descWorkerFails, descWorkerSuccess,
		descBusConnected, descBusPublished, descBusFailed, descBusSkipped, descBusLag,
	} {
		ch <- d
	}
	for _, d := range databaseDescs() {
		ch <- d
	}
	for _, g := range agentDescs() {
		ch <- g
	}
}

// Collect implements [prometheus.Collector].
func (s *sources) Collect(ch chan<- prometheus.Metric) {
	from := s.get()
	if from.OpenAgents != nil {
		ch <- gauge(descAgentsOpen, float64(from.OpenAgents()))
	}
	if from.Bus != nil {
		b := from.Bus()
		ch <- gauge(descBusConnected, truth(b.Connected))
		ch <- counter(descBusPublished, b.Published)
		ch <- counter(descBusFailed, b.Failed)
		ch <- counter(descBusSkipped, b.Skipped)
		if b.Lag >= 0 {
			ch <- gauge(descBusLag, float64(b.Lag))
		}
	}
	if from.Database != nil {
		collectDatabase(ch, from.Database())
	}
	s.collectWorkers(ch)
	now := s.m.o.Clock()
	s.m.collectAgents(ch, s.fresh(now), now)
}

func gauge(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func counter(d *prometheus.Desc, n int64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
