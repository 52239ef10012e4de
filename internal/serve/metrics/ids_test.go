package metrics_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/metrics"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// tell reports an operation of an agent to m.
func tell(m *metrics.Metrics, tenant amber.TenantID, agent amber.AgentID) {
	_, end := m.Begin(context.Background(), wire.Operation{Tenant: tenant, Agent: agent, Layer: "long_term", Name: "get"})
	end(wire.Outcome{})
}

// values returns how many values a label of the operations has.
func values(t *testing.T, m *metrics.Metrics, label string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, line := range lines(t, m, "amber_operations_total") {
		_, rest, _ := strings.Cut(line, label+`="`)
		value, _, _ := strings.Cut(rest, `"`)
		out[value]++
	}
	return out
}

func TestTenantsAreBounded(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	var wg sync.WaitGroup
	for g := range 8 { // all at once, over the same names
		wg.Go(func() {
			for i := range metrics.MaxTenants + 50 {
				tell(m, amber.TenantID(fmt.Sprintf("t%d", (i*(g+1))%(metrics.MaxTenants+50))), "a")
			}
		})
	}
	wg.Wait()
	got := values(t, m, "tenant")
	if len(got) != metrics.MaxTenants+1 || got["_other"] != 1 {
		t.Errorf("%d tenants with %d of _other, want %d and 1", len(got), got["_other"], metrics.MaxTenants+1)
	}
	must.Equal(t, "lines that say that tenants are not told apart", len(lines(t, m, "amber_label_overflow_total")), 1)
}

func TestAgentsAreBoundedOverAllTenants(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range metrics.MaxAgents {
				tell(m, amber.TenantID(fmt.Sprintf("t%d", g)), amber.AgentID(fmt.Sprintf("a%d", i)))
			}
		})
	}
	wg.Wait()
	if n := len(lines(t, m, "amber_operations_total")); n > metrics.MaxAgents+4 {
		t.Errorf("%d series, want %d agents and an _other for each of 4 tenants", n, metrics.MaxAgents)
	}
	if got := values(t, m, "tenant"); len(got) != 4 || got["_other"] != 0 {
		t.Errorf("tenants %v, want all 4", got)
	}
}

// One tenant cannot take the labels of the others, neither with many agents nor
// by asking for agents that are nowhere.
func TestATenantHasAShareOfLabels(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	log := m.Audit(writtenOff{})
	for i := range metrics.MaxAgents {
		tell(m, "greedy", amber.AgentID(fmt.Sprintf("a%d", i)))
		must.Do(t, log.Record(t.Context(), wire.AuditEntry{Tenant: "nosy", Agent: amber.AgentID(fmt.Sprintf("b%d", i)), Outcome: "not_found"}))
	}
	tell(m, "modest", "mine")
	if got := values(t, m, "agent"); got["mine"] != 1 || len(got) != metrics.MaxAgentsOfOne+2 {
		t.Errorf("%d agents with %d of the modest tenant", len(got), got["mine"])
	}
}

// writtenOff is an audit log that keeps nothing.
type writtenOff struct{ wire.AuditLog }

func (writtenOff) Record(context.Context, wire.AuditEntry) error { return nil }

func TestOnlyIDsBecomeLabels(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	for _, id := range []string{"UPPER", "the cat", "../etc", "a\n", "_all", "_other", strings.Repeat("a", 65), "é", "other", "ok-id"} {
		tell(m, amber.TenantID(id), "a")
		tell(m, tenant, amber.AgentID(id))
	}
	tell(m, "", "")
	tell(m, tenant, "")
	must.Equal(t, "", values(t, m, "tenant"), map[string]int{"acme": 4, "_other": 1, "_all": 1, "other": 1, "ok-id": 1})
	must.Equal(t, "", values(t, m, "agent"), map[string]int{"a": 2, "_other": 2, "_all": 2, "other": 1, "ok-id": 1})
}

// FuzzNothingFromOutsideBecomesALabel hands the same text to everything that
// takes names.
func FuzzNothingFromOutsideBecomesALabel(f *testing.F) {
	for _, seed := range []string{"", "GET", "get", "/v1/x", "other", "_other", "ok", "internal", "the cat", "long_term", "a\x00b", "\xff", `"} 1`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m := newMetrics(t)
		m.ExpectRoutes("/known")
		m.ExpectTools("known")
		mark := s + "\u2603" // in no set
		m.HTTP(mark, mark, len(s), 0, 1, 1)
		m.Tool(mark, &amber.Error{Kind: amber.Kind(mark)}, 0)
		m.AuthFailed(mark)
		for _, layer := range []string{"long_term", "snapshots"} {
			_, end := m.Begin(t.Context(), wire.Operation{Layer: layer, Name: "get", Tenant: amber.TenantID(mark), Agent: amber.AgentID(mark)})
			end(wire.Outcome{Err: &amber.Error{Kind: amber.Kind(mark)}, In: 1, Out: 1, Items: 1})
		}
		m.Watch(metrics.Sources{Workers: func() []wire.WorkerHealth { return []wire.WorkerHealth{{Name: mark, LastError: mark}} }})
		body, code := scrape(t, m, everybody)
		must.Equal(t, "status", code, 200)
		must.Hides(t, "what came from outside", body, "\u2603")
	})
}
