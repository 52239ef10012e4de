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
}

func newVaultMetrics(f promauto.Factory) vaultMetrics {
	return vaultMetrics{
		backups: f.NewCounterVec(counterOpts("vault_backups_total", "Automatic backups to the vault, by how they ended: ok, unchanged, or the kind of the error."),
			owned("outcome")),
		success: f.NewGaugeVec(gaugeOpts("vault_last_success_timestamp_seconds", "When the notes of an agent were last known to be in the vault, in Unix time."),
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
func (m *Metrics) BackedUp(tenant amber.TenantID, agent amber.AgentID, at amber.Time) {
	t, a := m.ids.labels(tenant, agent)
	m.vault.success.WithLabelValues(t, a).Set(unix(at))
}
