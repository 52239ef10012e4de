package mirror_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"flag"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/store/postgres/postgrestest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/store/storetest"
)

var (
	seed      = flag.Uint64("seed", 0, "carry an agent after one history with this seed")
	histories = flag.Int("histories", 1, "how many agents with a random history to carry")
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// fresh returns the name of a new database of the shared server, with its tables.
func fresh(t testing.TB) (*pgtest.Server, string) {
	t.Helper()
	s := pgtest.Shared(t)
	return s, postgrestest.Database(t, s)
}

func connect(t testing.TB, dsn string, change ...func(*postgres.ServerOptions)) *postgres.Server {
	t.Helper()
	o := postgres.ServerOptions{DSN: dsn, Clock: time.Now, Random: rand.Reader}
	for _, c := range change {
		c(&o)
	}
	s := must.Get(postgres.Connect(t.Context(), o))(t)
	t.Cleanup(func() { must.NoError(t, s.Close()) })
	return s
}

// database is a new one.
func database(t testing.TB) *postgres.Server {
	t.Helper()
	s, name := fresh(t)
	return connect(t, s.DSN(name))
}

func agent(s *postgres.Server, id amber.AgentID) mirror.Agent {
	return mirror.Agent{Server: s, Tenant: amber.DefaultTenant, ID: id}
}

// newClock begins when no test does, so that what was carried cannot be told by its time.
func newClock() *storetest.Clock {
	return storetest.NewClock(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC))
}

// use opens the store of an agent.
func use(t testing.TB, a mirror.Agent, clock *storetest.Clock) *postgres.Store {
	t.Helper()
	o := postgres.Options{}
	if clock != nil {
		o.Clock = clock.Now
	}
	s := must.Get(a.Server.Open(t.Context(), a.Tenant, a.ID, o))(t)
	t.Cleanup(func() { must.NoError(t, s.Close()) })
	return s
}

// exported writes an agent to files in a new folder, all rows compared.
func exported(t testing.TB, a mirror.Agent) (string, mirror.Exported, []mirror.Document) {
	t.Helper()
	dir := t.TempDir()
	var documents []mirror.Document
	e := must.Get(mirror.Export(t.Context(), a, dir, mirror.ExportOptions{Document: func(d mirror.Document) error {
		documents = append(documents, d)
		return nil
	}}))(t)
	must.Equal(t, "comparison", e.Compared, mirror.Rows)
	must.Equal(t, "documents", e.Documents, len(documents))
	return dir, e, documents
}

func files(dir string) mirror.Files {
	return mirror.Files{Memory: filepath.Join(dir, "memory.db"), Control: filepath.Join(dir, "control.db")}
}

// all puts documents.
func all(documents []mirror.Document) func(func(mirror.Document) error) error {
	return func(put func(mirror.Document) error) error {
		for _, d := range documents {
			if err := put(d); err != nil {
				return err
			}
		}
		return nil
	}
}

// inHome makes the files the agent of a new home, as a restore on another machine does. Flaw is what was
// wrong with the index before; nothing else is.
func inHome(t testing.TB, dir string, documents []mirror.Document, clock *storetest.Clock, flaw string) *sqlite.Store {
	t.Helper()
	for _, file := range []string{"memory.db", "control.db"} {
		found := must.Get(image.Examine(t.Context(), filepath.Join(dir, file), true))(t)
		must.Hold(t, len(found.Checks) > 3, "%s: %d checks", file, len(found.Checks))
		for _, c := range found.Checks {
			must.Hold(t, c.OK || c.Name == "full_text" && flaw != "", "%s: %s: %s", file, c.Name, c.Detail)
		}
	}
	h, _, err := home.Open(filepath.Join(t.TempDir(), "home"), home.Options{Clock: clock.Now, Random: rand.Reader})
	must.Do(t, err)
	a := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	must.Get(a.Fork(t.Context(), func(to string, _ home.Current) (amber.Stamp, error) {
		return 0, os.CopyFS(to, os.DirFS(dir))
	}))(t)
	s := must.Get(sqlite.Open(t.Context(), a, sqlite.Options{Clock: clock.Now, Random: rand.Reader}))(t)
	t.Cleanup(func() { must.NoError(t, s.Close()) })
	for _, d := range documents {
		put := must.Get(s.Store().Documents.PutDocument(t.Context(), amber.DocumentWrite{Name: d.Name, Document: d.JSON}))(t)
		must.Equal(t, "revision of "+d.Name, put.Revision, d.Revision)
	}
	for _, f := range s.Check(t.Context()) {
		must.NoError(t, f.Err)
	}
	must.Equal(t, "what is wrong with the index", said(s.DeepCheck(t.Context())), flaw)
	return s
}

