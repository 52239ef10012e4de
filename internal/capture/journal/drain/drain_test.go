package drain_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/proc"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestADrainedSessionIsInTheStoreOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, event(1, journal.HostSessionStart), prompt(2, "fix the build"), answer(3, "Done."))
	w.drains(drain.Options{}, drain.Report{Sessions: 1, Events: 3, Applied: 3})
	w.drains(drain.Options{}, drain.Report{})
	w.wantSaid("user: fix the build", "assistant: Done.")
	if s := w.session(); s.Project != "acme/shop" || s.Directory != "/src/shop" || s.Binding != "claude-code" || !s.EndedAt.IsZero() {
		t.Errorf("the session is %+v", s)
	}
}

func TestTheSameEventTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	again := prompt(1, "hello")
	w.keep(prompt(1, "hello"), again)
	typed := prompt(7, "go on")
	typed.Native = false
	late := typed
	late.ObservedAt = amber.At(now.Time().Add(3 * time.Second))
	w.keep(typed, typed, late)
	w.drains(drain.Options{}, drain.Report{Sessions: 1, Events: 5, Applied: 3, Duplicates: 2})
	w.wantSaid("user: hello", "user: go on", "user: go on")
}

// TestAPromptToldTwiceIsOneTurn has a host that repeats the prompt with the
// answer to it.
func TestAPromptToldTwiceIsOneTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	typed := prompt(1, "hello")
	typed.TurnID = "t1"
	answered := answer(2, "Hi.")
	answered.TurnID, answered.Prompt = "t1", "hello"
	again := prompt(3, "hello")
	again.TurnID = "t2"
	w.keep(typed, answered, again)
	w.once(drain.Options{})
	w.wantSaid("user: hello", "assistant: Hi.", "user: hello")
}

// TestPoisonIsSetAside has events that can never be stored between others.
func TestPoisonIsSetAside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := prompt(2, "bad")
	bad.EventID = "not hex"
	w.keep(prompt(1, "one"), bad)
	must.Get(w.journal.Append(context.Background(), one, journal.Entry{Payload: []byte("{no json")}))(t)
	w.keep(prompt(3, "three"))
	w.drains(drain.Options{}, drain.Report{Sessions: 1, Events: 4, Applied: 2, Quarantined: 2})
	w.wantSaid("user: one", "user: three")
	var held []string
	err := w.journal.Quarantined(context.Background(), one.Key(), func(h journal.Held) error {
		held = append(held, fmt.Sprint(h.Seq, " ", h.Reason, " ", len(h.Payload)))
		return nil
	})
	if err != nil || len(held) != 2 || !strings.HasPrefix(held[0], "2 check event id") || !strings.HasPrefix(held[1], "3 understand event") {
		t.Errorf("quarantine %q, %v", held, err)
	}
	w.drains(drain.Options{}, drain.Report{}) // given up once
}

// stubborn is a store whose Ingest fails as told.
type stubborn struct {
	drain.Store
	fail  func(amber.Ingestion) error
	tries int
}

func (s *stubborn) Ingest(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error) {
	if err := s.fail(in); err != nil {
		s.tries++
		return amber.IngestResult{}, err
	}
	return s.Store.Ingest(ctx, in)
}

// TestAFullStoreGivesNothingUp has a store that takes nothing: every event
// stays in the journal and is drained when it takes something again.
func TestAFullStoreGivesNothingUp(t *testing.T) {
	t.Parallel()
	for _, kind := range []amber.Kind{
		amber.KindInternal, amber.KindBusy, amber.KindRefused, amber.KindQuota, amber.KindUnreachable, amber.KindTooNew, amber.KindUnsupported,
	} {
		w := newWorld(t, prompt(1, "one"), prompt(2, "two"))
		full := &stubborn{Store: w.store, fail: func(amber.Ingestion) error {
			return &amber.Error{Op: "ingest", Kind: kind, Err: syscall.ENOSPC}
		}}
		report, err := w.worker(drain.Options{Store: full}).Once(context.Background())
		if err != nil || report.Quarantined != 0 || amber.KindOf(report.Err()) != kind {
			t.Errorf("%s: %+v, %v", kind, report, err)
		}
		w.once(drain.Options{})
		w.wantSaid("user: one", "user: two")
	}
}

