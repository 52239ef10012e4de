package schema_test

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/schema"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

var load = flag.Int("schema.load", 1, "how much is written while migrations run: so many times 4 writers, 60 writes and 1000 rows")

// blocked is how long a write may wait for a lock: longer than a step does. The database ends a write that waits longer, and the
// test fails.
const blocked = 2 * time.Second

// program is a version of Amber that writes turns.
type program interface {
	write(ctx context.Context, content string) error
}

// writers write through one program until they are stopped.
type writers struct {
	t        *testing.T
	name     string
	stopping chan struct{}
	work     sync.WaitGroup
	done     atomic.Int64

	mu    sync.Mutex
	acked []string
	times []span // of the writes
}

// span is from when to when something was done.
type span struct{ from, to time.Time }

// longest returns how long the longest write took that ran during none of the other spans, and the longest of the rest.
func (w *writers) longest(others ...span) (alone, beside time.Duration) {
	for _, s := range w.times {
		took := s.to.Sub(s.from)
		if slices.ContainsFunc(others, func(o span) bool { return s.from.Before(o.to) && o.from.Before(s.to) }) {
			beside = max(beside, took)
		} else {
			alone = max(alone, took)
		}
	}
	return alone, beside
}

// pace is how long one of n writers rests between two writes.
const pace = 3 * time.Millisecond

func begin(t *testing.T, name string, p program) *writers {
	t.Helper()
	w := &writers{t: t, name: name, stopping: make(chan struct{})}
	for i := range 4 * *load {
		w.work.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-w.stopping:
					return
				default:
				}
				content, began := fmt.Sprintf("%s %d wrote %d", name, i, n), time.Now()
				err := p.write(t.Context(), content)
				if err != nil {
					t.Errorf("%s: a write failed: %v", name, err)
					return
				}
				w.mu.Lock()
				w.acked, w.times = append(w.acked, content), append(w.times, span{began, time.Now()})
				w.mu.Unlock()
				w.done.Add(1)
				time.Sleep(time.Duration(4**load) * pace) // a machine that has too much to do makes all wait, and says nothing about a migration
			}
		})
	}
	t.Cleanup(w.stop)
	return w
}