// said is the text of an error.
func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// same compares what two stores hold and answer.
func same(t testing.TB, what string, got, want amber.Store) {
	t.Helper()
	g, w := must.Get(storetest.Dump(t.Context(), got))(t), must.Get(storetest.Dump(t.Context(), want))(t)
	must.Hold(t, len(w) > 10, "%s: the dump has %d parts", what, len(w))
	must.Equal(t, what, storetest.Differences(g, w), "")
	answered := 0
	for _, text := range []string{"edited", "deduplicated", "content", "coffee", "the night shift", "one two", "and more", "zzz"} {
		q := amber.Query{Text: text, Limit: 50}
		g, gerr := got.LongTerm.Recall(t.Context(), q)
		w, werr := want.LongTerm.Recall(t.Context(), q)
		must.Equal(t, what+": error of "+text, amber.KindOf(gerr), amber.KindOf(werr))
		for _, hits := range [][]amber.Hit{g.Hits, w.Hits} {
			for i := range hits {
				hits[i].Provenance.Backend = "" // which is not the same
			}
		}
		must.Equal(t, what+": recall of "+text, fmt.Sprintf("%+v", g), fmt.Sprintf("%+v", w))
		answered += len(w.Hits)
	}
	must.Hold(t, answered > 0, "%s: no question was answered", what)
}

// tables compares digests, but for those named.
func tables(t testing.TB, what string, got, want []mirror.Table, but ...string) {
	t.Helper()
	pick := func(all []mirror.Table) map[string]mirror.Table {
		out := map[string]mirror.Table{}
		for _, x := range all {
			out[x.File+" "+x.Name] = x
		}
		for _, name := range but {
			delete(out, name)
		}
		return out
	}
	must.Equal(t, what, pick(got), pick(want))
}

// incarnations are the tables to which every generation adds.
var incarnations = []string{"memory.db incarnations", "control.db incarnations"}

// carry takes an agent to files, to a home, to another agent, to another database and
// back, and compares all of them.
func carry(t *testing.T, a mirror.Agent, clock *storetest.Clock) {
	first := use(t, a, clock)
	// A copy is what its source is: turns of a session that is made after them keep
	// the words of the index that they had without it.
	flaw := said(first.VerifyIndex(t.Context()))
	dir, e, documents := exported(t, a)
	lite := inHome(t, dir, documents, clock, flaw)
	same(t, "in a home", lite.Store(), first.Store())

	for _, to := range []mirror.Agent{agent(a.Server, a.ID+"-copy"), agent(database(t), "elsewhere")} {
		b := must.Get(mirror.Import(t.Context(), to, files(dir), mirror.ImportOptions{Documents: all(documents), From: "test", Device: "moved"}))(t)
		tables(t, "read from the files", b.Tables, e.Tables)
		must.Fail(to.Server.Open(t.Context(), to.Tenant, to.ID, postgres.Options{Existing: true}))(t, "before the switch", amber.KindNotFound)
		s := must.Get(b.Switch(t.Context(), mirror.SwitchOptions{}))(t)
		must.Equal(t, "device", s.Current.Device, "moved")
		must.Equal(t, "replaced", s.Old, 0)
		copied := use(t, to, clock)
		same(t, "as "+string(to.ID), copied.Store(), first.Store())

		again, e2, documents2 := exported(t, to)
		tables(t, "there and back", e2.Tables, e.Tables, incarnations...)
		must.Equal(t, "documents", documents2, documents)
		must.Equal(t, "ends of the logs", []mirror.Position{e2.Memory, e2.Control}, []mirror.Position{e.Memory, e.Control})
		same(t, "there and back in a home", inHome(t, again, documents2, clock, flaw).Store(), first.Store())

		// Positions of the history before are good in the new one.
		for _, log := range []func(amber.Store) amber.ChangeLog{
			func(s amber.Store) amber.ChangeLog { return s.Changes },
			func(s amber.Store) amber.ChangeLog { return s.ControlChanges },
		} {
			at := must.Get(log(first.Store()).Head(t.Context()))(t)
			must.Equal(t, "changes since", len(must.Get(log(copied.Store()).Changes(t.Context(), at, 100))(t)), 0)
		}
		clock.Advance(time.Second)
		must.Get(copied.Write(t.Context(), amber.WriteRequest{Content: "written after the switch"}))(t)
	}
}

