package move_test

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/move"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/store/postgres/postgrestest"
	"github.com/amber-memory/amber/internal/store/vaultrow"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/store/storetest"
)

var (
	steps = flag.Int("move.steps", 3, "after every how many steps a move is killed; 1: after each")
	cuts  = flag.Int("move.cuts", 3, "at how many statements a move is killed, in each direction; 0: at every one")
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// world is an agent with a home and a database.
type world struct {
	*testing.T
	pg     *pgtest.Server
	name   string // of the database
	server *postgres.Server
	home   *home.Home
	agent  *home.Agent
	clock  *storetest.Clock
}

func newWorld(t *testing.T) *world {
	t.Helper()
	pg := pgtest.Shared(t)
	w := &world{T: t, pg: pg, name: postgrestest.Database(t, pg), clock: storetest.NewClock(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC))}
	w.server = w.connect(pg.DSN(w.name))
	w.home, w.agent = w.at(filepath.Join(t.TempDir(), "home"))
	return w
}

func (w *world) connect(dsn string) *postgres.Server {
	w.Helper()
	s := must.Get(postgres.Connect(w.Context(), postgres.ServerOptions{DSN: dsn, Clock: time.Now, Random: rand.Reader, Connections: 4}))(w)
	w.Cleanup(func() { must.NoError(w, s.Close()) })
	return s
}

func (w *world) at(dir string) (*home.Home, *home.Agent) {
	w.Helper()
	h, _, err := home.Open(dir, home.Options{Clock: w.clock.Now, Random: rand.Reader})
	must.Do(w, err)
	return h, must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(w)
}

func (w *world) options() move.Options {
	return move.Options{Server: w.server, Place: "the database of the test", Home: w.home, Agent: w.agent, Clock: w.clock.Now, Random: rand.Reader}
}

// lite opens the store of the home.
func (w *world) lite() *sqlite.Store {
	w.Helper()
	return must.Get(w.tryLite())(w)
}

func (w *world) tryLite() (*sqlite.Store, error) {
	s, err := sqlite.Open(w.Context(), w.agent, sqlite.Options{Clock: w.clock.Now, Random: rand.Reader})
	if err == nil {
		w.Cleanup(func() { must.NoError(w, s.Close()) })
	}
	return s, err
}

// rows opens the store in the database.
func (w *world) rows() *postgres.Store {
	w.Helper()
	return must.Get(w.tryRows())(w)
}

func (w *world) tryRows() (*postgres.Store, error) {
	s, err := w.server.Open(w.Context(), amber.DefaultTenant, amber.DefaultAgent, postgres.Options{Clock: w.clock.Now, Existing: true})
	if err == nil {
		w.Cleanup(func() { must.NoError(w, s.Close()) })
	}
	return s, err
}

// store opens the agent where it lives.
func (w *world) store() amber.Store {
	w.Helper()
	if sqlite.IsHere(w.agent) {
		return w.lite().Store()
	}
	return w.rows().Store()
}

func (w *world) notes() *notes.Dir {
	w.Helper()
	return must.Get(notes.New(notes.Options{Guard: snapshot.NotesGuard(w.agent), Clock: w.clock.Now}))(w)
}

// gen is the folder of the live generation.
func (w *world) gen() string {
	w.Helper()
	return w.agent.GenDir(must.Get(w.agent.Current())(w))
}

// vaultPlace is the place of a file of the vault.
var vaultPlace = strings.Repeat("ab", 32)

// fill gives the agent in the home something of everything.
func (w *world) fill() {
	w.Helper()
	must.Do(w, storetest.Populate(w.Context(), w.lite().Store(), w.clock))
	n := w.notes()
	must.Get(n.WriteNote(w.Context(), amber.NoteWrite{Name: "plan", Content: "# Plan\n\nfirst"}))(w)
	must.Get(n.WriteNote(w.Context(), amber.NoteWrite{Name: "plan", Content: "# Plan\n\nsecond"}))(w)
	must.Get(n.WriteNote(w.Context(), amber.NoteWrite{Name: "deep/er", Content: "a note in a folder"}))(w)
	must.Do(w, os.WriteFile(filepath.Join(w.gen(), "memdir", "hand.md"), []byte("written by hand"), 0o600))
	w.put("state/vault/some/file", "what the vault keeps")
	w.put("state/vault/ab/"+vaultPlace, "a file of the vault")
	w.put("state/_consolidation.json", "{}\n")
}

