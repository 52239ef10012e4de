// Package metrics measures any of the root contracts and shows what it has
// measured to Prometheus.
//
// [Metrics.Store], [Metrics.Snapshots] and their like wrap a contract so that
// the metrics see every call, and the tracer of package trace beside them; the
// caller of the contract sees no difference.
//
//	m := metrics.New(metrics.Options{Clock: time.Now, Version: version})
//	store = m.Store(tenant, agent, store)
//	http.Handle("GET /metrics", m.Handler(grantOf))
//
// No data that an observer gets holds text. Every label comes from a closed set,
// but those of tenants and agents, which are bounded: see [MaxTenants] and
// [MaxAgents]. Gauges that need a look at an agent are collected in the
// background by [Metrics.Look] and never while Prometheus scrapes.
//
// Every metric is described in docs/metrics.md.
package metrics