func TestCarryPopulated(t *testing.T) {
	t.Parallel()
	a, clock := agent(database(t), "populated"), newClock()
	s := use(t, a, clock)
	must.Do(t, storetest.Populate(t.Context(), s.Store(), clock))
	must.NoError(t, s.VerifyIndex(t.Context()))
	dir, e, _ := exported(t, a)
	// Next to nothing is empty, or the comparison says little.
	empty := 0
	for _, x := range e.Tables {
		if x.Rows == 0 {
			empty++
		}
	}
	must.Hold(t, len(e.Tables) >= 45 && empty <= 22, "%d of %d tables are empty", empty, len(e.Tables))
	must.Fail(mirror.Export(t.Context(), a, dir, mirror.ExportOptions{}))(t, "over another mirror", amber.KindConflict)
	must.Get(os.Stat(filepath.Join(dir, "memory.db")))(t)
	must.Fail(mirror.Export(t.Context(), agent(a.Server, "nobody"), t.TempDir(), mirror.ExportOptions{}))(t, "no agent", amber.KindNotFound)
	must.Fail(mirror.Export(t.Context(), a, t.TempDir(), mirror.ExportOptions{Update: true}))(t, "update of no files", amber.KindConflict)
	carry(t, a, clock)
}

// named is the place of one agent.
type named struct {
	mirror.Agent
	env *storetest.Env
}

func (p named) Open(ctx context.Context, env storetest.Env) (amber.Store, io.Closer, error) {
	*p.env = env
	s, err := p.Server.Open(ctx, p.Tenant, p.ID, postgres.Options{Clock: env.Clock, Random: env.Random, Queue: env.Queue})
	if err != nil {
		return amber.Store{}, nil, err
	}
	return s.Store(), s, nil
}

func (named) Remove() error { return nil } // it is carried

func TestCarryHistories(t *testing.T) {
	t.Parallel()
	model := storetest.Fleeting("inmem", func(env storetest.Env) (amber.Store, error) {
		s, err := inmem.New(inmem.Options{Clock: env.Clock, Random: env.Random, Device: "model", Incarnation: "model", Queue: env.Queue, LogAll: true})
		if err != nil {
			return amber.Store{}, err
		}
		return s.Store(), nil
	})
	s := database(t)
	for i := range *histories {
		n := *seed
		if n == 0 {
			n = mathrand.Uint64()
		}
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var env storetest.Env
			a := agent(s, amber.AgentID(fmt.Sprint("history-", i)))
			must.Do(t, storetest.History(t.Context(), n, storetest.HistoryOptions{Operations: 300}, model, storetest.Backend{
				Name: "postgres", Durable: true, Shared: true, Fresh: func() (storetest.Place, error) { return named{a, &env}, nil },
			}))
			clock := storetest.NewClock(env.Clock())
			// Something that every question finds an answer in.
			must.Get(use(t, a, clock).Write(t.Context(), amber.WriteRequest{Content: "coffee in the night shift"}))(t)
			// A history may have set its clock back. The queue of an agent never sees a time before its own newest change,
			// and that of a copy none before the newest change of the whole agent: with a clock behind these, a lease that
			// the agent still counts may have run out in its copy.
			_, e, _ := exported(t, a)
			clock.Advance(max(0, max(e.Memory.Stamp, e.Control.Stamp).Time().Time().Sub(clock.Now())))
			carry(t, a, clock)
		})
		if *seed != 0 {
			return
		}
	}
}