func (w *world) put(path, text string) {
	w.Helper()
	path = filepath.Join(w.gen(), filepath.FromSlash(path))
	must.Do(w, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(w, os.WriteFile(path, []byte(text), 0o600))
}

func (w *world) dump(s amber.Store) map[string]any {
	w.Helper()
	s.Notes, s.NoteLog = nil, nil // compared as repositories
	d := must.Get(storetest.Dump(w.Context(), s))(w)
	must.Hold(w, len(d) > 10, "the dump has %d parts", len(d))
	return d
}

func (w *world) same(what string, got, want map[string]any) {
	w.Helper()
	must.Equal(w, what, storetest.Differences(got, want), "")
}

// git asks the notes of the live generation.
func (w *world) git(args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "git", args...)
	cmd.Dir = filepath.Join(w.gen(), "memdir")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

// repository is every object and reference of the notes.
func (w *world) repository() string {
	w.Helper()
	w.git("fsck", "--strict", "--full")
	objects := strings.Split(w.git("rev-list", "--objects", "--all", "--no-object-names"), "\n")
	slices.Sort(objects)
	return strings.Join(objects, "\n") + w.git("for-each-ref") + w.git("status", "--porcelain")
}

func (w *world) run(to move.To) move.Report {
	w.Helper()
	return must.Get(move.Run(w.Context(), w.options(), to))(w)
}

// An agent goes to the database, back, and to the database again, and is what it was. The log goes on without a gap.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	open := w.lite()
	before := w.dump(open.Store())
	head := must.Get(open.Head(t.Context()))(t)
	device := must.Get(w.agent.Current())(t).Device

	plan := must.Get(move.Look(t.Context(), w.options(), move.Postgres))(t)
	must.Hold(t, plan.Rows > 50 && plan.Bytes > 10_000 && plan.Documents > 0, "the plan is %+v", plan)
	must.Equal(t, "notes of the plan", plan.Notes, 3)
	must.Equal(t, "what a plan leaves", must.Get(w.agent.Moved())(t) == nil, true)
	must.Fail(move.Look(t.Context(), w.options(), move.SQLite))(t, "a plan to where it is", amber.KindConflict)

	// A stranger with the same name.
	other := must.Get(w.server.Open(t.Context(), "other", amber.DefaultAgent, postgres.Options{Clock: w.clock.Now}))(t)
	must.Get(other.Write(t.Context(), amber.WriteRequest{Content: "of another tenant"}))(t)
	stranger := must.Get(storetest.Dump(t.Context(), other.Store()))(t)

	report := w.run(move.Postgres)
	must.Equal(t, "rows", report.Rows, plan.Rows)
	must.Equal(t, "documents", report.Documents, plan.Documents)
	must.Hold(t, report.Objects >= 10, "%d objects", report.Objects)
	rows := w.rows()
	w.same("in the database", w.dump(rows.Store()), before)
	must.NoError(t, rows.Notes().Check(t.Context()))
	must.Equal(t, "a note that was written by hand", must.Get(rows.Notes().ReadNote(t.Context(), "hand"))(t).Content, "written by hand")
	found := must.Get(rows.Recall(t.Context(), amber.Query{Text: "written by hand", Layers: []amber.RecallLayer{amber.LayerNote}}))(t)
	must.Hold(t, len(found.Hits) == 1 && found.Hits[0].Owner == "hand", "the note that was written by hand is found as %v", found.Hits)
	for _, f := range rows.Check(t.Context()) {
		must.NoError(t, f.Err)
	}
	_, current, err := w.server.Live(t.Context(), amber.DefaultTenant, amber.DefaultAgent)
	must.Do(t, err)
	must.Equal(t, "device", current.Device, device)

	// The old side, open or not, is closed for good.
	must.Fail(open.Write(t.Context(), amber.WriteRequest{Content: "too late"}))(t, "a write to the old side", amber.KindRefused)
	must.Kind(t, "a read of the old side", must.Err(open.Stats(t.Context())), amber.KindRefused, "the database of the test")
	must.Kind(t, "opening the old side", must.Err(w.tryLite()), amber.KindRefused, "has moved to the database of the test")
	must.Kind(t, "a note", must.Err(w.notes().ListNotes(t.Context())), amber.KindRefused)
	must.Equal(t, "what is no file of the vault", string(must.Get(os.ReadFile(filepath.Join(w.gen(), "state", "vault", "some", "file")))(t)), "what the vault keeps")
	must.Do(t, w.server.Vault(amber.DefaultTenant, amber.DefaultAgent).Update(t.Context(), "test", func(tx vaultrow.Tx) error {
		b, _, err := tx.Read(vaultPlace)
		must.Equal(t, "the file of the vault in the database", string(b), "a file of the vault")
		return errors.Join(err, tx.Put(vaultPlace, []byte("changed in the database")))
	}))
	must.Hold(t, os.IsNotExist(must.Err(os.Stat(filepath.Join(w.gen(), "state", "vault", "ab", vaultPlace)))), "the file of the vault is still in the home")
	must.Fail(move.Undo(t.Context(), w.options()))(t, "an undo afterwards", amber.KindConflict)
	must.Fail(move.Resume(t.Context(), w.options()))(t, "a resume afterwards", amber.KindNotFound)
	must.Fail(move.Run(t.Context(), w.options(), move.Postgres))(t, "a second move", amber.KindConflict)

	// A reader who follows the log reads on.
	must.Equal(t, "changes after the head", len(must.Get(rows.Changes(t.Context(), head, 10))(t)), 0)
	must.Get(rows.Write(t.Context(), amber.WriteRequest{Content: "written in the database"}))(t)
	changes := must.Get(rows.Changes(t.Context(), head, 10))(t)
	must.Equal(t, "the first change after the move", seq(t, changes[0].Position), seq(t, head)+1)
	must.Get(rows.Notes().WriteNote(t.Context(), amber.NoteWrite{Name: "plan", Content: "# Plan\n\nthird"}))(t)
	last := must.Get(rows.Head(t.Context()))(t)
	there := w.dump(rows.Store())

	back := w.run(move.SQLite)
	must.Equal(t, "rows back", back.Rows > report.Rows, true)
	w.same("in the home again", w.dump(w.lite().Store()), there)
	must.Says(t, "notes", w.git("log", "--format=%s"), "plan")
	repository := w.repository()
	must.Equal(t, "device in the home", must.Get(w.agent.Current())(t).Device, device)
	must.Equal(t, "what is no file of the vault", string(must.Get(os.ReadFile(filepath.Join(w.gen(), "state", "vault", "some", "file")))(t)), "what the vault keeps")
	must.Equal(t, "the file of the vault", string(must.Get(os.ReadFile(filepath.Join(w.gen(), "state", "vault", "ab", vaultPlace)))(t)), "changed in the database")
	must.Equal(t, "generations", len(must.Get(w.agent.Generations())(t)), 1) // the old copy went
	must.Kind(t, "the database", must.Err(w.tryRows()), amber.KindRefused, "has moved to the home")
	must.Kind(t, "who has it open", must.Err(rows.Stats(t.Context())), amber.KindRefused, "has moved to the home")
	must.Fail(w.server.Open(t.Context(), amber.DefaultTenant, amber.DefaultAgent, postgres.Options{}))(t, "making it anew", amber.KindRefused)
	lite := w.lite()
	must.Get(lite.Write(t.Context(), amber.WriteRequest{Content: "written in the home"}))(t)
	must.Equal(t, "the first change after the way back", seq(t, must.Get(lite.Changes(t.Context(), last, 10))(t)[0].Position), seq(t, last)+1)
	must.Equal(t, "from the very first position", len(must.Get(lite.Changes(t.Context(), head, 1000))(t)), len(changes)+len(must.Get(lite.Changes(t.Context(), changes[len(changes)-1].Position, 1000))(t)))

	// There again, over the copy that is still there.
	again := w.dump(lite.Store())
	w.run(move.Postgres)
	w.same("in the database again", w.dump(w.rows().Store()), again)
	must.Equal(t, "generations in the database", w.count(`SELECT count(*) FROM amber_meta.generations WHERE tenant = 'default'`), 1)
	must.Says(t, "what would be forgotten", must.Get(move.Keeps(t.Context(), w.options()))(t), "gen")
	old := must.Get(move.Keeps(t.Context(), w.options()))(t)
	must.Get(move.Forget(t.Context(), w.options()))(t)
	must.Hold(t, os.IsNotExist(must.Err(os.Lstat(old))), "%s is still there", old)
	must.Fail(move.Keeps(t.Context(), w.options()))(t, "what is left to forget", amber.KindNotFound)
	must.Equal(t, "the note", must.Get(w.agent.Moved())(t) == nil, true)

	// And home, to forget in the database.
	w.run(move.SQLite)
	must.Equal(t, "objects and references", w.repository(), repository)
	must.Says(t, "what would be forgotten", must.Get(move.Keeps(t.Context(), w.options()))(t), "rows")
	must.Get(move.Forget(t.Context(), w.options()))(t)
	for _, table := range []string{"amber_meta.generations", "amber_meta.agents", "amber_meta.moves"} {
		must.Equal(t, table, w.count(`SELECT count(*) FROM `+table+` WHERE tenant = 'default'`), 0)
	}
	must.Equal(t, "memories of one agent", w.count(`SELECT count(DISTINCT gen) FROM amber.memories`), 1)
	w.same("in the end", w.dump(w.lite().Store()), again)
	w.same("the stranger", must.Get(storetest.Dump(t.Context(), other.Store()))(t), stranger)
	must.NoError(t, other.Close())
}

