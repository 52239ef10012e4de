package mirror_test

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/store/storetest"
)

// durable is a new database that keeps what it acknowledged, as those in use do, and a connection to it that no policy concerns.
func durable(t testing.TB) (*pgtest.Server, string, *pgx.Conn) {
	t.Helper()
	s, name := fresh(t)
	c := must.Get(pgx.Connect(t.Context(), s.DSN(name)))(t)
	t.Cleanup(func() { must.NoError(t, c.Close(context.Background())) })
	must.Get(c.Exec(t.Context(), "ALTER DATABASE "+pgx.Identifier{name}.Sanitize()+" SET synchronous_commit = on"))(t)
	return s, name, c
}

// follower is files that follow an agent.
type follower struct {
	agent mirror.Agent
	dir   string
	last  *mirror.Instant
	short int // how often only new rows were read
}

func follow(t testing.TB, a mirror.Agent) *follower {
	t.Helper()
	dir, e, _ := exported(t, a)
	must.Hold(t, e.Instant != nil, "no mark: %s", e.Full)
	return &follower{agent: a, dir: dir, last: e.Instant}
}

// next brings the files up to date, and compares them with all rows of the same instant.
func (f *follower) next(ctx context.Context) (e mirror.Exported, err error) {
	var want []mirror.Table
	e, err = mirror.Export(ctx, f.agent, f.dir, mirror.ExportOptions{
		Update: true, Since: f.last, Within: func(ctx context.Context, c *pgdb.Conn) (err error) {
			want, err = mirror.Digests(ctx, c)
			return err
		},
	})
	if err != nil {
		return e, err
	}
	f.last = e.Instant
	if e.Compared == mirror.Changes {
		f.short++
	}
	got, err := mirror.FileDigests(ctx, f.dir)
	if err != nil {
		return e, err
	}
	for i, w := range want {
		if got[i] != w {
			return e, fmt.Errorf("%s %s after %s: %d rows, want %d", w.File, w.Name, e.Compared, got[i].Rows, w.Rows)
		}
		if x := e.Tables[i]; x.Rows != w.Rows || x.Digest != "" && x.Digest != w.Digest || x.File != w.File || x.Name != w.Name {
			return e, fmt.Errorf("%s %s: told are %+v, want %+v", w.File, w.Name, x, w)
		}
	}
	return e, nil
}

// reads brings the files up to date by new rows, or by all rows for a reason.
func (f *follower) reads(t testing.TB, full string) mirror.Exported {
	t.Helper()
	e := must.Get(f.next(t.Context()))(t)
	if full == "" {
		must.Equal(t, "why all rows were read", e.Full, "")
		must.Equal(t, "comparison", e.Compared, mirror.Changes)
		return e
	}
	must.Says(t, "why all rows were read", e.Full, full)
	must.Equal(t, "comparison", e.Compared, mirror.Rows)
	return e
}

// Files follow an agent through a random history: whatever happens, those that only new rows were read for are those of all rows.
func TestSinceHistories(t *testing.T) {
	t.Parallel()
	pg, name, _ := durable(t)
	s := connect(t, pg.DSN(name))
	model := storetest.Fleeting("inmem", func(env storetest.Env) (amber.Store, error) {
		s, err := inmem.New(inmem.Options{Clock: env.Clock, Random: env.Random, Device: "model", Incarnation: "model", Queue: env.Queue, LogAll: true})
		if err != nil {
			return amber.Store{}, err
		}
		return s.Store(), nil
	})
	for i := range *histories {
		n := *seed
		if n == 0 {
			n = mathrand.Uint64()
		}
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var env storetest.Env
			a := agent(s, amber.AgentID(fmt.Sprint("followed-", i)))
			must.Do(t, use(t, a, nil).Close())
			f := follow(t, a)
			stop, done := make(chan struct{}), make(chan error, 1)
			go func() {
				for {
					select {
					case <-stop:
						done <- nil
						return
					default:
					}
					if _, err := f.next(context.WithoutCancel(t.Context())); err != nil {
						done <- err
						return
					}
				}
			}()
			err := storetest.History(t.Context(), n, storetest.HistoryOptions{Operations: 300}, model, storetest.Backend{
				Name: "postgres", Durable: true, Shared: true, Fresh: func() (storetest.Place, error) { return named{a, &env}, nil },
			})
			close(stop)
			must.NoError(t, <-done)
			must.Do(t, err)
			f.reads(t, "")
			must.Hold(t, f.short >= 5, "only new rows were read %d times", f.short)
			_, e, _ := exported(t, a)
			tables(t, "rows", must.Get(mirror.FileDigests(t.Context(), f.dir))(t), e.Tables)
		})
		if *seed != 0 {
			return
		}
	}
}

// Files follow an agent that 16 writers on two servers write to.
func TestSinceBesideWriters(t *testing.T) {
	t.Parallel()
	pg, name, _ := durable(t)
	c := begin(t, pg.DSN(name), "busy")
	f := follow(t, agent(connect(t, pg.DSN(name)), "busy"))
	for range 6 {
		c.goOn(t)
		f.reads(t, "")
	}
}

