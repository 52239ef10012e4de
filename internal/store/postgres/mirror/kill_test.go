package mirror_test

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/store/storetest"
)

var cuts = flag.Int("cuts", 6, "at how many messages of each kind an import is killed; 0: at every one")

// generations are the states of all generations of an agent, oldest first.
func generations(t *testing.T, dsn string, a amber.AgentID) (gens []int64, states []string) {
	t.Helper()
	c := must.Get(pgx.Connect(t.Context(), dsn))(t)
	defer c.Close(context.Background())
	rows := must.Get(c.Query(t.Context(), `SELECT gen, state FROM amber_meta.generations WHERE agent = $1 ORDER BY gen`, string(a)))(t)
	var gen int64
	var state string
	must.Get(pgx.ForEachRow(rows, []any{&gen, &state}, func() error {
		gens, states = append(gens, gen), append(states, state)
		return nil
	}))(t)
	return gens, states
}

// An import, with the switch behind it, is killed at every message it sends: before the server has the message, and
// after the server has answered. The agent is the old generation or the new one, no reader sees anything else, and a
// sweep leaves nothing behind.
func TestImportKilled(t *testing.T) {
	t.Parallel()
	pg, name := fresh(t)
	if pg.Addr() == "" {
		t.Skip("AMBER_TEST_POSTGRES names a server on a socket, and the test needs one that a proxy can lead to")
	}
	dsn := pg.DSN(name)
	direct := agent(connect(t, dsn), "killed")
	clock := newClock()
	s := use(t, direct, clock)
	must.Do(t, storetest.Populate(t.Context(), s.Store(), clock))
	old, _, documents := exported(t, direct)
	must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "in the other files alone"}))(t)
	other, _, _ := exported(t, direct)
	live, _, err := direct.Server.Live(t.Context(), direct.Tenant, direct.ID)
	must.Do(t, err)
	// holds has the names in an agent that is made of each folder of files.
	holds := map[string]map[string]bool{other: names(t, dsn, live)}
	holds[old] = maps.Clone(holds[other])
	delete(holds[old], "in the other files alone")
	is := other

	proxy := pgtest.NewProxy(t, pg.Addr())
	through := func() (*postgres.Server, error) {
		return postgres.Connect(t.Context(), postgres.ServerOptions{
			DSN: proxy.DSN(name), Clock: time.Now, Random: rand.Reader, Settle: 100 * time.Millisecond, Connections: 2,
		})
	}
	// attempt replaces the agent; the rule sees the messages from the first of the import on.
	attempt := func(dir string, rule pgtest.Rule) error {
		proxy.OnFrontend(nil)
		server := must.Get(through())(t)
		defer server.Close()
		proxy.OnFrontend(rule)
		b, err := mirror.Import(t.Context(), agent(server, direct.ID), files(dir), mirror.ImportOptions{Documents: all(documents), Lease: time.Millisecond})
		if err == nil {
			_, err = b.Switch(t.Context(), mirror.SwitchOptions{})
		}
		return err
	}
	var sent atomic.Int64
	must.Do(t, attempt(old, func(pgtest.Message) pgtest.Action { sent.Add(1); return pgtest.Forward }))
	is = old
	total := sent.Load()
	must.Hold(t, total > 100, "an import sends %d messages", total)
	step := int64(1)
	if *cuts > 0 {
		step = max(1, total/int64(*cuts))
	}
	switched := 0
	for _, last := range []pgtest.Action{pgtest.Cut, pgtest.Swallow} {
		// From the end on: that is where the switch is.
		for n := total; n > 0; n -= step {
			if *cuts > 0 && total-n < 5 {
				step = 1
			} else if *cuts > 0 {
				step = max(1, total/int64(*cuts))
			}
			next := old
			if is == old {
				next = other
			}
			sent.Store(0)
			err := attempt(next, func(pgtest.Message) pgtest.Action {
				switch at := sent.Add(1); {
				case at < n:
					return pgtest.Forward
				case at == n:
					return last
				}
				return pgtest.Cut // nothing of it is heard again
			})
			what := fmt.Sprintf("killed at message %d of %d (%d): %v", n, total, last, err)
			live, _, lerr := direct.Server.Live(t.Context(), direct.Tenant, direct.ID)
			must.Do(t, lerr)
			got := names(t, dsn, live)
			switch {
			case maps.Equal(got, holds[is]):
				must.Hold(t, err != nil, "%s: it says that the agent is the new generation", what)
			case maps.Equal(got, holds[next]):
				is = next
				switched++
			default:
				t.Fatalf("%s: the agent is neither the one nor the other", what)
			}
			must.Equal(t, what+": memories that a reader sees", must.Get(s.Stats(t.Context()))(t).Memories, must.Get(use(t, direct, clock).Stats(t.Context()))(t).Memories)
			clean(t, what, direct, dsn, live)
		}
	}
	must.Hold(t, switched > 0, "no attempt got to its end")
	_, e, _ := exported(t, direct)
	must.Hold(t, e.Documents > 0, "there are no documents")
	must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "it is in use"}))(t)
}