// seq is the number of an entry.
func seq(t *testing.T, p amber.Position) int64 {
	t.Helper()
	_, n, err := p.Parse()
	must.Do(t, err)
	return n
}

func (w *world) count(query string) (n int64) {
	w.Helper()
	must.Do(w, w.server.DB().Conn(w.Context(), func(c *pgx.Conn) error { return c.QueryRow(w.Context(), query).Scan(&n) }))
	return n
}

var errKilled = errors.New("killed")

// stopAt makes a move end after a step.
func (w *world) stopAt(step string) move.Options {
	o := w.options()
	o.Step = func(name string) error {
		if name == step {
			return errKilled
		}
		return nil
	}
	return o
}

// nobody tries to write on both sides and returns how many of them take it: none while the move is not decided, exactly
// one otherwise. A side that refuses must give a hint.
func (w *world) nobody(what string) (usable int) {
	w.Helper()
	for _, try := range []func() error{
		func() error {
			s, err := w.tryLite()
			if err == nil {
				_, err = s.Write(w.Context(), amber.WriteRequest{Content: "x", Topic: "probe"})
			}
			return err
		},
		func() error {
			s, err := w.tryRows()
			if err == nil {
				_, err = s.Write(w.Context(), amber.WriteRequest{Content: "x", Topic: "probe"})
			}
			return err
		},
	} {
		switch err := try(); amber.KindOf(err) {
		case "":
			usable++
		case amber.KindNotFound:
		case amber.KindRefused:
			must.Hold(w, amber.HintOf(err) != "", "%s: no hint in %v", what, err)
		default:
			w.Fatalf("%s: %v", what, err)
		}
	}
	return usable
}

