package mirror_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/test/must"
)

var writes = flag.Int("writes", 20, "how many writes each of 16 writers makes at least")

// crew writes to one agent over two servers until stop is set.
type crew struct {
	stores []*postgres.Store
	stop   atomic.Bool
	work   sync.WaitGroup

	mu    sync.Mutex
	acked map[string]bool // the contents of memories and the names of tasks
	tasks int             // how many of them are tasks
	errs  []error
}

const writers = 16

func (c *crew) note(err error, names ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.errs = append(c.errs, err)
		return
	}
	for _, n := range names {
		c.acked[n] = true
		if strings.HasPrefix(n, "task-") {
			c.tasks++
		}
	}
}

// begin starts the writers: half of them write memories, two at a time, the others tasks.
func begin(t *testing.T, dsn string, a amber.AgentID) *crew {
	t.Helper()
	c := &crew{acked: map[string]bool{}}
	for range 2 {
		c.stores = append(c.stores, use(t, agent(connect(t, dsn), a), nil))
	}
	ctx := context.WithoutCancel(t.Context())
	for w := range writers {
		s := c.stores[w%2]
		c.work.Go(func() {
			for n := 0; n < *writes || !c.stop.Load(); n++ {
				if w < writers/2 {
					one, two := fmt.Sprintf("first %d of %d", n, w), fmt.Sprintf("second %d of %d", n, w)
					_, err := s.WriteBatch(ctx, []amber.WriteRequest{{Content: one}, {Content: two}})
					c.note(err, one, two)
				} else {
					id := fmt.Sprintf("task-%d-%d", w, n)
					_, err := s.SaveTask(ctx, amber.Task{ID: id, Goal: "g"}, 0)
					c.note(err, id)
				}
			}
		})
	}
	t.Cleanup(func() { c.end(t) })
	return c
}

// written returns how many memories and tasks were acknowledged; ended is set after an error of a writer.
func (c *crew) written() (memories, tasks int, ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.acked) - c.tasks, c.tasks, len(c.errs) > 0
}

// goOn waits until the writers have written again: memories and tasks.
func (c *crew) goOn(t *testing.T) {
	t.Helper()
	memories, tasks, _ := c.written()
	for ctx := t.Context(); ctx.Err() == nil; time.Sleep(time.Millisecond) {
		m, k, ended := c.written()
		if ended || m > memories && k > tasks && m+k >= memories+tasks+4*writers {
			return
		}
	}
}

// end waits until all writers have stopped. None of them had an error.
func (c *crew) end(t *testing.T) {
	c.stop.Store(true)
	c.work.Wait()
	must.NoError(t, errors.Join(c.errs...))
	must.Hold(t, len(c.acked) >= writers**writes, "%d writes were acknowledged", len(c.acked))
}

// count asks a file for one number.
func count(t *testing.T, dir, file, query string) (n int64) {
	t.Helper()
	db := must.Get(sql.Open("sqlite", filepath.Join(dir, file)))(t)
	defer db.Close()
	must.Do(t, db.QueryRow(query).Scan(&n))
	return n
}

