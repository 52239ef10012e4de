package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

func newAuthMetrics(f promauto.Factory) *prometheus.CounterVec {
	return f.NewCounterVec(counterOpts("auth_failures_total", "Callers who were not let in, by why."), []string{"reason"})
}

// The reasons why a caller is not let in.
const (
	AuthMissing = "missing" // no token was shown
	AuthRefused = "refused" // it is unknown, wrong, expired or revoked
	AuthScope   = "scope"   // it is not for what was asked
	AuthError   = "error"   // the token could not be checked
)

var authReasons = newClosed(AuthMissing, AuthRefused, AuthScope, AuthError)

// AuthFailed counts a caller who was not let in, for one of the reasons above.
// The callers that [Metrics.Tokens] sees are counted already.
func (m *Metrics) AuthFailed(reason string) { m.auth.WithLabelValues(authReasons.of(reason)).Inc() }

// Tokens returns t, and counts the callers that t does not let in.
func (m *Metrics) Tokens(t wire.Tokens) wire.Tokens { return tokenMeter{t, m} }

type tokenMeter struct {
	wire.Tokens
	m *Metrics
}

func (t tokenMeter) Authenticate(ctx context.Context, secret string) (wire.Grant, error) {
	g, err := t.Tokens.Authenticate(ctx, secret)
	switch {
	case err == nil, ctx.Err() != nil: // a client that has gone was not refused
	case amber.KindOf(err) == amber.KindRefused:
		t.m.AuthFailed(AuthRefused)
	default:
		t.m.AuthFailed(AuthError)
	}
	return g, err
}