var (
	leaving  = []string{"noted", "reserved", "copied", "compared", "decided", "emptied", "left"}
	arriving = []string{"noted", "stopped", "copied", "compared", "decided", "live", "ended"}
)

// A move that is killed after any of its steps is taken back or comes to its end, and nothing is lost.
func TestKilledAfterEachStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	want := w.dump(w.store())
	must.Get(w.notes().WriteNote(t.Context(), amber.NoteWrite{Name: "last", Content: "the last note"}))(t) // and what was written by hand
	repository := w.repository()
	for i := range leaving {
		if (i+1)%*steps != 0 && i+1 != len(leaving) {
			continue
		}
		for _, d := range []struct {
			to   move.To
			step string
			last int // of the steps that can be undone
		}{{move.Postgres, leaving[i], 3}, {move.SQLite, arriving[i], 4}} {
			what := fmt.Sprintf("to %s, killed after %s", d.to, d.step)
			must.Is(t, what, must.Err(move.Run(t.Context(), w.stopAt(d.step), d.to)), errKilled)
			usable := w.nobody(what)
			must.Fail(move.Run(t.Context(), w.options(), d.to))(t, what+": another move", amber.KindConflict)
			if i <= d.last {
				if d.to == move.SQLite && d.step == "noted" { // the agent is not stopped yet, and what is written moves along
					must.Equal(t, what+": sides that can be used", usable, 1)
					want = w.dump(w.store())
				} else {
					must.Equal(t, what+": sides that can be used", usable, 0)
				}
				r := must.Get(move.Undo(t.Context(), w.options()))(t)
				must.Equal(t, what+": undone", r.Undone, true)
				w.same(what+", undone", w.dump(w.store()), want)
				must.Equal(t, what+": generations that are built", w.count(`SELECT count(*) FROM amber_meta.generations WHERE state IN ('building', 'dropping')`), 0)
				must.Is(t, what, must.Err(move.Run(t.Context(), w.stopAt(d.step), d.to)), errKilled)
			} else {
				must.Fail(move.Undo(t.Context(), w.options()))(t, what+": undo", amber.KindConflict)
			}
			must.Get(move.Resume(t.Context(), w.options()))(t)
			if i <= d.last {
				w.same(what+", resumed", w.dump(w.store()), want)
			} else { // the probe is there, once or not at all
				want = w.dump(w.store())
			}
			must.Equal(t, what+": where it is", sqlite.IsHere(w.agent), d.to == move.SQLite)
			if d.to == move.SQLite {
				must.Equal(t, what+": notes", w.repository(), repository)
			}
		}
	}
}

