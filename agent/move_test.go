package agent

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/must"
	"github.com/amber-memory/amber/internal/pgtest"
	"github.com/amber-memory/amber/move"
)

// What the crash journal of a machine holds stays there and gets into the agent once, wherever that lives.
func TestTheJournalAcrossAMove(t *testing.T) {
	t.Parallel()
	pg := pgtest.Shared(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "dsn")
	must.Do(t, os.WriteFile(file, []byte(pg.DSN(pg.Database(t))+"\n"), 0o600))
	options := func(backend string) Options {
		c := config.Default()
		c.Memory.Backend, c.Memory.Backends.Postgres.DSNFile = backend, file
		return Options{Home: filepath.Join(dir, "home"), Config: &c, Clock: time.Now, Random: rand.Reader}
	}
	turns := func(a *Agent) (said []string) {
		t.Helper()
		for _, turn := range must.Get(a.Plain().Turns.LoadTurns(t.Context(), "s1", 100))(t) {
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