// more waits until every program has written some more, or one has failed.
func more(t *testing.T, all ...*writers) {
	t.Helper()
	for _, w := range all {
		want, limit := w.done.Load()+int64(60**load), time.Now().Add(time.Minute)
		for w.done.Load() < want && !t.Failed() {
			if time.Now().After(limit) {
				t.Fatalf("%s has written %d times, want %d", w.name, w.done.Load(), want)
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
}

func (w *writers) stop() {
	select {
	case <-w.stopping:
	default:
		close(w.stopping)
	}
	w.work.Wait()
}

// kept stops writers and compares what they were told is stored with what is.
func kept(t *testing.T, c *pgx.Conn, migrations []span, all ...*writers) {
	t.Helper()
	for _, w := range all {
		w.stop()
		alone, beside := w.longest(migrations...)
		t.Logf("%s: %d writes, the longest %s, and %s while a migration ran", w.name, len(w.acked), alone.Round(time.Millisecond), beside.Round(time.Millisecond))
		must.Hold(t, *load == 1 || beside < alone+blocked, "%s: a write took %s while a migration ran, %s without one", w.name, beside, alone)
		rows, err := c.Query(t.Context(), "SELECT content FROM amber.turns WHERE content LIKE $1 ORDER BY content COLLATE \"C\"", w.name+" %")
		must.Do(t, err)
		slices.Sort(w.acked)
		must.Equal(t, w.name+": turns", must.Get(pgx.CollectRows(rows, pgx.RowTo[string]))(t), w.acked)
	}
}

// built is the program as it is built.
type built struct{ *postgres.Store }

func (b built) write(ctx context.Context, content string) error {
	_, err := b.AppendTurn(ctx, amber.Turn{SessionID: "talk", Role: amber.RoleUser, Content: content})
	return err
}

// start opens a database with the program as it is built.
func start(t *testing.T, dsn string) (*postgres.Server, built) {
	t.Helper()
	s := must.Get(postgres.Connect(t.Context(), postgres.ServerOptions{DSN: dsn, Lock: blocked, Migrate: true, Clock: time.Now, Random: rand.Reader}))(t)
	t.Cleanup(func() { must.NoError(t, s.Close()) })
	store := must.Get(s.Open(t.Context(), amber.DefaultTenant, amber.DefaultAgent, postgres.Options{}))(t)
	t.Cleanup(func() { must.NoError(t, store.Close()) })
	return s, built{store}
}

// other is a program of another version: it writes the columns that a schema has by what it reads of its number. Each of
// its connections has an agent of its own.
type other struct {
	pool    *pgxpool.Pool
	columns func(number int64) string // more of them, joined by commas
}

// elsewhere opens a database with a program of another version.
func elsewhere(t *testing.T, dsn string, columns func(int64) string) other {
	t.Helper()
	pool := must.Get(pgxpool.New(t.Context(), fmt.Sprintf("%s pool_max_conns=%d", dsn, 4**load)))(t)
	t.Cleanup(pool.Close)
	return other{pool, columns}
}

func (o other) write(ctx context.Context, content string) error {
	return pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL ROLE amber_app; SELECT set_config('amber.gen', (1000 + pg_backend_pid())::text, true); SET LOCAL lock_timeout = %d", blocked.Milliseconds()))
		if err != nil {
			return err
		}
		// The row of the version is not locked, so the columns are those of the table, whose lock is taken first.
		var number int64
		if _, err = tx.Exec(ctx, "LOCK TABLE amber.turns IN ROW EXCLUSIVE MODE"); err != nil {
			return err
		}
		if err = tx.QueryRow(ctx, "SELECT number FROM amber_meta.version").Scan(&number); err != nil {
			return err
		}
		names, values := "", ""
		if more := o.columns(number); more != "" {
			names, values = ", "+more, strings.Repeat(", 'own'", 1+strings.Count(more, ","))
		}
		_, err = tx.Exec(ctx, "INSERT INTO amber.turns (id, session_id, role, content, project_id, created_at"+names+") VALUES (gen_random_uuid()::text, gen_random_uuid()::text, 'user', $1, '', 1"+values+")", content)
		return err
	})
}

// fresh makes an empty database.
func fresh(t *testing.T) (dsn string, c *pgx.Conn) {
	t.Helper()
	s := pgtest.Shared(t)
	dsn = s.TCP(s.Database(t))
	return dsn, join(t, dsn)
}

func join(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	c := must.Get(pgx.Connect(t.Context(), dsn))(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		must.NoError(t, c.Close(ctx))
	})
	return c
}

// Two programs come to an empty database at the same time. One makes the tables, and both write as soon as they
// are open.
func TestTwoProgramsOnAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	dsn, c := fresh(t)
	var all [2]*writers
	var opening sync.WaitGroup
	for i := range all {
		opening.Go(func() {
			_, p := start(t, dsn)
			all[i] = begin(t, fmt.Sprint("program ", i), p)
		})
	}
	opening.Wait()
	if t.Failed() {
		return
	}
	more(t, all[:]...)
	kept(t, c, nil, all[:]...)
}

// A program that knows the first migration alone writes while the program of today comes, migrates and writes too.
func TestAnOlderProgramWritesOn(t *testing.T) {
	t.Parallel()
	dsn, c := fresh(t)
	must.Get(schema.UpTo(t, 1).Run(t.Context(), c, schema.Options{}))(t)
	old := begin(t, "the older program", elsewhere(t, dsn, func(int64) string { return "" }))
	more(t, old)
	began := time.Now()
	_, p := start(t, dsn)
	migration := span{began, time.Now()}
	today := begin(t, "the program of today", p)
	more(t, old, today)
	kept(t, c, []span{migration}, old, today)
}