// A move is killed at statements, before the database gets them and after they were answered; then it is resumed or undone.
func TestKilledAtStatements(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if w.pg.Addr() == "" {
		t.Skip("AMBER_TEST_POSTGRES names a server on a socket, and the test needs one that a proxy can lead to")
	}
	s := w.lite()
	for i := range 5 {
		must.Get(s.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprint("memory ", i)}))(t)
	}
	must.Get(w.notes().WriteNote(t.Context(), amber.NoteWrite{Name: "plan", Content: "a plan"}))(t)
	want := w.dump(s.Store())
	proxy := pgtest.NewProxy(t, w.pg.Addr())
	attempt := func(to move.To, settle time.Duration, rule pgtest.Rule) error {
		proxy.OnFrontend(nil)
		server := must.Get(postgres.Connect(t.Context(), postgres.ServerOptions{
			DSN: proxy.DSN(w.name), Clock: time.Now, Random: rand.Reader, Settle: settle, Connections: 2,
		}))(t)
		defer server.Close()
		proxy.OnFrontend(rule)
		o := w.options()
		o.Server = server
		return must.Err(move.Run(t.Context(), o, to))
	}
	total := map[move.To]int64{}
	var sent atomic.Int64 // statements that the server was asked to run
	runs := func(m pgtest.Message) bool { return m.Type == 'Q' || m.Type == 'E' }
	for _, to := range []move.To{move.Postgres, move.SQLite} {
		sent.Store(0)
		must.Do(t, attempt(to, time.Minute, func(m pgtest.Message) pgtest.Action {
			if runs(m) {
				sent.Add(1)
			}
			return pgtest.Forward
		}))
		total[to] = sent.Load()
		must.Hold(t, total[to] > 20, "a move to %s runs %d statements", to, total[to])
	}
	undone, resumed := 0, 0
	for n := int64(0); ; n++ {
		did := false
		for _, to := range []move.To{move.Postgres, move.SQLite} {
			stride := int64(1)
			if *cuts > 0 {
				stride = max(1, total[to]/int64(*cuts))
			}
			at := total[to] - n*stride
			if at <= 0 {
				at = 1
			} else {
				did = true
			}
			last := []pgtest.Action{pgtest.Cut, pgtest.Swallow}[n%2]
			sent.Store(0)
			err := attempt(to, 100*time.Millisecond, func(m pgtest.Message) pgtest.Action {
				i := sent.Load()
				if runs(m) {
					i = sent.Add(1)
				}
				switch {
				case i < at:
					return pgtest.Forward
				case i == at && runs(m):
					return last
				}
				return pgtest.Cut
			})
			if n%50 == 49 {
				t.Logf("to %s: killed at %d of %d statements", to, n+1, total[to])
			}
			what := fmt.Sprintf("to %s, killed at statement %d of %d (%d): %v", to, at, total[to], last, err)
			note := must.Get(w.agent.Moved())(t)
			ended := err == nil || note == nil || note.State == home.MoveLeft && sqlite.IsHere(w.agent)
			if !ended && n%2 == 0 {
				r, uerr := move.Undo(t.Context(), w.options())
				if uerr == nil {
					must.Equal(t, what+": undone", r.Undone, true)
					w.same(what+", undone", w.dump(w.store()), want)
					undone++
				} else {
					must.Kind(t, what+": undo", uerr, amber.KindConflict)
				}
			}
			// Wherever it is now, it gets to the other end.
			if _, rerr := move.Resume(t.Context(), w.options()); rerr == nil {
				resumed++
			} else if amber.KindOf(rerr) != amber.KindNotFound {
				t.Fatalf("%s: resume: %v", what, rerr)
			}
			if sqlite.IsHere(w.agent) != (to == move.SQLite) {
				w.run(to)
			}
			w.same(what, w.dump(w.store()), want)
		}
		if !did {
			break
		}
	}
	must.Hold(t, undone > 0 && resumed > 0, "%d moves were undone, %d resumed", undone, resumed)
	t.Logf("a move runs %d statements to PostgreSQL and %d to SQLite; %d were undone, %d resumed", total[move.Postgres], total[move.SQLite], undone, resumed)
	must.Equal(t, "generations that are built", w.count(`SELECT count(*) FROM amber_meta.generations WHERE state IN ('building', 'dropping')`), 0)
}

// A writer that writes while an agent moves is acknowledged and finds the memory afterwards, or is refused.
func TestWritersDuringAMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lite()
	for _, to := range []move.To{move.Postgres, move.SQLite} {
		s := w.store()
		ctx, stop := context.WithCancel(t.Context())
		var acknowledged []amber.MemoryID
		begun, ended := make(chan bool), make(chan error, 1)
		go func() {
			for i := 0; ; i++ {
				m, err := s.LongTerm.Write(ctx, amber.WriteRequest{Content: fmt.Sprintf("to %s, number %d", to, i)})
				if err != nil {
					ended <- err
					return
				}
				if acknowledged = append(acknowledged, m.ID); i == 5 {
					close(begun)
				}
			}
		}()
		<-begun
		w.run(to)
		err := <-ended
		stop()
		must.Kind(t, "the writer", err, amber.KindRefused)
		now := w.store()
		for _, id := range acknowledged {
			must.Get(now.Memories.Get(t.Context(), id))(t)
		}
		must.Equal(t, "the writer again", amber.KindOf(must.Err(s.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "again"}))), amber.KindRefused)
	}
}

