package postgres_test

import (
	"flag"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

var kills = flag.Int("postgres.kills", 2, "how often the database is killed under writers")

// TestKilledDatabase kills the server and all its processes under 64 writers of two programs, again and again. Every
// acknowledged write is there, once, and the change log has no gap.
func TestKilledDatabase(t *testing.T) {
	t.Parallel()
	s := pgtest.New(t, pgtest.Options{Durable: true})
	must.Do(t, s.CreateDatabase(t.Context(), "amber"))
	dsn := s.TCP("amber")
	w := begin(t, 64, 3, connect(t, dsn), connect(t, dsn))
	for range *kills {
		w.wait(200)
		must.Do(t, s.Kill())
		must.Do(t, s.Restart(t.Context()))
	}
	w.wait(200)
	w.stop()
	w.check(dsn)
}