// TestOneBadEventIsTriedThenSetAside has a store that takes everything but one
// event, with an error that might pass.
func TestOneBadEventIsTriedThenSetAside(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"), prompt(2, "two"), prompt(3, "three"))
	picky := &stubborn{Store: w.store, fail: func(in amber.Ingestion) error {
		for _, s := range in.Steps {
			if s.Event.ID == fmt.Sprintf("%032x", 2) {
				return errors.New("no idea")
			}
		}
		return nil
	}}
	var waits []time.Duration
	w.drains(drain.Options{Store: picky, Wait: func(_ context.Context, d time.Duration) error {
		waits = append(waits, d)
		return nil
	}}, drain.Report{Sessions: 1, Events: 3, Applied: 2, Quarantined: 1})
	want := []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond}
	must.Equal(t, "pauses", waits, want)
	w.wantSaid("user: one", "user: three")
}

// TestOneBadSessionNeverKeepsAnotherBack damages the first of two.
func TestOneBadSessionNeverKeepsAnotherBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []amber.SessionID{"a", "b", "c"} {
		ev := prompt(1, "hello")
		ev.SessionID, ev.EventID = id, fmt.Sprintf("%032x", id)
		w.keep(ev)
	}
	picky := &stubborn{Store: w.store, fail: func(in amber.Ingestion) error {
		if in.Session == "b" {
			return amber.Errorf(amber.KindBusy, "ingest", "", "not now")
		}
		return nil
	}}
	report, err := w.worker(drain.Options{Store: picky}).Once(context.Background())
	if err != nil || report.Applied != 2 || len(report.Failed) != 1 || amber.KindOf(report.Err()) != amber.KindBusy {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestTwoDrainsAtOnce share the work; each event still counts once.
func TestTwoDrainsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []string
	for i := range 600 {
		w.keep(prompt(i+1, fmt.Sprint("prompt ", i)))
		want = append(want, fmt.Sprint("user: prompt ", i))
	}
	done := make(chan error)
	for range 4 {
		go func() {
			report, err := w.worker(drain.Options{}).Once(context.Background())
			done <- errors.Join(err, report.Err())
		}()
	}
	for range 4 {
		must.NoError(t, <-done)
	}
	w.wantSaid(want...)
}

// A worker that stands back lets others drain meanwhile, also all that it still has on its
// list; and goes on with what came in between.
func TestOthersDrainWhileAWorkerStandsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 4 {
		ev := event(n, journal.HostSessionEnd)
		ev.SessionID = amber.SessionID(fmt.Sprint("s-", n))
		w.keep(ev)
	}
	times := 0
	report := w.once(drain.Options{StandBack: func(context.Context) {
		if times++; times == 1 {
			must.Equal(t, "drained by another", w.once(drain.Options{}).Applied, int64(3))
			w.keep(prompt(7, "in between"))
		}
	}})
	must.Equal(t, "failed", len(report.Failed), 0)
	must.Equal(t, "stood back after sessions with events", times, 1)
	w.once(drain.Options{})
	w.wantSaid("user: in between")
}

// A worker ends its round when another process holds the journal as the worker wants to go on, and nothing is lost.
func TestAHoldWhileAWorkerStandsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"))
	other := prompt(2, "two")
	other.SessionID = "s-2"
	w.keep(other)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var end func() error
	report, err := w.worker(drain.Options{StandBack: func(context.Context) {
		end = must.Get(w.journal.BeginDrain(t.Context()))(t)
		cancel()
	}}).Once(ctx)
	must.Kind(t, "a round that was held up", err, amber.KindUnreachable)
	must.Equal(t, "events drained before", report.Applied, int64(1))
	must.Do(t, end())
	must.Equal(t, "events left", w.once(drain.Options{}).Applied, int64(1))
}

func TestAGapIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := must.Get(journal.Open(w.dir, journal.Options{Clock: clock, MaxSessionBytes: 600}))(t)
	must.Get(j.Append(context.Background(), one, journal.Entry{Payload: make([]byte, 590), Droppable: true, About: "tool Bash"}))(t)
	w.once(drain.Options{})
	got, err := w.store.ListActivity(context.Background(), one.ID, amber.ActivityGap)
	if err != nil || len(got) != 1 || got[0].Name != "tool Bash" || !strings.Contains(got[0].Detail, "590 bytes") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAnEventOfANewerAmberWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	newer := prompt(2, "two")
	newer.Schema++
	w.keep(prompt(1, "one"), newer)
	report, err := w.worker(drain.Options{}).Once(context.Background())
	if err != nil || report.Quarantined != 0 || amber.KindOf(report.Err()) != amber.KindTooNew {
		t.Errorf("%+v, %v", report, err)
	}
	w.wantSaid("user: one")
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	end := event(2, journal.HostSessionEnd)
	end.Reason = "logout"
	host := amber.HostProcess{PID: 4711, Start: 1, Boot: "b", Namespace: "n"}
	live := prompt(1, "work")
	live.Process = host
	alive := func(l proc.Liveness) func(amber.HostProcess) proc.Liveness {
		return func(p amber.HostProcess) proc.Liveness {
			if p != host {
				return proc.Unknown
			}
			return l
		}
	}
	later := func(d time.Duration) amber.Clock { return func() time.Time { return clock().Add(d) } }
	for _, tt := range []struct {
		name   string
		events []journal.HostEvent
		alive  func(amber.HostProcess) proc.Liveness
		now    amber.Clock
		want   amber.EndReason
	}{
		{"by word", []journal.HostEvent{live, end}, alive(proc.Alive), clock, "logout"},
		{"its process is gone", []journal.HostEvent{live}, alive(proc.Dead), later(time.Minute), amber.EndCrash},
		{"its process is gone, and its end may be on its way", []journal.HostEvent{live}, alive(proc.Dead), later(time.Second), ""},
		{"it sleeps", []journal.HostEvent{live}, alive(proc.Alive), later(1000 * time.Hour), ""},
		{"nobody knows, and it is silent", []journal.HostEvent{prompt(1, "work")}, alive(proc.Alive), later(7 * time.Hour), amber.EndIdle},
		{"nobody knows, and it was here", []journal.HostEvent{prompt(1, "work")}, alive(proc.Alive), later(time.Hour), ""},
		{"the clock went back", []journal.HostEvent{prompt(1, "work")}, alive(proc.Dead), later(-1000 * time.Hour), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tt.events...)
			d := must.Get(drain.New(drain.Options{Journal: w.journal, Store: w.store, Clock: tt.now, Alive: tt.alive}))(t)
			for range 2 { // the second time nothing is left to notice
				if report, err := d.Once(context.Background()); err != nil || report.Err() != nil {
					t.Fatal(report, err)
				}
			}
			s := w.session()
			must.Equal(t, "reason", s.EndReason, tt.want)
			must.Equal(t, "goes on", s.EndedAt.IsZero(), tt.want == "")
			if tt.want != "" && s.EndedAt != now {
				t.Errorf("ended at %v, it was last heard of at %v", s.EndedAt, now)
			}
			must.Equal(t, "a digest", len(w.memories(amber.SessionSummary)) == 1, tt.want != "")
		})
	}
}

// A session that was read from a record of long ago has no host that could have crashed.
func TestAWorkerLeavesPastSessionsAlone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := newWorld(t)
	must.Get(w.store.StartSession(ctx, amber.SessionStart{ID: one.ID}))(t)
	want := must.Get(w.store.EndSession(ctx, amber.SessionEnd{ID: one.ID}))(t)
	turn := amber.Turn{ID: "t", SessionID: one.ID, Role: amber.RoleUser, Content: "long ago", CreatedAt: amber.UnixMilli(1)}
	must.Get(w.store.Ingest(ctx, amber.Ingestion{
		Journal: strings.Repeat("0", 32), Host: one.Host, Session: one.ID, Through: 1, LastAt: amber.UnixMilli(1), Past: true,
		Steps: []amber.IngestStep{{Start: amber.SessionStart{ID: one.ID}, Turns: []amber.Turn{turn}}},
	}))(t)
	head := must.Get(w.store.Head(ctx))(t)
	report := w.once(drain.Options{Grace: -1, Alive: func(amber.HostProcess) proc.Liveness { return proc.Dead }})
	must.Equal(t, "sessions ended", len(report.Ended), 0)
	must.Equal(t, "the session is as it was", w.session() == want, true)
	must.Equal(t, "head of the change log", must.Get(w.store.Head(ctx))(t), head)
}

