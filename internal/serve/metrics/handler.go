package metrics

import (
	"encoding/json"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// maxScrapes bounds how many scrapes are answered at one time.
const maxScrapes = 8

// Handler serves the metrics to requests that may read. A grant for every tenant
// sees all series, a grant for a tenant those of that tenant, and a grant for an
// agent those of that agent. Series about the process are only for grants for every tenant.
func (m *Metrics) Handler(g wire.Grant) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.Has(wire.TokenRead) {
			fail(w, amber.Errorf(amber.KindRefused, "show metrics", "", "the token lacks the scope %s", string(wire.TokenRead)))
			return
		}
		if !g.Bound.None() { // series count the records of all
			fail(w, amber.Errorf(amber.KindRefused, "show metrics", "", "metrics are of whole agents, and the token is bound to %s", g.Bound))
			return
		}
		select {
		case m.scrapes <- struct{}{}:
			defer func() { <-m.scrapes }()
		default:
			w.Header().Set("Retry-After", "1")
			fail(w, amber.Errorf(amber.KindUnreachable, "show metrics", "", "too many ask at one time"))
			return
		}
		families, err := m.registry.Gather()
		if err != nil {
			if !everything(g) { // the error names series
				err = amber.Errorf(amber.KindInternal, "show metrics", "", "metrics cannot be gathered")
			}
			fail(w, err)
			return
		}
		shown := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return visible(g, families), nil })
		promhttp.HandlerFor(shown, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	})
}

// everything reports whether a grant is for every agent of every tenant.
func everything(g wire.Grant) bool { return g.Tenant == "" && g.Agent == "" }

// visible returns what a grant may see. The families are the caller's own.
func visible(g wire.Grant, families []*dto.MetricFamily) []*dto.MetricFamily {
	if everything(g) {
		return families
	}
	var out []*dto.MetricFamily
	for _, f := range families {
		var series []*dto.Metric
		for _, s := range f.GetMetric() {
			if belongs(g, s) {
				series = append(series, s)
			}
		}
		if len(series) > 0 {
			out = append(out, &dto.MetricFamily{Name: f.Name, Help: f.Help, Type: f.Type, Unit: f.Unit, Metric: series})
		}
	}
	return out
}

// belongs reports whether a series is of the tenant and of the agent of a grant. A series without
// the label belongs to no grant.
func belongs(g wire.Grant, s *dto.Metric) bool {
	var tenant, agent string
	for _, l := range s.GetLabel() {
		switch l.GetName() {
		case labelTenant:
			tenant = l.GetValue()
		case labelAgent:
			agent = l.GetValue()
		}
	}
	return g.Tenant != "" && tenant == string(g.Tenant) && (g.Agent == "" || agent == string(g.Agent))
}

func fail(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(amber.KindOf(err).HTTPStatus())
	_ = json.NewEncoder(w).Encode(wire.FailureOf(err)) // fails only when the client has gone
}