// A home whose files are damaged is refused, and stays as it was.
func TestDamagedHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.lite()
	for i := range 200 {
		must.Get(s.Write(t.Context(), amber.WriteRequest{Content: strings.Repeat(fmt.Sprint("memory ", i, " "), 50)}))(t)
	}
	must.Do(t, s.Rest(t.Context()))
	must.Do(t, s.Close())
	path := filepath.Join(w.gen(), "memory.db")
	b := must.Get(os.ReadFile(path))(t)
	for i := len(b) / 2; i < len(b)/2+40_000; i++ {
		b[i] ^= 0x55
	}
	must.Do(t, os.WriteFile(path, b, 0o600))
	must.Fail(move.Look(t.Context(), w.options(), move.Postgres))(t, "the plan", amber.KindDamaged)
	must.Fail(move.Run(t.Context(), w.options(), move.Postgres))(t, "the move", amber.KindDamaged)
	must.Equal(t, "the note", must.Get(w.agent.Moved())(t) == nil, true)
	must.Equal(t, "agents in the database", w.count(`SELECT count(*) FROM amber_meta.agents`), 0)
	must.Hold(t, slices.Equal(must.Get(os.ReadFile(path))(t), b), "the file was changed")

	// The plan reports a document that no move takes along.
	whole := newWorld(t)
	must.Get(whole.lite().Write(t.Context(), amber.WriteRequest{Content: "x"}))(t)
	whole.put("state/broken.json", `{"broken":`)
	must.Fail(move.Look(t.Context(), whole.options(), move.Postgres))(t, "the plan of a broken document", amber.KindDamaged)
}

// A sync goes on after a move: what was sent is not sent again, what came is not taken again.
func TestSyncAcrossAMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	peer := must.Get(w.server.Open(t.Context(), "peers", "peer", postgres.Options{Clock: w.clock.Now}))(t)
	defer func() { must.NoError(t, peer.Close()) }()
	var place []amber.Incoming
	bring := func(s amber.Replica) int {
		t.Helper()
		at := must.Get(s.SyncPlace(t.Context(), "place", ""))(t).Position
		r := amber.OutgoingRequest{Place: "place", Since: at, After: at}
		var sent []amber.SyncRecord
		var out amber.Outgoing
		for done := false; !done; done = out.Done {
			out = must.Get(s.Outgoing(t.Context(), r))(t)
			sent = append(sent, out.Records...)
			r.After = out.Next
		}
		note := amber.ExportNote{Place: "place", Position: out.Next}
		for _, r := range sent {
			note.Marks = append(note.Marks, r.Mark())
		}
		if len(sent) > 0 {
			note.Chunk = fmt.Sprint("chunk ", len(place))
			place = append(place, amber.Incoming{Place: "place", Chunk: note.Chunk, Device: out.Device, CreatedBy: "somebody", At: out.At, Trust: amber.TrustImported, Records: sent})
		}
		must.Do(t, s.Exported(t.Context(), note))
		return len(sent)
	}
	take := func(s amber.Replica) {
		t.Helper()
		for _, c := range place {
			must.Get(s.Apply(t.Context(), c))(t)
		}
	}
	contents := func(s amber.MemoryReader) (all []string) {
		t.Helper()
		for _, m := range must.Get(s.List(t.Context(), amber.ListQuery{All: true, Limit: amber.MaxPageSize}))(t).Items {
			all = append(all, m.Content)
		}
		slices.Sort(all)
		return all
	}
	lite := w.lite()
	must.Get(lite.Write(t.Context(), amber.WriteRequest{Content: "before"}))(t)
	must.Get(peer.Write(t.Context(), amber.WriteRequest{Content: "of the peer"}))(t)
	bring(lite)
	bring(peer)
	take(lite)
	take(peer)
	bring(lite)
	for i, to := range []move.To{move.Postgres, move.SQLite} {
		w.run(to)
		s := w.store()
		must.Equal(t, "records to send after the move to "+string(to), bring(s.Sync), 0)
		must.Get(s.LongTerm.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprint("after ", i)}))(t)
		must.Get(peer.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprint("of the peer ", i)}))(t)
		must.Hold(t, bring(s.Sync) > 0, "the new memory is not sent")
		bring(peer)
		take(s.Sync)
		take(peer)
		must.Equal(t, "memories after the move to "+string(to), contents(s.Memories), contents(peer))
		must.Equal(t, "how many", len(contents(s.Memories)), 4+2*i)
		bring(s.Sync)
	}
}

