package agent

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/freeze/move"
	"github.com/amber-memory/amber/internal/store/postgres/postgrestest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/wire"
)

// The entries in the crash journal of a machine stay there, and get into the agent once, wherever the agent
// lives.
func TestTheJournalAcrossAMove(t *testing.T) {
	t.Parallel()
	pg := pgtest.Shared(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "dsn")
	must.Do(t, os.WriteFile(file, []byte(pg.DSN(postgrestest.Database(t, pg))+"\n"), 0o600))
	options := func(backend string) Options {
		c := config.Default()
		c.Memory.Backend, c.Memory.Backends.Postgres.DSNFile = backend, file
		return Options{Home: filepath.Join(dir, "home"), Config: &c, Clock: time.Now, Random: rand.Reader}
	}
	turns := func(a *Agent) (said []string) {
		t.Helper()
		for _, turn := range must.Get(amber.LastTurns(t.Context(), a.Plain().Turns, "s1", 100))(t) {
			said = append(said, turn.Content)
		}
		return said
	}
	a := must.Get(Open(t.Context(), options("sqlite")))(t)
	say(t, a, "s1", "one", "two")
	must.NoError(t, must.Get(a.Drain(t.Context(), false))(t).Err())
	say(t, a, "s1", "three")
	must.Do(t, a.Close())

	for i, to := range []move.To{move.Postgres, move.SQLite} {
		old := string(move.SQLite)
		if to == move.SQLite {
			old = string(move.Postgres)
		}
		closed := must.Get(At(options(old)))(t)
		moved := must.Get(closed.Move(t.Context(), to, false))(t)
		must.Equal(t, "a snapshot before "+string(to), moved.Snapshot != nil, to == move.Postgres)
		must.Do(t, closed.Close())
		must.Kind(t, "with the old setting", must.Err(Open(t.Context(), options(old))), amber.KindRefused, "has moved to")

		a := must.Get(Open(t.Context(), options(string(to))))(t)
		want := [][]string{{"one", "two", "three"}, {"one", "two", "three", "four"}}[i]
		must.NoError(t, must.Get(a.Drain(t.Context(), false))(t).Err())
		must.Equal(t, "turns in "+string(to), turns(a), want)
		must.NoError(t, must.Get(a.Drain(t.Context(), false))(t).Err())
		must.Equal(t, "turns in "+string(to)+", drained again", turns(a), want)
		say(t, a, "s1", []string{"four", "five"}[i])
		must.Do(t, a.Close())
	}
	wrong := options("inmem")
	closed := must.Get(At(wrong))(t)
	must.Fail(closed.PlanMove(t.Context(), move.Postgres))(t, "another backend", amber.KindUnsupported)
}

// told are the events that a publisher got.
type told []events.Event

// Publish implements [events.Publisher].
func (t *told) Publish(_ context.Context, e events.Event) error {
	*t = append(*t, e)
	return nil
}