// A worker stands back between two sessions that it ends. It leaves alone a session that
// another worker ends meanwhile or that speaks again.
func TestAWorkerStandsBackBetweenEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const sessions = 5
	said := func(session, seq int) journal.HostEvent {
		e := prompt(10*session+seq, fmt.Sprintf("work of %d", session))
		e.SessionID, e.Process = amber.SessionID(fmt.Sprintf("s-%d", session)), amber.HostProcess{PID: session, Boot: "b"}
		e.ObservedAt = amber.At(now.Time().Add(time.Duration(session-10) * time.Second)) // they end in this order
		return e
	}
	for i := range sessions {
		w.keep(said(i+1, 1))
	}
	w.once(drain.Options{})
	dead := drain.Options{Grace: -1, Alive: func(amber.HostProcess) proc.Liveness { return proc.Dead }}
	times, others := 0, 0
	polite := dead
	polite.StandBack = func(context.Context) {
		switch times++; times {
		case 2: // two are ended
			w.keep(said(5, 2))
			w.once(drain.Options{})
		case 3:
			others = len(w.once(dead).Ended)
		}
	}
	report := w.once(polite)
	must.Equal(t, "failed", len(report.Failed), 0)
	must.Equal(t, "stood back", times, 3)
	must.Equal(t, "ended", len(report.Ended), 3)
	must.Equal(t, "ended by another", others, 2)
	must.Equal(t, "digests", len(w.memories(amber.SessionSummary)), sessions)
	must.Equal(t, "left to end", len(w.once(dead).Ended), 0)
}

// TestAHostThatSpeaksAgain opens its session again, and what it says about its
// end counts more than what was noticed.
func TestAHostThatSpeaksAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := prompt(1, "work")
	first.Process = amber.HostProcess{PID: 1, Boot: "b"}
	w.keep(first)
	dead := drain.Options{Grace: -1, Alive: func(amber.HostProcess) proc.Liveness { return proc.Dead }}
	must.Equal(t, "ended", len(w.once(dead).Ended), 1)
	end := event(2, journal.HostSessionEnd)
	end.Reason = "exit"
	w.keep(end)
	w.once(drain.Options{})
	must.Equal(t, "reason after its own word", w.session().EndReason, "exit")
	w.keep(prompt(3, "more"))
	w.once(drain.Options{})
	if s := w.session(); !s.EndedAt.IsZero() {
		t.Errorf("it goes on; ended: %q", s.EndReason)
	}
}

func TestDrainedSegmentsAreCleared(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"))
	must.Equal(t, "cleared of a session that goes on", w.once(drain.Options{}).Cleared, 0)
	w.keep(event(2, journal.HostSessionEnd))
	if r := w.once(drain.Options{}); r.Cleared == 0 {
		t.Errorf("a session that has ended was not cleared: %+v", r)
	}
	must.Equal(t, "keys", len(must.Get(w.journal.Keys())(t)), 0)
	// A host that comes back begins a new folder, and nothing is taken for
	// drained that is not.
	w.keep(prompt(3, "three"))
	w.once(drain.Options{})
	w.wantSaid("user: one", "user: three")
	// An event behind the end that does not open the session again is removed, too.
	w.keep(event(4, journal.HostSessionEnd))
	w.once(drain.Options{})
	w.keep(event(5, journal.HostOther))
	w.once(drain.Options{})
	w.once(drain.Options{})
	must.Equal(t, "keys after a late event", len(must.Get(w.journal.Keys())(t)), 0)
}

// TestDamageIsCountedAndTheRestDrained flips a byte in the middle.
func TestDamageIsCountedAndTheRestDrained(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"), prompt(2, "two"), prompt(3, "three"))
	flip(t, w.dir)
	w.drains(drain.Options{}, drain.Report{Sessions: 1, Events: 2, Applied: 2, Damaged: 1})
	w.wantSaid("user: one", "user: three")
}