// Nothing moves over an agent that is there, and no home but its own goes on with a move.
func TestOtherHomes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must.Get(w.lite().Write(t.Context(), amber.WriteRequest{Content: "of the first home"}))(t)
	second := *w
	second.home, second.agent = w.at(filepath.Join(t.TempDir(), "second"))
	must.Fail(move.Run(t.Context(), second.options(), move.Postgres))(t, "an agent that is not there", amber.KindNotFound)
	must.Fail(move.Run(t.Context(), second.options(), move.SQLite))(t, "an agent that is nowhere", amber.KindNotFound)
	must.Fail(move.Resume(t.Context(), second.options()))(t, "no move", amber.KindNotFound)
	must.Is(t, "a move", must.Err(move.Run(t.Context(), w.stopAt("copied"), move.Postgres)), errKilled)
	must.Kind(t, "a home that knows nothing of it", must.Err(move.Undo(t.Context(), second.options())), amber.KindNotFound)
	must.Fail(move.Run(t.Context(), second.options(), move.SQLite))(t, "an agent on its way", amber.KindRefused)
	foreign := w.options()
	foreign.Server = w.connect(w.pg.DSN(postgrestest.Database(t, w.pg)))
	must.Kind(t, "another database", must.Err(move.Resume(t.Context(), foreign)), amber.KindRefused, "another database")
	must.Get(move.Resume(t.Context(), w.options()))(t)

	// To the second home, and from there; the first one still has its copy.
	second.run(move.SQLite)
	must.Equal(t, "memories in the second home", len(must.Get(second.lite().List(t.Context(), amber.ListQuery{All: true}))(t).Items), 1)
	must.Kind(t, "the first home", must.Err(w.tryLite()), amber.KindRefused, "has moved")
	must.Get(second.lite().Write(t.Context(), amber.WriteRequest{Content: "of the second home"}))(t)
	second.run(move.Postgres)
	w.run(move.SQLite)
	must.Equal(t, "memories in the first home", len(must.Get(w.lite().List(t.Context(), amber.ListQuery{All: true}))(t).Items), 2)
	must.Kind(t, "the second home", must.Err(second.tryLite()), amber.KindRefused, "has moved")

	// An agent of the same name at both ends.
	must.Get(move.Forget(t.Context(), w.options()))(t)
	must.Get(w.server.Open(t.Context(), amber.DefaultTenant, amber.DefaultAgent, postgres.Options{}))(t)
	must.Fail(move.Run(t.Context(), w.options(), move.Postgres))(t, "an agent at both ends", amber.KindConflict)
	must.Fail(move.Run(t.Context(), w.options(), move.SQLite))(t, "an agent at both ends", amber.KindConflict)
	must.Get(mirror.Sweep(t.Context(), w.server))(t)
}

// An agent that comes over the copy of another one of its name is itself: the device of the other one stays with that one.
func TestOverAnotherAgentsCopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must.Get(w.lite().Write(t.Context(), amber.WriteRequest{Content: "of the first agent"}))(t)
	w.run(move.Postgres)
	w.run(move.SQLite)
	second := *w
	second.home, second.agent = w.at(filepath.Join(t.TempDir(), "second"))
	must.Get(second.lite().Write(t.Context(), amber.WriteRequest{Content: "of the second agent"}))(t)
	first, device := must.Get(w.agent.Current())(t).Device, must.Get(second.agent.Current())(t).Device
	must.Hold(t, first != device, "both agents have the device %s", device)
	second.run(move.Postgres)
	_, current, err := w.server.Live(t.Context(), amber.DefaultTenant, amber.DefaultAgent)
	must.Do(t, err)
	must.Equal(t, "device in the database", current.Device, device)
	must.Equal(t, "device of the first agent", must.Get(w.agent.Current())(t).Device, first)
	second.run(move.SQLite)
	must.Equal(t, "device in the second home", must.Get(second.agent.Current())(t).Device, device)
}

// restored puts the agent in the database, as it is, into another generation that is not live yet.
func (w *world) restored() *mirror.Building {
	w.Helper()
	a, dir := mirror.Agent{Server: w.server, Tenant: amber.DefaultTenant, ID: amber.DefaultAgent}, w.TempDir()
	must.Get(mirror.Export(w.Context(), a, dir, mirror.ExportOptions{}))(w)
	return must.Get(mirror.Import(w.Context(), a, mirror.Files{Memory: filepath.Join(dir, "memory.db"), Control: filepath.Join(dir, "control.db")}, mirror.ImportOptions{}))(w)
}

// Generations that restores have kept are forgotten with the agent.
func TestForgetWithOldGenerations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must.Get(w.lite().Write(t.Context(), amber.WriteRequest{Content: "what is to be forgotten"}))(t)
	w.run(move.Postgres)
	must.Get(w.restored().Switch(t.Context(), mirror.SwitchOptions{}))(t)
	must.Equal(t, "generations", w.count(`SELECT count(*) FROM amber_meta.generations`), 2)
	w.run(move.SQLite)
	must.Get(move.Forget(t.Context(), w.options()))(t)
	must.Equal(t, "generations afterwards", w.count(`SELECT count(*) FROM amber_meta.generations`), 0)
	must.Equal(t, "memories afterwards", w.count(`SELECT count(*) FROM amber.memories`), 0)
}