// gen is the generation of the only agent.
func gen(t testing.TB, c *pgx.Conn) (n int64) {
	t.Helper()
	must.Do(t, c.QueryRow(t.Context(), `SELECT live_gen FROM amber_meta.agents`).Scan(&n))
	return n
}

// Export reads the rows of a transaction that was open during one export, or during several, once the transaction has
// ended.
func TestSinceSeesLateCommits(t *testing.T) {
	t.Parallel()
	pg, name, c := durable(t)
	a := agent(connect(t, pg.DSN(name)), "late")
	s := use(t, a, nil)
	for i := range 5 {
		must.Get(s.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprint("memory ", i)}))(t)
	}
	f := follow(t, a)
	for round, savepoint := range []string{"", "SAVEPOINT inner_one;"} {
		must.Get(c.Exec(t.Context(), fmt.Sprintf(`BEGIN; SET LOCAL amber.gen = '%d'; INSERT INTO amber.erased (id, device, counter, clock) VALUES ('first %d', '', 1, 1);
%s INSERT INTO amber.erased (id, device, counter, clock) VALUES ('second %d', '', 1, 1); UPDATE amber.memories SET title = 'late %d' WHERE gen = %[1]d AND rowid = 2`,
			gen(t, c), round, savepoint, round, round)))(t)
		f.reads(t, "")
		must.Get(s.SaveTask(t.Context(), amber.Task{ID: fmt.Sprint("t", round), Goal: "g"}, 0))(t) // the other log, which is not locked
		f.reads(t, "")
		must.Equal(t, "before the commit", count(t, f.dir, "memory.db", `SELECT count(*) FROM erased`), int64(2*round))
		must.Get(c.Exec(t.Context(), `COMMIT`))(t)
		f.reads(t, "")
		must.Equal(t, "after the commit", count(t, f.dir, "memory.db", `SELECT count(*) FROM erased`), int64(2*round+2))
		must.Equal(t, "the row that was there before", count(t, f.dir, "memory.db", fmt.Sprintf(`SELECT count(*) FROM memories WHERE title = 'late %d'`, round)), 1)
	}
}

// Rows that go, keys that come back with other rows, and values that move from one row to another.
func TestSinceDeletes(t *testing.T) {
	t.Parallel()
	pg, name, c := durable(t)
	a := agent(connect(t, pg.DSN(name)), "deletes")
	s := use(t, a, nil)
	for i := range 20 {
		must.Get(s.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprint("memory ", i)}))(t)
	}
	g := gen(t, c)
	do := func(q string) {
		t.Helper()
		must.Get(c.Exec(t.Context(), fmt.Sprintf(`BEGIN; SET LOCAL amber.gen = '%d'; %s; COMMIT`, g, strings.ReplaceAll(q, "GEN", fmt.Sprint("gen = ", g)))))(t)
	}
	do(`INSERT INTO amber.erased (id, device, counter, clock) SELECT 'e' || n, '', n, n FROM generate_series(1, 40) n`)
	f := follow(t, a)
	changed := func(what string, want int64) {
		t.Helper()
		must.Equal(t, what, f.reads(t, "").Changed, want)
	}
	changed("nothing", 0)
	do(`DELETE FROM amber.erased WHERE GEN AND id = 'e7'`)
	changed("one gone", 1)
	do(`DELETE FROM amber.erased WHERE GEN AND id = 'e8'; INSERT INTO amber.erased (id, device, counter, clock) VALUES ('e8', '', 99, 99)`)
	changed("one gone and back", 1)
	do(`DELETE FROM amber.erased WHERE GEN AND id = 'e9'; INSERT INTO amber.erased (id, device, counter, clock) VALUES ('new', '', 1, 1)`)
	n := f.reads(t, "").Changed // one that came in the place of one that went is one where others kept all rows new by what they have open
	must.Hold(t, n == 2 || n == 1, "as many as before: %d changed", n)
	do(`UPDATE amber.erased SET clock = clock WHERE GEN AND id = 'e10'`)
	changed("written as it was", 0)
	do(`DELETE FROM amber.erased WHERE GEN`)
	changed("all gone", 38+1)
	do(`UPDATE amber.memories SET rowid = rowid + 1000 WHERE GEN AND rowid = 3`) // its id is one that only one row may have
	f.reads(t, "")
	m := must.Get(s.List(t.Context(), amber.ListQuery{}))(t).Items
	must.Do(t, s.Delete(t.Context(), m[0].ID))
	f.reads(t, "")
	// Counts that a trigger writes in the file are those of the database, also where no trigger wrote those.
	do(`INSERT INTO amber_control.queue_counts (state, entries) SELECT 'state ' || n, n FROM generate_series(1, 9) n`)
	f.reads(t, "")
	do(`SET LOCAL session_replication_role = replica; INSERT INTO amber_control.queue (seq, entry_id, task_id, node_id, digest, payload, priority, published_not_before, not_before, due,
state, attempt, consumer, token, fence, expires_at, reasons) VALUES (1, 'e', 't', 'n', '', '', 0, 0, 0, 0, 'queued', 0, '', '', 0, 0, '[]')`)
	f.reads(t, "")
	must.Get(c.Exec(t.Context(), `VACUUM (FULL, FREEZE, ANALYZE) amber.memories`))(t)
	changed("cleaned up", 0)
}