// tomorrow is what a later version may do to a table that is written all the time, step by step.
var tomorrow = map[string]string{
	"0004-expand-mood": `-- What was felt.
-- step
ALTER TABLE amber.turns ADD COLUMN mood text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE amber.turns ALTER COLUMN mood SET DEFAULT 'calm'; -- what an older program writes need not be filled
-- step concurrently
CREATE INDEX CONCURRENTLY turns_mood ON amber.turns (gen, mood);`,
	"0005-backfill-mood": `-- step repeat
UPDATE amber.turns SET mood = 'calm' WHERE ctid = ANY (ARRAY(SELECT ctid FROM amber.turns WHERE mood = '' LIMIT 200 FOR UPDATE SKIP LOCKED));`,
	"0006-contract-trust": `DROP TRIGGER index_turn_update ON amber.turns;
CREATE TRIGGER index_turn_update AFTER UPDATE OF gen, seq, id, session_id, role, content, project_id, created_at ON amber.turns FOR EACH ROW EXECUTE FUNCTION amber.note_turn();
ALTER TABLE amber.turns DROP COLUMN trust;`,
}

// The program of today writes while that of tomorrow expands the schema, fills a new column and writes it. A step that
// takes something away waits until the program of today has left, and runs while that of tomorrow writes.
func TestEveryStepUnderLoad(t *testing.T) {
	t.Parallel()
	dsn, c := fresh(t)
	all := schema.With(t, tomorrow)
	server, p := start(t, dsn)
	presence := must.Get(server.Join(t.Context(), postgres.PresenceOptions{Name: "today"}))(t)
	must.Get(c.Exec(t.Context(), `INSERT INTO amber.turns (gen, seq, id, session_id, role, content, project_id, created_at)
SELECT 999, n, n::text, n::text, 'user', '', '', 1 FROM generate_series(1, $1::int8) n`, 1000**load))(t)
	must.Get(c.Exec(t.Context(), "DELETE FROM amber.index_dirty WHERE gen = 999"))(t)
	today := begin(t, "today", p)
	next := begin(t, "tomorrow", elsewhere(t, dsn, func(number int64) string {
		switch {
		case number >= 6:
			return "mood"
		case number >= 4:
			return "mood, trust"
		}
		return "trust"
	}))
	more(t, today, next)

	// A long question keeps the first step out, which gives up and lets those go on who wait behind it.
	reader := join(t, dsn)
	long := must.Get(reader.Begin(t.Context()))(t)
	must.Get(long.Exec(t.Context(), "LOCK TABLE amber.turns IN ACCESS SHARE MODE"))(t)
	pause, until := 10*time.Millisecond, 1
	if *load > 1 { // to the longest waits, as an operator has them
		pause, until = time.Second, 5
	}
	attempts, began := 0, time.Now()
	r := must.Get(all.Run(t.Context(), join(t, dsn), schema.Options{By: "tomorrow", Pause: pause, Locked: func(schema.Step) {
		if attempts++; attempts == until {
			must.NoError(t, long.Commit(context.WithoutCancel(t.Context())))
		}
	}}))(t)
	migrations := []span{{began, time.Now()}}
	must.Hold(t, attempts >= until, "the first step got its lock beside a long question")
	var held []string
	for _, h := range r.Held {
		held = append(held, h.Name)
	}
	must.Equal(t, "what holds the contract back", held, []string{"today"})
	var done []string
	for _, s := range r.Done {
		done = append(done, fmt.Sprint(s.Name, " ", s.Step))
	}
	must.Equal(t, "done beside both", done, []string{"0004-expand-mood 1", "0004-expand-mood 2", "0005-backfill-mood 1"})
	var bare, noted int
	must.Do(t, c.QueryRow(t.Context(), "SELECT count(*) FROM amber.turns WHERE mood = ''").Scan(&bare))
	must.Equal(t, "turns that were not filled", bare, 0)
	must.Do(t, c.QueryRow(t.Context(), "SELECT count(*) FROM amber.index_dirty WHERE gen = 999").Scan(&noted))
	must.Equal(t, "turns that the index reads again for a column it has not", noted, 0)
	more(t, today, next)

	// The program of today stops, and one that was forgotten gets an error when it writes.
	today.stop()
	must.Do(t, presence.Leave(t.Context()))
	began = time.Now()
	r = must.Get(all.Run(t.Context(), join(t, dsn), schema.Options{By: "tomorrow", Pause: 10 * time.Millisecond}))(t)
	migrations = append(migrations, span{began, time.Now()})
	must.Equal(t, "version", r.To, schema.Version{Number: 6, Needs: 6})
	more(t, next)
	must.Kind(t, "a forgotten program", p.write(t.Context(), "too late"), amber.KindTooNew)
	kept(t, c, migrations, today, next)
}
