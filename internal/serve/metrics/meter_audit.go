package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// auditMetrics measure the audit log.
type auditMetrics struct {
	entries  *prometheus.CounterVec
	failures prometheus.Counter
	damaged  prometheus.Gauge
}

func newAuditMetrics(f promauto.Factory) auditMetrics {
	return auditMetrics{
		entries: f.NewCounterVec(counterOpts("audit_entries_total", "Entries that were written to the audit log, by how what they tell of ended."),
			owned("outcome")),
		failures: f.NewCounter(counterOpts("audit_failures_total", "Entries that could not be written to the audit log.")),
		damaged:  f.NewGauge(gaugeOpts("audit_damaged", "Places of the audit log that the last verification has found damaged.")),
	}
}

// outcomes are the values of the label outcome.
var outcomes = func() closed {
	c := newClosed(outcomeOK)
	for _, k := range amber.Kinds() {
		c[string(k)] = true
	}
	return c
}()

// Audit returns l, measured.
func (m *Metrics) Audit(l wire.AuditLog) wire.AuditLog { return auditMeter{l, m} }

type auditMeter struct {
	wire.AuditLog
	m *Metrics
}

func (a auditMeter) Record(ctx context.Context, e wire.AuditEntry) error {
	err := a.AuditLog.Record(ctx, e)
	if err != nil {
		a.m.audit.failures.Inc()
		return err
	}
	a.m.AuditEntered(e)
	return nil
}

// AuditEntered counts an entry of the audit log that is durable, also one that was written in the
// transaction of the change it records.
func (m *Metrics) AuditEntered(e wire.AuditEntry) {
	label := m.ids.known // a refused entry may be about a tenant that does not exist
	if e.Outcome == outcomeOK {
		label = m.ids.labels
	}
	tenant, agent := label(e.Tenant, e.Agent)
	m.audit.entries.WithLabelValues(tenant, agent, outcomes.of(e.Outcome)).Inc()
}

func (a auditMeter) VerifyAudit(ctx context.Context) (wire.AuditReport, error) {
	r, err := a.AuditLog.VerifyAudit(ctx)
	if err == nil {
		a.m.audit.damaged.Set(float64(len(r.Damaged)))
	}
	return r, err
}

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
