package metrics_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
)

// TestVaultTimesAreTakenBack: nobody is alarmed by the time of a backup that is
// nobody's any more, or of a failure that is over.
func TestVaultTimesAreTakenBack(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	shows := func(want bool) {
		t.Helper()
		text, _ := scrape(t, m, everybody)
		for _, name := range []string{"amber_vault_last_success_timestamp_seconds{", "amber_vault_failing_since_timestamp_seconds{"} {
			if strings.Contains(text, name) != want {
				t.Errorf("%s is there: %v, want %v", name, !want, want)
			}
		}
	}
	shows(false)
	m.BackedUp(tenant, agent, amber.At(start))
	m.BackupsFail(tenant, agent, amber.At(start))
	shows(true)
	m.BackedUp(tenant, agent, amber.Time{})
	m.BackupsFail(tenant, agent, amber.Time{})
	shows(false)
}