// Export and Import carry the marks of rows that are yet to be indexed as they are.
func TestDirtyRowsAreCarried(t *testing.T) {
	t.Parallel()
	pg, name := fresh(t)
	a, clock := agent(connect(t, pg.DSN(name)), "dirty"), newClock()
	must.Get(use(t, a, clock).Write(t.Context(), amber.WriteRequest{Content: "one"}))(t)
	c := must.Get(pgx.Connect(t.Context(), pg.DSN(name)))(t)
	defer c.Close(context.Background())
	must.Get(c.Exec(t.Context(), `INSERT INTO amber.index_dirty (gen, source, owner) SELECT live_gen, 'memory', 'x' FROM amber_meta.agents`))(t)
	dir, e, _ := exported(t, a)
	db := must.Get(sql.Open("sqlite", filepath.Join(dir, "memory.db")))(t)
	var dirty string
	must.Do(t, db.QueryRow(`SELECT group_concat(source || ' ' || owner) FROM index_dirty`).Scan(&dirty))
	must.Equal(t, "in the file", dirty, "memory x")
	must.Do(t, db.Close())
	b := must.Get(mirror.Import(t.Context(), agent(a.Server, "copy"), files(dir), mirror.ImportOptions{}))(t)
	tables(t, "in the copy", b.Tables, e.Tables)
}

// Everything goes through a pooler that gives each transaction another connection.
func TestCarryThroughPooler(t *testing.T) {
	t.Parallel()
	pg, name := fresh(t)
	pooler := pgtest.NewBouncer(t, pg, pgtest.BouncerOptions{})
	s := connect(t, pooler.DSN(name))
	a, clock := agent(s, "pooled"), newClock()
	must.Do(t, storetest.Populate(t.Context(), use(t, a, clock).Store(), clock))
	dir, e, documents := exported(t, a)
	b := must.Get(mirror.Import(t.Context(), a, files(dir), mirror.ImportOptions{Documents: all(documents)}))(t)
	must.Get(b.Switch(t.Context(), mirror.SwitchOptions{}))(t)
	_, after, _ := exported(t, a)
	tables(t, "the new generation", after.Tables, e.Tables, incarnations...)
	must.Do(t, mirror.Discard(t.Context(), s, e.Gen))
	must.Equal(t, "rows that are left", left(t, pg.DSN(name), e.Gen), nil)
}

// A process that makes an agent while an import carries another agent of that name here gets its agent, and the carried
// one does not become live.
func TestAgentMadeMeanwhile(t *testing.T) {
	t.Parallel()
	s := database(t)
	from := agent(s, "from")
	must.Get(use(t, from, nil).Write(t.Context(), amber.WriteRequest{Content: "carried"}))(t)
	dir, _, _ := exported(t, from)
	to := agent(s, "to")
	b := must.Get(mirror.Import(t.Context(), to, files(dir), mirror.ImportOptions{Device: "moved"}))(t)
	made := use(t, to, nil)
	must.Get(made.Write(t.Context(), amber.WriteRequest{Content: "made"}))(t)
	must.Fail(b.Switch(t.Context(), mirror.SwitchOptions{}))(t, "switch", amber.KindConflict)
	must.Do(t, b.Discard(t.Context()))
	must.Equal(t, "memories", must.Get(made.Stats(t.Context()))(t).Memories, 1)
	_, current, err := s.Live(t.Context(), to.Tenant, to.ID)
	must.Do(t, err)
	must.Hold(t, current.Device != "moved", "the agent has the device of the other one")
	// It can be replaced by one of the files now.
	b = must.Get(mirror.Import(t.Context(), to, files(dir), mirror.ImportOptions{Device: "moved"}))(t)
	must.Equal(t, "device", must.Get(b.Switch(t.Context(), mirror.SwitchOptions{}))(t).Current.Device, current.Device)
	hits := must.Get(made.Recall(t.Context(), amber.Query{Text: "carried"}))(t)
	must.Equal(t, "hits", len(hits.Hits), 1)
}