// Everything in a mirror is of one instant, while others write.
func TestExportBesideWriters(t *testing.T) {
	t.Parallel()
	pg, name := fresh(t)
	dsn := pg.DSN(name)
	c := begin(t, dsn, "busy")
	own := agent(connect(t, dsn), "busy")
	var last mirror.Exported
	for range 4 {
		c.goOn(t)
		dir, e, _ := exported(t, own)
		// Memories come in pairs: each leaves an entry in the log, and is in the index.
		memories := count(t, dir, "memory.db", `SELECT count(*) FROM memories`)
		must.Equal(t, "memories without the other of the pair", count(t, dir, "memory.db", `SELECT abs(sum(CASE WHEN content LIKE 'first%' THEN 1 ELSE -1 END)) FROM memories`), 0)
		must.Equal(t, "entries of the log", count(t, dir, "memory.db", `SELECT max(seq) FROM changes`), e.Memory.Seq)
		must.Equal(t, "memories that the log knows", count(t, dir, "memory.db", `SELECT count(DISTINCT key) FROM changes WHERE scope = 'memory'`), memories)
		must.Equal(t, "memories without a passage", count(t, dir, "memory.db", `SELECT count(*) FROM memories WHERE id NOT IN (SELECT owner FROM passages WHERE source = 'memory')`), 0)
		must.Equal(t, "passages without a memory", count(t, dir, "memory.db", `SELECT count(*) FROM passages WHERE owner NOT IN (SELECT id FROM memories)`), 0)
		must.Equal(t, "what is not indexed", count(t, dir, "memory.db", `SELECT count(*) FROM index_dirty`), 0)
		must.Equal(t, "last stamp", count(t, dir, "memory.db", `SELECT stamp FROM changes ORDER BY seq DESC LIMIT 1`), int64(e.Memory.Stamp))
		must.Equal(t, "tasks that the log knows", count(t, dir, "control.db", `SELECT count(DISTINCT key) FROM changes`), count(t, dir, "control.db", `SELECT count(*) FROM tasks`))
		must.Equal(t, "entries of the other log", count(t, dir, "control.db", `SELECT max(seq) FROM changes`), e.Control.Seq)
		must.Hold(t, e.Memory.Seq > last.Memory.Seq && e.Control.Seq > last.Control.Seq, "nobody wrote between two mirrors: %+v, %+v", last.Memory, e.Memory)
		last = e
		inHome(t, dir, nil, newClock(), "")
	}
}

// Both logs of a mirror are of the same instant: a writer that adds to one log and then to the other, with no other
// writer there, is never seen more than one write ahead.
func TestNoSkewBetweenLogs(t *testing.T) {
	t.Parallel()
	a := agent(database(t), "skew")
	s := use(t, a, nil)
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		for n := 0; err == nil; n++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if _, err = s.Write(context.Background(), amber.WriteRequest{Content: fmt.Sprint("memory ", n)}); err == nil {
				_, err = s.SaveTask(context.Background(), amber.Task{ID: fmt.Sprint("task-", n), Goal: "g"}, 0)
			}
		}
		done <- err
	}()
	for range 6 {
		_, e, _ := exported(t, a)
		ahead := e.Memory.Seq - e.Control.Seq
		must.Hold(t, ahead == 0 || ahead == 1, "the memory is at entry %d, the control plane at %d", e.Memory.Seq, e.Control.Seq)
	}
	close(stop)
	must.Do(t, <-done)
}

// names reads what a generation holds, by a superuser whom no policy concerns.
func names(t *testing.T, dsn string, gen int64) map[string]bool {
	t.Helper()
	c := must.Get(pgx.Connect(t.Context(), dsn))(t)
	defer c.Close(context.Background())
	rows := must.Get(c.Query(t.Context(), `SELECT content FROM amber.memories WHERE gen = $1 UNION ALL SELECT id FROM amber_control.tasks WHERE gen = $1`, gen))(t)
	out := map[string]bool{}
	for _, n := range must.Get(pgx.CollectRows(rows, pgx.RowTo[string]))(t) {
		must.Hold(t, !out[n], "%s is there twice", n)
		out[n] = true
	}
	return out
}

