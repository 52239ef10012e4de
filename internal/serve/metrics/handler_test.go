package metrics_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/metrics"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// crowd returns metrics of three agents of two tenants, of a whole tenant, and
// of the process.
func crowd(t *testing.T) *metrics.Metrics {
	t.Helper()
	m := newMetrics(t)
	m.ExpectRoutes("/v1/health")
	m.HTTP("/v1/health", "GET", 200, 0, 1, 1)
	for _, who := range []struct {
		tenant amber.TenantID
		agent  amber.AgentID
	}{{"acme", "scout"}, {"acme", "pilot"}, {"other", "scout"}, {"acme", ""}, {"", ""}, {"NO ID", "scout"}} {
		tell(m, who.tenant, who.agent)
	}
	g := m.Snapshots("", "", busySnapshots{})
	_, _ = g.CollectGarbage(t.Context(), wire.GCRequest{Tenant: "acme"})
	_, _ = g.CollectGarbage(t.Context(), wire.GCRequest{Tenant: "rival"})
	return m
}

// samples returns the samples of an exposition.
func samples(body string) []string {
	var out []string
	for line := range strings.Lines(body) {
		if !strings.HasPrefix(line, "#") {
			out = append(out, strings.TrimSuffix(line, "\n"))
		}
	}
	return out
}

func reads(g wire.Grant) wire.Grant {
	g.Scopes = []wire.TokenScope{wire.TokenRead}
	return g
}

func TestATenantSeesItsOwnSeriesOnly(t *testing.T) {
	t.Parallel()
	m := crowd(t)
	for name, c := range map[string]struct {
		grant wire.Grant
		want  int
		each  []string // in every sample
	}{
		"tenant":                {reads(wire.Grant{Tenant: "acme"}), 6, []string{`tenant="acme"`}},
		"agent":                 {reads(wire.Grant{Tenant: "acme", Agent: "pilot"}), 1, []string{`tenant="acme"`, `agent="pilot"`}},
		"same name elsewhere":   {reads(wire.Grant{Tenant: "rival", Agent: "scout"}), 0, nil},
		"called other":          {reads(wire.Grant{Tenant: "other"}), 1, []string{`tenant="other"`}},
		"nobody":                {reads(wire.Grant{Tenant: "nobody"}), 0, nil},
		"agent of every tenant": {reads(wire.Grant{Agent: "scout"}), 0, nil},
		"pretends to be many":   {reads(wire.Grant{Tenant: "_other"}), 1, []string{`tenant="_other"`}}, // no token can be for it
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, code := scrape(t, m, c.grant)
			if code != http.StatusOK {
				t.Fatalf("status %d: %s", code, body)
			}
			got := samples(body)
			must.Equal(t, "samples", len(got), c.want)
			for _, line := range got {
				for _, part := range c.each {
					if !strings.Contains(line, part) {
						t.Errorf("%s is shown", line)
					}
				}
			}
		})
	}
}

func TestAGrantForEveryTenantSeesEverything(t *testing.T) {
	t.Parallel()
	m := crowd(t)
	for _, scope := range []wire.TokenScope{wire.TokenRead, wire.TokenAdmin} {
		body, code := scrape(t, m, wire.Grant{Scopes: []wire.TokenScope{scope}})
		if code != http.StatusOK {
			t.Fatalf("status %d", code)
		}
		must.Says(t, string(scope), body,
			`tenant="acme"`, `tenant="other"`, `tenant="_all"`, "go_goroutines ", "amber_build_info{", "amber_http_requests_total{")
	}
}

func TestWithoutTheScopeNothingIsShown(t *testing.T) {
	t.Parallel()
	m := crowd(t)
	without := slices.DeleteFunc(wire.TokenScopes(), func(s wire.TokenScope) bool { return s == wire.TokenRead || s == wire.TokenAdmin })
	for name, g := range map[string]wire.Grant{
		"nobody": {}, "every tenant": {Scopes: without}, "tenant": {Tenant: "acme", Scopes: without},
	} {
		body, code := scrape(t, m, g)
		var f wire.Failure
		if err := json.Unmarshal([]byte(body), &f); err != nil || code != http.StatusForbidden || f.Error.Kind != amber.KindRefused {
			t.Errorf("%s: status %d, %s", name, code, body)
		}
	}
}

func TestTooManyScrapesAreSentAway(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	const room = 8
	inside, leave := make(chan struct{}), make(chan struct{})
	m.Watch(metrics.Sources{OpenAgents: func() int {
		inside <- struct{}{}
		<-leave
		return 1
	}})
	h := m.Handler(everybody)
	codes := make(chan int, room)
	for range room {
		go func() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
			codes <- w.Code
		}()
	}
	for range room {
		<-inside
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("status %d of one too many", w.Code)
	}
	close(leave)
	for range room {
		must.Equal(t, "status", <-codes, http.StatusOK)
	}
}
