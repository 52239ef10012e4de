package ledger_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/postgrestest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/wire"
)

// Entries of changes in another database come to the chain, each once, wherever carrying them was cut off.
func TestCarryingFromAnotherDatabase(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	if s.Addr() == "" {
		s = pgtest.New(t, pgtest.Options{})
	}
	type side struct {
		place
		proxy *pgtest.Proxy
		log   *ledger.DB
	}
	open := func() (d side) {
		name := postgrestest.Database(t, s)
		d.place = placeAt(t, s.DSN(name))
		d.proxy = pgtest.NewProxy(t, s.Addr())
		server := must.Get(postgres.Connect(t.Context(), postgres.ServerOptions{DSN: d.proxy.DSN(name), Clock: time.Now, Random: rand.Reader, Settle: time.Second / 8}))(t)
		t.Cleanup(func() { must.NoError(t, server.Close()) })
		d.log = must.Get(ledger.OpenPostgres(t.Context(), server.DB(), ledger.PostgresOptions{Clock: time.Now, Random: rand.Reader}))(t)
		t.Cleanup(func() { must.NoError(t, d.log.Close()) })
		return d
	}
	common, own := open(), open()
	nothing := func(*pgdb.Conn) error { return nil }
	n := 0
	enter := func(many int) {
		t.Helper()
		for range many {
			n++
			must.Do(t, own.enterBy(t, ledger.EnterAway, fmt.Sprint(n), nothing))
		}
	}
	enter(3)
	must.Equal(t, "entries away", must.Get(own.log.Away(t.Context()))(t), int64(3))
	must.Error(t, "a change that fails", own.enterBy(t, ledger.EnterAway, "undone", func(*pgdb.Conn) error { return errors.New("no") }))
	lost := func(rule pgtest.Rule, at side) {
		t.Helper()
		enter(2)
		must.Get(common.log.Away(t.Context()))(t) // connections are there
		must.Get(own.log.Away(t.Context()))(t)
		at.proxy.OnFrontend(rule)
		_, err := common.log.Carry(t.Context(), own.log, nil)
		at.proxy.OnFrontend(nil)
		t.Log(err)
	}
	for _, at := range []side{common, own} {
		lost(pgtest.PreventCommit, at)
		lost(pgtest.LoseCommit, at)
		lost(func(m pgtest.Message) pgtest.Action { // and nothing is looked up
			if m.IsCommit() {
				at.proxy.OnFrontend(func(pgtest.Message) pgtest.Action { return pgtest.Cut })
				return pgtest.Swallow
			}
			return pgtest.Forward
		}, at)
	}
	// A server that has lost the lease on the work carries nothing.
	enter(1)
	leases := common.server.Leases("a", 0)
	lease := must.Get(leases.Claim(t.Context(), postgres.Work{Kind: ledger.WorkCarry}))(t)
	must.Do(t, lease.Release(t.Context()))
	must.Is(t, "a lost lease", must.Err(common.log.Carry(t.Context(), own.log, lease.Check)), postgres.ErrLost)
	must.Hold(t, must.Get(common.log.Carry(t.Context(), own.log, nil))(t) > 0, "nothing was carried")
	must.Equal(t, "carried again", must.Get(common.log.Carry(t.Context(), own.log, nil))(t), 0)
	must.Equal(t, "entries away", must.Get(own.log.Away(t.Context()))(t), int64(0))
	must.Equal(t, "notes of entries that were carried", common.count(t, "audit_carried"), 0)

	seen := map[string]int{}
	for _, e := range must.Get(common.log.ListAudit(t.Context(), wire.AuditQuery{Limit: amber.MaxPageSize}))(t).Items {
		seen[e.Subject]++
	}
	want := map[string]int{}
	for i := range n {
		want[fmt.Sprint(i+1)] = 1
	}
	must.Equal(t, "entries", seen, want)
	verified(t, common.log, int64(n))

	// A verification reports the number of entries that wait in other databases.
	enter(2)
	d := must.Get(ledger.OpenPostgres(t.Context(), common.server.DB(), ledger.PostgresOptions{Clock: time.Now, Random: rand.Reader, Away: own.log.Away}))(t)
	t.Cleanup(func() { must.NoError(t, d.Close()) })
	r := verified(t, d, int64(n-2))
	must.Hold(t, strings.Contains(strings.Join(r.NotChecked, "\n"), "2 entries in databases of tenants that are not chained yet"), "%q", r.NotChecked)
	must.Equal(t, "entries away in a file", must.Get(newPlace(t).open(t).Away(t.Context()))(t), int64(0))
}