// clean removes what is left of an attempt and looks that nothing is left but live and old generations.
func clean(t *testing.T, what string, a mirror.Agent, dsn string, live int64) {
	t.Helper()
	// The server may still be at work for a client that is gone.
	deadline := time.Now().Add(30 * time.Second)
	for {
		_, err := mirror.Sweep(t.Context(), a.Server)
		_, states := generations(t, dsn, a.ID)
		if err == nil && !slices.Contains(states, "building") && !slices.Contains(states, "dropping") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: after the sweep there are generations %v: %v", what, states, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	gens, states := generations(t, dsn, a.ID)
	for i, gen := range gens {
		if states[i] == "old" {
			must.Do(t, mirror.Discard(t.Context(), a.Server, gen))
		}
	}
	c := must.Get(pgx.Connect(t.Context(), dsn))(t)
	defer c.Close(context.Background())
	for _, query := range []string{
		`SELECT count(DISTINCT gen) FROM amber.changes WHERE gen <> $1`, `SELECT count(DISTINCT gen) FROM amber.memories WHERE gen <> $1`,
		`SELECT count(DISTINCT gen) FROM amber.heads WHERE gen <> $1`, `SELECT count(DISTINCT gen) FROM amber_control.tasks WHERE gen <> $1`,
		`SELECT count(*) FROM amber_meta.generations WHERE gen <> $1`, `SELECT count(*) FROM amber_meta.work WHERE $1::int8 > 0`,
	} {
		var n int64
		must.Do(t, c.QueryRow(t.Context(), query, live).Scan(&n))
		must.Equal(t, what+": "+query, n, 0)
	}
}

// A removal that is cut off goes on later.
func TestDiscardKilled(t *testing.T) {
	t.Parallel()
	pg, name := fresh(t)
	dsn := pg.DSN(name)
	a, clock := agent(connect(t, dsn), "going"), newClock()
	must.Do(t, storetest.Populate(t.Context(), use(t, a, clock).Store(), clock))
	dir, e, documents := exported(t, a)
	b := must.Get(mirror.Import(t.Context(), a, files(dir), mirror.ImportOptions{Documents: all(documents)}))(t)
	must.Kind(t, "discard what is being built", mirror.Discard(t.Context(), a.Server, b.Gen), amber.KindBusy)
	must.Equal(t, "sweep while its owner lives", must.Get(mirror.Sweep(t.Context(), a.Server))(t), nil)
	must.Fail(mirror.Import(t.Context(), a, files(dir), mirror.ImportOptions{}))(t, "a second import", amber.KindBusy)
	// Each time it gets a little further, until some of its many steps are done.
	for state, i := "building", 1; state == "building"; i++ {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*2*time.Millisecond)
		must.Hold(t, b.Discard(ctx) != nil, "the removal ended within %d ms", 2*i)
		cancel()
		_, states := generations(t, dsn, a.ID)
		must.Hold(t, len(states) == 2, "there are generations %v", states)
		state = states[1]
	}
	must.Equal(t, "swept", must.Get(mirror.Sweep(t.Context(), a.Server))(t), []int64{b.Gen})
	must.Equal(t, "rows that are left", left(t, dsn, b.Gen), nil)
	must.Fail(b.Switch(t.Context(), mirror.SwitchOptions{}))(t, "switch to what is gone", amber.KindConflict)
	must.Do(t, mirror.Discard(t.Context(), a.Server, b.Gen)) // there is none
	_, after, _ := exported(t, a)
	tables(t, "the live generation", after.Tables, e.Tables)

	// One whose owner is not heard of is swept, and its owner notices.
	b = must.Get(mirror.Import(t.Context(), a, files(dir), mirror.ImportOptions{Lease: time.Millisecond}))(t)
	time.Sleep(5 * time.Millisecond)
	must.Equal(t, "swept", must.Get(mirror.Sweep(t.Context(), a.Server))(t), []int64{b.Gen})
	must.Fail(b.Switch(t.Context(), mirror.SwitchOptions{}))(t, "switch to what was swept", amber.KindConflict)
	must.Equal(t, "rows that are left", left(t, dsn, b.Gen), nil)

	// Another one that became live meanwhile is not replaced.
	one := must.Get(mirror.Import(t.Context(), a, files(dir), mirror.ImportOptions{Lease: time.Millisecond}))(t)
	time.Sleep(5 * time.Millisecond)
	two := must.Get(mirror.Import(t.Context(), a, files(dir), mirror.ImportOptions{}))(t)
	must.Fail(one.Switch(t.Context(), mirror.SwitchOptions{}))(t, "switch without the lease", amber.KindConflict)
	must.Get(two.Switch(t.Context(), mirror.SwitchOptions{}))(t)
	must.Fail(one.Switch(t.Context(), mirror.SwitchOptions{}))(t, "switch behind another", amber.KindConflict)
	must.Do(t, one.Discard(t.Context()))
}