// A restore that began before a move is not switched to while the agent leaves: the home gets what the database had when it was stopped.
func TestRestoreAsAMoveBegins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must.Get(w.lite().Write(t.Context(), amber.WriteRequest{Content: "as it was"}))(t)
	w.run(move.Postgres)
	b := w.restored()
	// The move does not see the restore, as it is when both begin in the same moment.
	w.exec(`UPDATE amber_meta.work SET kind = 'unseen' WHERE kind = 'generation'`)
	must.Is(t, "a move", must.Err(move.Run(t.Context(), w.stopAt("copied"), move.SQLite)), errKilled)
	w.exec(`UPDATE amber_meta.work SET kind = 'generation' WHERE kind = 'unseen'`)
	must.Kind(t, "the switch", must.Err(b.Switch(t.Context(), mirror.SwitchOptions{})), amber.KindConflict, "leaving")
	must.Do(t, b.Discard(t.Context()))
	must.Get(move.Resume(t.Context(), w.options()))(t)
	must.Equal(t, "memories", len(must.Get(w.lite().List(t.Context(), amber.ListQuery{All: true}))(t).Items), 1)
}

func (w *world) exec(statement string) {
	w.Helper()
	must.Do(w, w.server.DB().Conn(w.Context(), func(c *pgx.Conn) error {
		_, err := c.Exec(w.Context(), statement)
		return err
	}))
}

// Deleting the agent at one end while it moves never leaves a move that cannot be ended.
func TestDeleteDuringAMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must.Get(w.lite().Write(t.Context(), amber.WriteRequest{Content: "kept"}))(t)
	rows := mirror.Agent{Server: w.server, Tenant: amber.DefaultTenant, ID: amber.DefaultAgent}
	deleteHere := func() error {
		return w.agent.Operate(t.Context(), func() error { return w.agent.Delete(t.Context(), nil) })
	}
	must.Is(t, "a move", must.Err(move.Run(t.Context(), w.stopAt("copied"), move.Postgres)), errKilled)
	must.Kind(t, "deleting the folder that leaves", deleteHere(), amber.KindRefused, "is being moved to")
	must.Do(t, mirror.Delete(t.Context(), rows, ""))
	must.Equal(t, "undone", must.Get(move.Undo(t.Context(), w.options()))(t).Undone, true)
	must.Equal(t, "memories", len(must.Get(w.lite().List(t.Context(), amber.ListQuery{All: true}))(t).Items), 1)

	w.run(move.Postgres)
	must.Is(t, "a move back", must.Err(move.Run(t.Context(), w.stopAt("copied"), move.SQLite)), errKilled)
	must.Kind(t, "deleting the folder that the agent comes to", deleteHere(), amber.KindRefused, "is being moved here")
	must.Equal(t, "undone", must.Get(move.Undo(t.Context(), w.options()))(t).Undone, true)
	must.Equal(t, "memories", len(must.Get(w.rows().List(t.Context(), amber.ListQuery{All: true}))(t).Items), 1)

	must.Is(t, "a move back", must.Err(move.Run(t.Context(), w.stopAt("copied"), move.SQLite)), errKilled)
	must.Do(t, mirror.Delete(t.Context(), rows, ""))
	must.Equal(t, "undone", must.Get(move.Undo(t.Context(), w.options()))(t).Undone, true)
	must.Do(t, deleteHere())
	must.Equal(t, "moves that are left", w.count(`SELECT count(*) FROM amber_meta.moves WHERE NOT done`), 0)
}

// An agent that is made in the home while one of its name begins to move there is not replaced by it.
func TestMadeAsAMoveBegins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	there := must.Get(w.server.Open(t.Context(), amber.DefaultTenant, amber.DefaultAgent, postgres.Options{Clock: w.clock.Now}))(t)
	must.Get(there.Write(t.Context(), amber.WriteRequest{Content: "in the database"}))(t)
	must.Do(t, there.Close())
	o, asked := w.options(), 0
	o.Clock = func() time.Time { // the move asks for the time between its look at the home and its note there
		if asked++; asked == 1 {
			must.Get(w.lite().Write(t.Context(), amber.WriteRequest{Content: "in the home"}))(t)
		}
		return w.clock.Now()
	}
	must.Kind(t, "the move", must.Err(move.Run(t.Context(), o, move.SQLite)), amber.KindConflict, "made in the home")
	for what, items := range map[string][]amber.Memory{
		"in the home": must.Get(w.lite().List(t.Context(), amber.ListQuery{All: true}))(t).Items, "in the database": must.Get(w.rows().List(t.Context(), amber.ListQuery{All: true}))(t).Items,
	} {
		must.Equal(t, "memories "+what, len(items), 1)
		must.Equal(t, "the memory", items[0].Content, what)
	}
	must.Equal(t, "the note", must.Get(w.agent.Moved())(t) == nil, true)
}
