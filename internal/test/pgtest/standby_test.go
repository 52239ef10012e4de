package pgtest

import (
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// TestAPromotedStandbyHasWhatWasCommitted walks through a failover, with a program that goes
// by all hosts, and with one behind PgBouncer.
func TestAPromotedStandbyHasWhatWasCommitted(t *testing.T) {
	t.Parallel()
	primary := New(t, Options{Durable: true})
	standby := must.Get(primary.Standby(t.Context(), "b", true))(t)
	bouncer := NewBouncer(t, primary, BouncerOptions{})
	hosts := Hosts("postgres", primary, standby)
	run(t, hosts, "CREATE TABLE t (v int)")
	run(t, bouncer.DSN("postgres"), "INSERT INTO t VALUES (1)")
	must.Error(t, "a write to a standby", must.Err(connect(t, standby.DSN("postgres")).Exec(t.Context(), "INSERT INTO t VALUES (2)")))

	must.Do(t, primary.Kill())
	must.Do(t, standby.Promote(t.Context()))
	must.Do(t, bouncer.Point(t.Context(), standby))
	must.Equal(t, "rows by all hosts", rows(t, hosts), 1)
	run(t, bouncer.DSN("postgres"), "INSERT INTO t VALUES (3)")
	must.Equal(t, "rows of the new primary", rows(t, standby.TCP("postgres")), 2)

	// The old one comes back on its old timeline, and knows nothing of it.
	must.Do(t, primary.Restart(t.Context()))
	must.Equal(t, "rows of the old primary", rows(t, primary.DSN("postgres")), 1)
}