// How far the changes of an agent were published moves along: who hears of them misses none, and hears none twice.
func TestEventsAcrossAMove(t *testing.T) {
	t.Parallel()
	pg := pgtest.Shared(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "dsn")
	must.Do(t, os.WriteFile(file, []byte(pg.DSN(postgrestest.Database(t, pg))+"\n"), 0o600))
	options := func(backend move.To) Options {
		c := config.Default()
		c.Memory.Backend, c.Memory.Backends.Postgres.DSNFile = string(backend), file
		return Options{Home: filepath.Join(dir, "home"), Config: &c, Clock: time.Now, Random: rand.Reader}
	}
	var heard told
	// live opens the agent where it is, with what publishes its changes as a server there does.
	live := func(at move.To) (*Agent, *events.Mutations) {
		a := must.Get(Open(t.Context(), options(at)))(t)
		m := &events.Mutations{Log: a.Plain().Changes, Tenant: a.Tenant(), Agent: a.ID(), Publisher: &heard, Cursor: events.AgentCursor(a.folder.Dir(), "memory")}
		if at == move.Postgres {
			shared := must.Get(ledgers{a}.shared(t.Context()))(t)
			a.closers = append(a.closers, shared.Close)
			m.Cursor = shared.Cursor(a.Tenant(), a.ID(), "memory", nil)
		}
		return a, m
	}
	wrote := 0
	write := func(a *Agent) {
		must.Get(a.Store().LongTerm.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprint("fact ", wrote)}))(t)
		wrote++
	}
	a, m := live(move.SQLite)
	write(a)
	m.FromBeginning = true
	must.Get(m.CatchUp(t.Context()))(t)
	last := must.Get(a.Plain().Changes.Head(t.Context()))(t)
	said := len(heard)
	for from, to := move.SQLite, move.Postgres; ; from, to = to, from {
		write(a) // it is not published before the move
		must.Do(t, a.Close())
		closed := must.Get(At(options(from)))(t)
		must.Get(closed.Move(t.Context(), to, true))(t)
		must.Do(t, closed.Close())
		a, m = live(to)
		write(a)
		changes := must.Get(a.Plain().Changes.Changes(t.Context(), last, 1000))(t)
		must.Hold(t, len(changes) >= 2, "%d changes in %s", len(changes), to)
		must.Get(m.CatchUp(t.Context()))(t)
		must.Equal(t, "events told in "+string(to), len(heard)-said, len(changes))
		last, said = changes[len(changes)-1].Position, len(heard)
		if wrote > 4 {
			break
		}
	}
	must.Do(t, a.Close())
}

// An erasure names the copies that restores and moves have kept of the agent, on either side.
func TestEraseNamesWhatMovesKept(t *testing.T) {
	t.Parallel()
	pg := pgtest.Shared(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "dsn")
	must.Do(t, os.WriteFile(file, []byte(pg.DSN(postgrestest.Database(t, pg))+"\n"), 0o600))
	options := func(backend move.To) Options {
		c := config.Default()
		c.Memory.Backend, c.Memory.Backends.Postgres.DSNFile = string(backend), file
		return Options{Home: filepath.Join(dir, "home"), Config: &c, Clock: time.Now, Random: rand.Reader}
	}
	remaining := func(at move.To, restore bool) string {
		t.Helper()
		a := must.Get(Open(t.Context(), options(at)))(t)
		defer func() { must.NoError(t, a.Close()) }()
		id := must.Get(a.Store().LongTerm.Write(t.Context(), amber.WriteRequest{Content: "a secret"}))(t).ID
		if restore {
			taken := must.Get(a.Snapshot(t.Context(), wire.SnapshotRequest{}))(t)
			engine := must.Get(a.Snapshots(t.Context()))(t)
			must.Get(engine.Restore(t.Context(), wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{Tenant: a.Tenant(), Agent: a.ID(), ID: taken.ID}, NoSafetySnapshot: true}))(t)
		}
		return strings.Join(must.Get(a.Erase(t.Context(), id))(t).Remaining, "\n")
	}
	goTo := func(from, to move.To) {
		t.Helper()
		closed := must.Get(At(options(from)))(t)
		must.Get(closed.Move(t.Context(), to, true))(t)
		must.Do(t, closed.Close())
	}
	must.Hides(t, "before all moves", remaining(move.SQLite, false), "move")
	goTo(move.SQLite, move.Postgres)
	said := remaining(move.Postgres, true)
	must.Says(t, "in the database", said, "generation 1 of the agent in the database", "generation 1, which was kept by a move")
	goTo(move.Postgres, move.SQLite)
	must.Says(t, "in the home", remaining(move.SQLite, false), "the rows that a move has kept in the database")
	must.Do(t, os.Remove(file))
	must.Says(t, "without the database", remaining(move.SQLite, false), "rows of earlier generations in the database, which were not looked for")
}
