package postgres_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

// A program that starts with the address of a replaced primary named first works on the new one, where a server of its home has seen that.
func TestOldPrimaryNamedFirst(t *testing.T) {
	t.Parallel()
	primary := pgtest.New(t, pgtest.Options{Durable: true})
	must.Do(t, primary.CreateDatabase(t.Context(), "amber"))
	standby := must.Get(primary.Standby(t.Context(), "b", false))(t)
	dsn, seen := pgtest.Hosts("amber", primary, standby), filepath.Join(t.TempDir(), "keys", "database.json")
	noting := func(o *postgres.ServerOptions) { o.Seen = seen }
	open := func(s *postgres.Server) *postgres.Store {
		t.Helper()
		st, err := s.Open(t.Context(), amber.DefaultTenant, "scout", postgres.Options{})
		for range 20 { // connections of its pool lead to the primary that is gone
			if amber.KindOf(err) != amber.KindUnreachable {
				break
			}
			st, err = s.Open(t.Context(), amber.DefaultTenant, "scout", postgres.Options{})
		}
		must.NoError(t, err)
		return st
	}
	write := func(s *postgres.Server, text string) {
		t.Helper()
		st := open(s)
		must.Do(t, must.Err(st.Write(t.Context(), amber.WriteRequest{Content: text})))
		must.Do(t, st.Close())
	}
	has := func(s *postgres.Server) int64 {
		t.Helper()
		st := open(s)
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
	idle := connect(t, dsn)
	must.Equal(t, "memories before", has(idle), int64(1))
	must.Do(t, primary.Kill())
	must.Do(t, standby.Promote(t.Context()))
	write(s, "written to the second")
	for err = w.Note(t.Context(), true); amber.KindOf(err) == amber.KindUnreachable; err = w.Note(t.Context(), true) {
	}
	must.NoError(t, err)
	must.Do(t, primary.Restart(t.Context()))

	must.Equal(t, "memories of who has not asked since", has(idle), int64(2))
	must.Equal(t, "memories of who knows nothing", has(connect(t, dsn)), int64(2))
	must.Equal(t, "memories of who has seen the new one", has(connect(t, dsn, noting)), int64(2))
	must.Kind(t, "the old one alone", must.Err(postgres.Connect(t.Context(), postgres.ServerOptions{
		DSN: primary.TCP("amber"), Seen: seen, Clock: s.Clock(), Random: zeros{},
	})), amber.KindDamaged, "old primary")

	// An operator who wants it nevertheless, as after a copy of its disk was put back, says so once for all homes.
	other := filepath.Join(t.TempDir(), "keys", "database.json")
	must.Do(t, os.MkdirAll(filepath.Dir(other), 0o700))
	must.Do(t, os.WriteFile(other, must.Get(os.ReadFile(seen))(t), 0o600))
	must.Do(t, standby.Stop())
	back := connect(t, primary.TCP("amber"), func(o *postgres.ServerOptions) { o.Seen, o.Restored = seen, true })
	r := must.Get(back.Restored(t.Context()))(t)
	must.Do(t, back.Accept(t.Context(), r))
	for _, file := range []string{seen, other} {
		s := connect(t, primary.TCP("amber"), func(o *postgres.ServerOptions) { o.Seen = file })
		must.Do(t, must.Err(first(s.Watch(t.Context()))))
		must.Equal(t, "memories of a server that starts", has(s), int64(1))
	}
}

func first[A, B any](a A, _ B, err error) (A, error) { return a, err }

// A server that stood still and counts late does not count back: its home may have been moved to another machine, where one counts on.
func TestCountsOnlyOn(t *testing.T) {
	t.Parallel()
	dsn, seen := fresh(t), filepath.Join(t.TempDir(), "keys", "database.json")
	w := must.Get(first(connect(t, dsn, func(o *postgres.ServerOptions) { o.Seen = seen }).Watch(t.Context())))(t)
	c, look := dial(t, dsn), dial(t, dsn)
	must.Do(t, c.PgConn().Exec(t.Context(), `BEGIN; UPDATE amber_meta.work SET fence = 100 WHERE kind LIKE 'home %'`).Close())
	noted := make(chan error, 1)
	go func() { noted <- w.Note(t.Context(), false) }()
	for waits := false; !waits; {
		must.Do(t, look.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%amber_meta.work%' AND datname = current_database())`).Scan(&waits))
	}
	must.Do(t, c.PgConn().Exec(t.Context(), "COMMIT").Close())
	must.NoError(t, <-noted)
	n := 0
	must.Do(t, look.QueryRow(t.Context(), `SELECT fence FROM amber_meta.work WHERE kind LIKE 'home %'`).Scan(&n))
	must.Equal(t, "counted", n, 100)
}

// A program that works on a database while it is set back, and that no server tells, keeps nothing of the rows that are gone once that was accepted.
func TestNewHistoryEmptiesWhatIsKept(t *testing.T) {
	t.Parallel()
	server := pgtest.New(t, pgtest.Options{})
	must.Do(t, server.CreateDatabase(t.Context(), "amber"))
	dsn := server.TCP("amber")
	st := must.Get(connect(t, dsn).Open(t.Context(), amber.DefaultTenant, "scout", postgres.Options{}))(t)
	file := must.Get(server.Dump(t.Context(), "amber"))(t)
	hits := func(st *postgres.Store, words string) (texts []string) {
		t.Helper()
		answer := must.Get(st.Recall(t.Context(), amber.Query{Text: words}))(t)
		for _, h := range answer.Hits {
			texts = append(texts, h.Content)
		}
		return texts
	}
	write := func(st *postgres.Store, text string) {
		t.Helper()
		must.Do(t, must.Err(st.Write(t.Context(), amber.WriteRequest{Content: text})))
	}
	write(st, "The staging database is called heron")
	must.Equal(t, "before", hits(st, "heron"), []string{"The staging database is called heron"})
	must.Do(t, server.RestoreDump(t.Context(), "amber", file))
	operator := connect(t, dsn)
	must.Do(t, operator.Accept(t.Context(), must.Get(operator.Restored(t.Context()))(t)))
	other := must.Get(operator.Open(t.Context(), amber.DefaultTenant, "scout", postgres.Options{}))(t)
	write(other, "The harbour crane is painted green")
	_, err := st.Recall(t.Context(), amber.Query{Text: "heron"}) // its connections are gone
	for range 20 {
		if amber.KindOf(err) != amber.KindUnreachable {
			break
		}
		_, err = st.Recall(t.Context(), amber.Query{Text: "heron"})
	}
	must.NoError(t, err)
	for _, words := range []string{"heron", "crane"} {
		must.Equal(t, "recall "+words, hits(st, words), hits(other, words))
	}
	must.Do(t, other.Close())
	must.Do(t, st.Close())
}

// zeros is a source of nothing.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// State returns the last count while a server counts anew, and also where the new count fails.
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
	shared := pgtest.Shared(t)
	dsn, empty, seen := fresh(t), shared.DSN(shared.Database(t)), filepath.Join(t.TempDir(), "keys", "database.json")
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