// TestALostMetaFileIsWrittenAgain, and everything is drained once.
func TestALostMetaFileIsWrittenAgain(t *testing.T) {
	t.Parallel()
	for _, damage := range []func(path string) error{
		os.Remove,
		func(path string) error { return os.WriteFile(path, []byte("nonsense"), 0o600) },
	} {
		w := newWorld(t, prompt(1, "one"), prompt(2, "two"))
		w.once(drain.Options{})
		w.keep(prompt(3, "three"))
		must.Do(t, damage(filepath.Join(w.dir, string(one.Key()), "meta")))
		w.drains(drain.Options{}, drain.Report{Sessions: 1, Events: 3, Applied: 1, Duplicates: 2})
		w.wantSaid("user: one", "user: two", "user: three")
	}
}

// TestAFolderThatIsJustBeingMade goes: its maker has died, or makes it
// again.
func TestAFolderThatIsJustBeingMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	folder := filepath.Join(w.dir, string(one.Key()))
	for name, leave := range map[string]func() error{
		"a folder":                  func() error { return os.MkdirAll(folder, 0o700) },
		"a session without entries": func() error { return w.journal.Start(context.Background(), one) },
		"one without a meta file": func() error {
			return errors.Join(w.journal.Start(context.Background(), one), os.Remove(filepath.Join(folder, "meta")))
		},
	} {
		must.Do(t, leave())
		if report := w.once(drain.Options{}); report.Any() {
			t.Errorf("%s: %+v", name, report)
		}
		must.Equal(t, name+": keys", len(must.Get(w.journal.Keys())(t)), 0)
	}
	w.keep(prompt(1, "one"))
	w.once(drain.Options{})
	w.wantSaid("user: one")
}

// TestAskedToEverythingIsCleared, also what was drained before.
func TestAskedToEverythingIsCleared(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"))
	w.once(drain.Options{})
	if r := w.once(drain.Options{ClearEvery: 1}); r.Cleared == 0 {
		t.Errorf("%+v", r)
	}
}

// TestASickStoreGivesUpOneEventAtMost has a store that takes small steps only,
// as on a disk that is nearly full.
func TestASickStoreGivesUpOneEventAtMost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 10 {
		w.keep(prompt(i+1, fmt.Sprint("prompt ", i)))
	}
	sick := &stubborn{Store: w.store, fail: func(in amber.Ingestion) error {
		if len(in.Steps) > 0 {
			return amber.Errorf(amber.KindInternal, "ingest", "", "database or disk is full")
		}
		return nil
	}}
	report, err := w.worker(drain.Options{Store: sick}).Once(context.Background())
	if err != nil || report.Quarantined > 1 || report.Err() == nil {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestASessionOfTwoHostsEndsWithTheLast of them.
func TestASessionOfTwoHostsEndsWithTheLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := prompt(1, "from the editor")
	other.Host, other.Process = "vscode", amber.HostProcess{PID: 1, Boot: "b"}
	dead := prompt(2, "from the terminal")
	dead.Process = amber.HostProcess{PID: 2, Boot: "b"}
	dead.ObservedAt = amber.At(now.Time().Add(time.Second))
	w.keep(other, dead)
	w.once(drain.Options{Grace: -1, Alive: func(p amber.HostProcess) proc.Liveness {
		if p.PID == 1 {
			return proc.Alive
		}
		return proc.Dead
	}})
	if s := w.session(); !s.EndedAt.IsZero() {
		t.Errorf("ended: %q", s.EndReason)
	}
}

// flip changes one byte of the second of three entries of session one.
func flip(t *testing.T, dir string) {
	t.Helper()
	path := dir + "/" + string(one.Key()) + "/000001.seg"
	b := must.Get(fsx.ReadFile(fsx.OS(), path, 1<<20))(t)
	b[len(b)/2] ^= 0x10
	must.Do(t, fsx.Replace(fsx.OS(), path, 0o600, b))
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"))
	ctx, cancel := context.WithCancel(context.Background())
	rounds := 0
	d := w.worker(drain.Options{Wait: func(ctx context.Context, _ time.Duration) error {
		if rounds++; rounds == 3 {
			cancel()
		}
		return ctx.Err()
	}})
	told := 0
	if err := d.Run(ctx, func(drain.Report, error) { told++ }); err != nil || told != 1 {
		t.Errorf("%v, told %d times", err, told)
	}
	w.wantSaid("user: one")
}
