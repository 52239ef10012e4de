// Package metrics measures any of the root contracts and shows what it has
// measured to Prometheus.
//
// [Instrument], [InstrumentSnapshots] and their like wrap a contract so that
// observers see every call; the caller of the contract sees no difference.
// [Metrics] is one observer, and package trace has another.
//
//	m, err := metrics.New(metrics.Options{Clock: time.Now, Version: version})
//	store = m.Store(tenant, agent, store)
//	http.Handle("GET /metrics", m.Handler(grantOf))
//
// No data that an observer gets holds text. Every label comes from a closed set,
// but those of tenants and agents, which are bounded: see [MaxTenants] and
// [MaxAgents]. Gauges that need a look at an agent are collected in the
// background by [Metrics.Run] and never while Prometheus scrapes.
//
// Every metric is described in docs/metrics.md.
package metrics