// A generation is switched under 16 writers on two servers: every acknowledged write is in the old generation, from
// before the switch, or in the new one; none is in both unless it was carried, and no writer gets an error.
func TestSwitchBesideWriters(t *testing.T) {
	t.Parallel()
	pg, name := fresh(t)
	dsn := pg.DSN(name)
	c := begin(t, dsn, "busy")
	own := agent(connect(t, dsn), "busy")
	carried, gens := map[string]bool{}, []int64{}
	for range 3 {
		c.goOn(t)
		dir, e, _ := exported(t, own)
		b := must.Get(mirror.Import(t.Context(), own, files(dir), mirror.ImportOptions{From: "snapshot"}))(t)
		var stopped mirror.Exported
		s := must.Get(b.Switch(t.Context(), mirror.SwitchOptions{Before: func(ctx context.Context, old int64) (err error) {
			must.Equal(t, "replaced", old, e.Gen)
			stopped, err = mirror.Export(ctx, own, t.TempDir(), mirror.ExportOptions{})
			return err
		}}))(t)
		must.Equal(t, "replaced", s.Old, e.Gen)
		must.Equal(t, "device", s.Current.Device, e.Current.Device)
		must.Equal(t, "generation", s.Current.Generation, e.Current.Generation+1)
		must.Hold(t, s.Current.Clock >= stopped.Memory.Stamp && s.Current.Clock >= stopped.Control.Stamp && s.Current.Clock >= e.Current.Clock, "the clock went back")
		gens = append(gens, s.Old)
		for n := range names(t, dsn, s.Old) {
			carried[n] = true
		}
		must.Fail(b.Switch(t.Context(), mirror.SwitchOptions{}))(t, "twice", amber.KindInvalid)
		must.Do(t, b.Discard(t.Context())) // nothing, now that it is live
		must.Kind(t, "discard the live generation", mirror.Discard(t.Context(), own.Server, s.Gen), amber.KindConflict)
	}
	c.end(t)
	live, _, err := own.Server.Live(t.Context(), own.Tenant, own.ID)
	must.Do(t, err)
	for n := range names(t, dsn, live) {
		carried[n] = true
	}
	for n := range c.acked {
		must.Hold(t, carried[n], "the acknowledged write %q is lost", n)
	}
	sound(t, dsn, live)
	// Old generations go, and the live one stays as it is.
	_, before, _ := exported(t, own)
	for _, gen := range gens {
		must.Do(t, mirror.Discard(t.Context(), own.Server, gen))
		must.Equal(t, "rows that are left", left(t, dsn, gen), nil)
	}
	_, after, _ := exported(t, own)
	tables(t, "the live generation", after.Tables, before.Tables)
}

// sound looks at the logs of a generation: no gap, no stamp that goes back, incarnations that follow each other.
func sound(t *testing.T, dsn string, gen int64) {
	t.Helper()
	c := must.Get(pgx.Connect(t.Context(), dsn))(t)
	defer c.Close(context.Background())
	for _, schema := range []string{"amber", "amber_control"} {
		for what, query := range map[string]string{
			"gaps":                      `SELECT max(seq) - count(*) FROM %s.changes WHERE gen = $1`,
			"stamps that go back":       `SELECT count(*) FROM (SELECT stamp - lag(stamp) OVER (ORDER BY seq) AS d FROM %s.changes WHERE gen = $1) x WHERE d <= 0`,
			"incarnations that overlap": `SELECT count(*) FROM (SELECT first_seq - lag(first_seq) OVER (ORDER BY ordinal) AS d FROM %s.incarnations WHERE gen = $1) x WHERE d < 0`,
		} {
			var n int64
			must.Do(t, c.QueryRow(t.Context(), fmt.Sprintf(query, schema), gen).Scan(&n))
			must.Equal(t, schema+": "+what, n, 0)
		}
	}
}

// left are the tables in which a generation has rows, amber_meta included.
func left(t *testing.T, dsn string, gen int64) (found []string) {
	t.Helper()
	c := must.Get(pgx.Connect(t.Context(), dsn))(t)
	defer c.Close(context.Background())
	rows := must.Get(c.Query(t.Context(), `SELECT table_schema || '.' || table_name FROM information_schema.columns
WHERE column_name = 'gen' AND table_schema IN ('amber', 'amber_control', 'amber_meta') ORDER BY 1`))(t)
	tables := must.Get(pgx.CollectRows(rows, pgx.RowTo[string]))(t)
	must.Hold(t, len(tables) > 45, "%d tables with generations", len(tables))
	for _, table := range tables {
		var n int64
		must.Do(t, c.QueryRow(t.Context(), `SELECT count(*) FROM `+table+` WHERE gen = $1`, gen).Scan(&n))
		if n > 0 {
			found = append(found, fmt.Sprint(table, ": ", n))
		}
	}
	return found
}
