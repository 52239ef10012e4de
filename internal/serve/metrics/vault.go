package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/amber-memory/amber"
)

// outcomeUnchanged is of a backup that had nothing new to take.
const outcomeUnchanged = "unchanged"

// vaultMetrics measure the backups that a server makes of its own accord.
type vaultMetrics struct {
	backups *prometheus.CounterVec
	success *prometheus.GaugeVec
	failing *prometheus.GaugeVec
}

func newVaultMetrics(f promauto.Factory) vaultMetrics {
	return vaultMetrics{
		backups: f.NewCounterVec(counterOpts("vault_backups_total", "Automatic backups to the vault, by how they ended: ok, unchanged, or the kind of the error."),
			owned("outcome")),
		success: f.NewGaugeVec(gaugeOpts("vault_last_success_timestamp_seconds", "When the notes of an agent were last known to be in the vault, in Unix time."),
			owned()),
		failing: f.NewGaugeVec(gaugeOpts("vault_failing_since_timestamp_seconds", "Since when every automatic backup of an agent has failed, in Unix time; not there while they succeed."),
			owned()),
	}
}

// Backup counts an automatic backup of an agent. Unchanged says that the vault
// had everything already.
func (m *Metrics) Backup(tenant amber.TenantID, agent amber.AgentID, unchanged bool, err error) {
	outcome := outcomeOf(err)
	if err == nil && unchanged {
		outcome = outcomeUnchanged
	}
	t, a := m.ids.labels(tenant, agent)
	m.vault.backups.WithLabelValues(t, a, outcome).Inc()
}

// BackedUp tells when the notes of an agent were last known to be in the vault.
// The zero time removes the agent: its backup has no age any more.
func (m *Metrics) BackedUp(tenant amber.TenantID, agent amber.AgentID, at amber.Time) {
	m.instant(m.vault.success, tenant, agent, at)
}

// BackupsFail tells since when the backups of an agent fail; the zero time when
// they do not.
func (m *Metrics) BackupsFail(tenant amber.TenantID, agent amber.AgentID, since amber.Time) {
	m.instant(m.vault.failing, tenant, agent, since)
}

// instant shows an instant of an agent, or shows it no longer. An agent without labels of its own
// is left out: the sum of instants of several agents means nothing.
func (m *Metrics) instant(g *prometheus.GaugeVec, tenant amber.TenantID, agent amber.AgentID, at amber.Time) {
	t, a := m.ids.labels(tenant, agent)
	switch {
	case t == idOther || a == idOther:
	case at.IsZero():
		g.DeleteLabelValues(t, a)
	default:
		g.WithLabelValues(t, a).Set(unix(at))
	}
}
