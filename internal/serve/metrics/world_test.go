package metrics_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/metrics"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	tenant = amber.TenantID("acme")
	agent  = amber.AgentID("scout")
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func now() time.Time { return start }

func random() io.Reader { return rand.NewChaCha8([32]byte{'a', 'm', 'b', 'e', 'r'}) }

func newMetrics(t *testing.T) *metrics.Metrics {
	t.Helper()
	return metrics.New(metrics.Options{Clock: now, Version: "v1.2.3"})
}

// beside returns metrics with an observer beside them.
func beside(o wire.Observer) *metrics.Metrics {
	return metrics.New(metrics.Options{Clock: now, Beside: o})
}

func newStore(t *testing.T) amber.Store {
	t.Helper()
	s := must.Get(inmem.New(inmem.Options{Clock: now, Random: random()}))(t)
	return s.Store()
}

// everybody may read everything.
var everybody = wire.Grant{Scopes: []wire.TokenScope{wire.TokenRead}}

// scrape returns what a grant is shown, and the status.
func scrape(t *testing.T, m *metrics.Metrics, g wire.Grant) (string, int) {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler(g).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String(), w.Code
}

// lines returns the samples of one metric as everybody sees them.
func lines(t *testing.T, m *metrics.Metrics, name string) []string {
	t.Helper()
	body, code := scrape(t, m, everybody)
	if code != http.StatusOK {
		t.Fatalf("status %d: %s", code, body)
	}
	var out []string
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, name); ok && rest != "" && strings.ContainsAny(rest[:1], "{ ") {
			out = append(out, line)
		}
	}
	return out
}

// errSecret is an error whose text must appear nowhere.
var errSecret = errors.New("the cat sat on it")

// tape is an observer that writes down the operations and outcomes that it gets.
type tape struct {
	ops  []wire.Operation
	outs []wire.Outcome
}

type tapeKey struct{}

func (r *tape) Begin(ctx context.Context, op wire.Operation) (context.Context, func(wire.Outcome)) {
	r.ops = append(r.ops, op)
	return context.WithValue(ctx, tapeKey{}, op.Name), func(o wire.Outcome) { r.outs = append(r.outs, o) }
}