// Marks that say nothing about the database as it is lead to all rows.
func TestSinceRefusesMarks(t *testing.T) {
	t.Parallel()
	pg, name, c := durable(t)
	a := agent(connect(t, pg.DSN(name)), "marked")
	s := use(t, a, nil)
	must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "a memory"}))(t)
	must.Get(s.SaveTask(t.Context(), amber.Task{ID: "t", Goal: "g"}, 0))(t)
	f := follow(t, a)
	for _, x := range []struct {
		full   string
		change func(*mirror.Instant)
	}{
		{"another generation", func(i *mirror.Instant) { i.Gen++ }},
		{"another generation", func(i *mirror.Instant) { i.Incarnation = "other" }},
		{"another cluster", func(i *mirror.Instant) { i.System++ }},
		{"timeline", func(i *mirror.Instant) { i.Timeline++ }},
		{"timeline", func(i *mirror.Instant) { i.Timeline = 0 }},
		{"schema", func(i *mirror.Instant) { i.Schema-- }},
		{"cannot be read", func(i *mirror.Instant) { i.Snapshot = "" }},
		{"cannot be read", func(i *mirror.Instant) { i.Snapshot = "1:2:" }},
		{"cannot be read", func(i *mirror.Instant) { i.Snapshot = "900:800:" }},
		{"cannot be read", func(i *mirror.Instant) { i.Snapshot = "-900:800:'; DROP TABLE x" }},
		{"later time", func(i *mirror.Instant) { i.Snapshot = "900:99999999999:" }},
		{"shorter", func(i *mirror.Instant) { i.Memory.Seq++ }},
		{"shorter", func(i *mirror.Instant) { i.Control.Seq++ }},
		{"not that of the files", func(i *mirror.Instant) { i.Memory.Stamp++ }},
		{"not that of the files", func(i *mirror.Instant) { i.Control.Stamp++ }},
	} {
		must.Get(c.Exec(t.Context(), `UPDATE amber.memories SET title = title || 'x'`))(t)
		fake := *f.last
		x.change(&fake)
		f.last = &fake
		f.reads(t, x.full)
	}
	f.reads(t, "")
	old := *f.last
	old.Snapshot = "2000000000:2000000000:"
	now := old
	for passed, full := range map[int64]string{0: "", 1<<30 - 1: "", 1 << 30: "too many", 1 << 33: "too many"} {
		now.Snapshot = fmt.Sprintf("%d:%[1]d:", 2000000000+passed)
		must.Says(t, fmt.Sprint(passed, " transactions later"), mirror.Since(old, now), full)
		must.Equal(t, fmt.Sprint(passed, " transactions later"), mirror.Since(old, now) == "", full == "")
	}
	f.last = nil
	f.reads(t, "no mark")

	// The agent is replaced by what it was before.
	dir, _, _ := exported(t, a)
	b := must.Get(mirror.Import(t.Context(), a, files(dir), mirror.ImportOptions{}))(t)
	must.Get(b.Switch(t.Context(), mirror.SwitchOptions{}))(t)
	f.reads(t, "another generation")
	f.reads(t, "")

	must.Get(c.Exec(t.Context(), "ALTER DATABASE "+pgx.Identifier{name}.Sanitize()+" SET synchronous_commit = off"))(t)
	other := *f
	other.agent = agent(connect(t, pg.DSN(name)), "marked")
	must.Equal(t, "mark", other.reads(t, "synchronous_commit is off").Instant, nil)
}

// A server that does not tell which one it is gives all rows.
func TestSinceUntold(t *testing.T) {
	t.Parallel()
	pg, name, c := durable(t)
	a := agent(connect(t, pg.DSN(name)), "untold")
	must.Get(use(t, a, nil).Write(t.Context(), amber.WriteRequest{Content: "a memory"}))(t)
	f := follow(t, a)
	must.Get(c.Exec(t.Context(), `REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC`))(t)
	must.Equal(t, "mark", f.reads(t, "does not tell").Instant, nil)
}

// Behind a pooler each transaction may have another connection.
func TestSinceThroughPooler(t *testing.T) {
	t.Parallel()
	pg, name, _ := durable(t)
	pooler := pgtest.NewBouncer(t, pg, pgtest.BouncerOptions{})
	a := agent(connect(t, pooler.DSN(name)), "pooled")
	s := use(t, a, nil)
	must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "a memory"}))(t)
	f := follow(t, a)
	for i := range 3 {
		must.Get(s.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprint("another ", i)}))(t)
		must.Hold(t, f.reads(t, "").Changed > 0, "nothing was written")
	}
	must.Do(t, os.RemoveAll(f.dir))
}
