package drain_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/golden"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/inmem"
)

var (
	update = flag.Bool("update", false, "rewrite the golden files")
	trials = flag.Int("trials", 5, "how many processes are killed")
	seeds  = flag.Int("drain.seeds", 2, "how many ways a power cut can go are tried after each call; 6 at full size")
	stride = flag.Int("drain.stride", 3, "every how many calls fail; 1: each")
)

func TestMain(m *testing.M) {
	if job := os.Getenv(childJob); job != "" {
		os.Exit(child(job))
	}
	os.Exit(m.Run())
}

// now is when everything in these tests happens.
var now = amber.UnixMilli(1_767_323_045_678)

func clock() time.Time { return now.Time() }

// one is the session most tests are about.
var one = journal.Session{Host: "claude-code", ID: "s-1"}

// world is a journal and a store to drain it into.
type world struct {
	t       testing.TB
	dir     string
	journal *journal.Journal
	store   *inmem.Store
}

// newWorld returns an empty store and a journal that holds the events.
func newWorld(t testing.TB, events ...journal.HostEvent) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "spool")
	w := &world{t: t, dir: dir, journal: openJournal(t, dir, fsx.OS()), store: newStore(t)}
	w.keep(events...)
	return w
}

func newStore(t testing.TB) *inmem.Store {
	t.Helper()
	return must.Get(inmem.New(inmem.Options{Clock: clock, Random: rand.Reader}))(t)
}

func openJournal(t testing.TB, dir string, fsys fsx.FS) *journal.Journal {
	t.Helper()
	return must.Get(journal.Open(dir, journal.Options{Clock: clock, FS: fsys}))(t)
}

// worker returns a worker that does not wait.
func (w *world) worker(o drain.Options) *drain.Worker {
	w.t.Helper()
	if o.Journal == nil {
		o.Journal = w.journal
	}
	if o.Store == nil {
		o.Store = w.store
	}
	if o.Wait == nil {
		o.Wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	o.Clock = clock
	return must.Get(drain.New(o))(w.t)
}

// once drains and expects no failure.
func (w *world) once(o drain.Options) drain.Report {
	w.t.Helper()
	report, err := w.worker(o).Once(context.Background())
	if err != nil || report.Err() != nil {
		w.t.Fatalf("drain: %v, %v", err, report.Failed)
	}
	return report
}

// drains drains once and checks the whole report.
func (w *world) drains(o drain.Options, want drain.Report) {
	w.t.Helper()
	must.Equal(w.t, "report", w.once(o), want, sameReport)
}

// sameReport compares what a report shows.
var sameReport = cmp.Options{cmpopts.IgnoreUnexported(drain.Report{}), cmpopts.EquateEmpty()}

// event returns an event of session one, the n-th.
func event(n int, kind journal.EventKind) journal.HostEvent {
	return journal.HostEvent{
		Schema: journal.HostEventSchema, EventID: fmt.Sprintf("%032x", n), Native: true, Host: one.Host, SessionID: one.ID,
		Kind: kind, ObservedAt: now, Project: "acme/shop", Directory: "/src/shop",
	}
}

func prompt(n int, text string) journal.HostEvent {
	ev := event(n, journal.HostPrompt)
	ev.Prompt = text
	return ev
}

func answer(n int, text string) journal.HostEvent {
	ev := event(n, journal.HostTurnEnd)
	ev.Answer = text
	return ev
}

func marshal(t testing.TB, ev journal.HostEvent) []byte {
	t.Helper()
	return must.Get(json.Marshal(ev))(t)
}

// keep appends events to the journal.
func (w *world) keep(events ...journal.HostEvent) {
	w.t.Helper()
	for _, ev := range events {
		s := journal.Session{Host: ev.Host, ID: ev.SessionID}
		must.Get(w.journal.Append(context.Background(), s, journal.Entry{Payload: marshal(w.t, ev)}))(w.t)
	}
}

// said returns what was said in session one.
func said(t testing.TB, s amber.Turns) []string {
	t.Helper()
	turns := must.Get(amber.LastTurns(context.Background(), s, one.ID, 100_000))(t)
	var out []string
	for _, turn := range turns {
		out = append(out, string(turn.Role)+": "+turn.Content)
	}
	return out
}

func (w *world) wantSaid(want ...string) {
	w.t.Helper()
	must.Equal(w.t, "turns", said(w.t, w.store), want)
}

// session returns session one.
func (w *world) session() amber.Session {
	w.t.Helper()
	return must.Get(w.store.Session(context.Background(), one.ID))(w.t)
}

// memories returns the memories of a kind, sorted.
func (w *world) memories(kind amber.MemoryKind) []amber.Memory {
	w.t.Helper()
	page := must.Get(w.store.List(context.Background(), amber.ListQuery{
		Filter: amber.Filter{Kinds: []amber.MemoryKind{kind}, Identities: amber.Identities{ProjectID: "acme/shop"}},
		Limit:  amber.MaxPageSize,
	}))(w.t)
	slices.SortFunc(page.Items, func(a, b amber.Memory) int { return strings.Compare(a.Content, b.Content) })
	return page.Items
}

// newDisk returns a simulated disk with the folder above the spool. The
// folders of sessions are on the real disk too: kernel locks know no other.
func newDisk(t testing.TB, dir string, sessions ...journal.Session) *crashfs.FS {
	t.Helper()
	disk := crashfs.New()
	must.Do(t, fsx.MkdirAll(disk, filepath.Dir(dir), 0o700))
	for _, s := range append(sessions, one) {
		must.Do(t, os.MkdirAll(filepath.Join(dir, string(s.Key())), 0o700))
	}
	return disk
}

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	golden.Check(t, *update, name, got)
}
