package postgres_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/must"
	"github.com/amber-memory/amber/internal/pgtest"
	"github.com/amber-memory/amber/store/postgres"
)

// A program that starts with the address of a replaced primary named first works on the new one, where a server of its home has seen that.
func TestOldPrimaryNamedFirst(t *testing.T) {
	t.Parallel()
	primary := pgtest.New(t, pgtest.Options{Durable: true})
	must.Do(t, primary.CreateDatabase(t.Context(), "amber"))
	standby := must.Get(primary.Standby(t.Context(), "b", false))(t)
	dsn, seen := pgtest.Hosts("amber", primary, standby), filepath.Join(t.TempDir(), "keys", "database.json")
	noting := func(o *postgres.ServerOptions) { o.Seen = seen }
	write := func(s *postgres.Server, text string) {
		t.Helper()
		st, err := s.Open(t.Context(), amber.DefaultTenant, "scout", postgres.Options{})
		for range 20 { // its connections lead to the one that is gone
			if amber.KindOf(err) != amber.KindUnreachable {
				break
			}
			st, err = s.Open(t.Context(), amber.DefaultTenant, "scout", postgres.Options{})
		}
		must.NoError(t, err)
		must.Do(t, must.Err(st.Write(t.Context(), amber.WriteRequest{Content: text})))
		must.Do(t, st.Close())
	}
	has := func(s *postgres.Server) int64 {
		t.Helper()
		st := must.Get(s.Open(t.Context(), amber.DefaultTenant, "scout", postgres.Options{}))(t)
		n := must.Get(st.Stats(t.Context()))(t).Memories
		must.Do(t, st.Close())
		return int64(n)
	}
	s := connect(t, dsn, noting)
	w, revoked, err := s.Watch(t.Context())
	must.NoError(t, err)
	must.Equal(t, "revoked tokens", len(revoked), 0)
	write(s, "written to the first primary")
	must.Do(t, primary.Await(t.Context(), "the standby", `SELECT bool_and(replay_lsn = pg_current_wal_lsn()) FROM pg_stat_replication`))
	must.Do(t, w.Note(t.Context(), true))
	must.Do(t, primary.Await(t.Context(), "the standby", `SELECT bool_and(replay_lsn = pg_current_wal_lsn()) FROM pg_stat_replication`))
	must.Do(t, primary.Kill())
	must.Do(t, standby.Promote(t.Context()))
	write(s, "written to the second")
	for err = w.Note(t.Context(), true); amber.KindOf(err) == amber.KindUnreachable; err = w.Note(t.Context(), true) {
	}
	must.NoError(t, err)
	must.Do(t, primary.Restart(t.Context()))

	must.Equal(t, "memories of who knows nothing", has(connect(t, dsn)), int64(1))
	must.Equal(t, "memories of who has seen the new one", has(connect(t, dsn, noting)), int64(2))
	must.Kind(t, "the old one alone", must.Err(postgres.Connect(t.Context(), postgres.ServerOptions{
		DSN: primary.TCP("amber"), Seen: seen, Clock: s.Clock(), Random: zeros{},
	})), amber.KindDamaged, "old primary")
}

// zeros is a source of nothing.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// What was counted last is told while it is counted anew, and where that fails.
func TestStateStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := connect(t, fresh(t), func(o *postgres.ServerOptions) { o.Seen = filepath.Join(dir, "keys", "database.json") })
	st := must.Get(s.Open(t.Context(), amber.DefaultTenant, "scout", postgres.Options{}))(t)
	must.Do(t, st.Close())
	w, _, err := s.Watch(t.Context())
	must.NoError(t, err)
	must.Equal(t, "agents", w.State().Agents["thousand"], 1)
	must.Do(t, os.RemoveAll(filepath.Join(dir, "keys")))
	must.Do(t, os.WriteFile(filepath.Join(dir, "keys"), nil, 0o600)) // the file cannot be written
	must.Error(t, "note", w.Note(t.Context(), false))
	must.Equal(t, "agents", w.State().Agents["thousand"], 1)
}

// A program whose home has worked on a database makes no tables in an empty one: they would be in the way of a backup that is about to be restored.
func TestEmptiedDatabase(t *testing.T) {
	t.Parallel()
	dsn, empty, seen := fresh(t), fresh(t), filepath.Join(t.TempDir(), "keys", "database.json")
	s := connect(t, dsn, func(o *postgres.ServerOptions) { o.Seen = seen })
	_, _, err := s.Watch(t.Context())
	must.NoError(t, err)
	for _, restored := range []bool{false, true} {
		_, err = postgres.Connect(t.Context(), postgres.ServerOptions{DSN: empty, Seen: seen, Restored: restored, Clock: s.Clock(), Random: zeros{}})
		must.Kind(t, "an empty one", err, amber.KindDamaged, "it has no tables", "this home has counted to 1")
		must.Says(t, "hint", amber.HintOf(err), "amber migrate --restored", seen)
	}
	connect(t, empty) // of a home that knows nothing
}
