package events_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/test/must"
)

// history is a change log made by hand: entries like "A1", the incarnation and
// the number in the log, from 1. The newest incarnation may have none yet.
type history struct {
	amber.ChangeLog
	entries []string
	newest  string
	fail    error
}

func position(entry string) amber.Position {
	var seq int64
	if _, err := fmt.Sscanf(entry[1:], "%d", &seq); err != nil {
		panic(err)
	}
	return amber.PositionAt(entry[:1], seq)
}

func (h *history) Changes(_ context.Context, after amber.Position, limit int) ([]amber.Change, error) {
	if h.fail != nil {
		return nil, h.fail
	}
	in, from, err := after.Parse()
	if err != nil {
		return nil, err
	}
	last := int64(-1) // of the incarnation in this log
	for i, e := range h.entries {
		if e[:1] == in {
			last = int64(i) + 1
		}
	}
	if in == h.newest {
		last = int64(len(h.entries))
	}
	if in != "" && from > last {
		return nil, amber.Errorf(amber.KindConflict, "read changes", "", "another history")
	}
	var out []amber.Change
	for _, e := range h.entries[from:] {
		if len(out) < limit {
			out = append(out, amber.Change{Position: position(e), At: amber.UnixMilli(1), Op: amber.OpInsert, Scope: amber.ChangeMemory, Key: e})
		}
	}
	return out, nil
}

func (h *history) Head(context.Context) (amber.Position, error) {
	return amber.PositionAt(h.newest, int64(len(h.entries))), h.fail
}

func keys(t *testing.T, list []events.Event) []string {
	t.Helper()
	var out []string
	for _, m := range tell(t, list) {
		out = append(out, m.Key)
	}
	return out
}

func TestWithoutACursorOnlyNewChangesArePublished(t *testing.T) {
	t.Parallel()
	log, p, c := &history{entries: []string{"A1", "A2"}, newest: "A"}, &recorder{}, &events.MemoryCursor{}
	step(t, worker(log, p, c))
	must.Equal(t, "first step", keys(t, p.take()), []string(nil))
	// Killed right away: what changes from now on is not lost.
	log.entries = append(log.entries, "A3")
	step(t, worker(log, p, c))
	must.Equal(t, "second step", keys(t, p.take()), []string{"A3"})

	all := worker(log, p, &events.MemoryCursor{})
	all.FromBeginning = true
	step(t, all)
	must.Equal(t, "from the beginning", keys(t, p.take()), []string{"A1", "A2", "A3"})
}

func TestARefusedEventIsOfferedAgainAndNoneIsSkipped(t *testing.T) {
	t.Parallel()
	log, p, c := &history{newest: "A"}, &recorder{}, &events.MemoryCursor{}
	m := worker(log, p, c)
	step(t, m)
	log.entries = []string{"A1", "A2", "A3"}
	p.fail = 2
	for range 2 {
		must.Is(t, "", must.Err(m.Step(t.Context())), errDown)
	}
	step(t, m)
	must.Equal(t, "events", keys(t, p.take()), []string{"A1", "A2", "A3"})

	// It fails in the middle: what was taken is not offered again.
	log.entries = append(log.entries, "A4", "A5")
	stop := &stopper{recorder: p, after: 1}
	m.Publisher = stop
	stepFails(t, m, 1, errDown)
	step(t, worker(log, p, c))
	must.Equal(t, "events after a stop", keys(t, p.take()), []string{"A4", "A5"})
}

// stopper takes some events and refuses the rest.
type stopper struct {
	*recorder
	after int
}

func (s *stopper) Publish(ctx context.Context, e events.Event) error {
	if s.after == 0 {
		return errDown
	}
	s.after--
	return s.recorder.Publish(ctx, e)
}

// forgetful is a cursor of a process that is killed before it can save.
type forgetful struct {
	events.CursorStore
	err error
}

func (f forgetful) Save(context.Context, amber.Position) error { return f.err }

func TestAWorkerKilledBeforeSavingRepeatsWithTheSameIDs(t *testing.T) {
	t.Parallel()
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, c := &recorder{}, &events.MemoryCursor{}
			step(t, worker(store.Changes, p, c))
			var last amber.MemoryID
			for i := range 5 {
				last = must.Get(store.LongTerm.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprint("fact ", i)}))(t).ID
			}
			step(t, worker(store.Changes, p, forgetful{c, nil})) // published, not saved
			first := p.take()
			step(t, worker(store.Changes, p, c))
			again := p.take()
			must.Equal(t, "repeated events", toJSON(t, again), toJSON(t, first))
			if len(first) != 5 {
				t.Fatalf("%d events, want 5", len(first))
			}
			must.Do(t, store.LongTerm.Delete(t.Context(), last))
			step(t, worker(store.Changes, p, c))
			must.Equal(t, "later events", tell(t, p.take()), []told{{amber.OpDelete, amber.ChangeMemory, string(last)}})
		})
	}
}

func TestAPositionThatIsNotSavedIsSavedLater(t *testing.T) {
	t.Parallel()
	log, p, c := &history{entries: []string{"A1"}, newest: "A"}, &recorder{}, &events.MemoryCursor{}
	full := errors.New("the disk is full")
	m := worker(log, p, forgetful{c, full})
	m.FromBeginning = true
	stepFails(t, m, 1, full)
	m.Cursor = c
	must.Equal(t, "events published again by the same worker", step(t, m), 0)
	if at, found, _ := c.Load(t.Context()); !found || at != position("A1") {
		t.Errorf("the cursor is %q", at)
	}
}

func TestAfterARestoreTheSharedPastIsNotPublishedAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		cursor string
		log    []string
		newest string
		want   []string
	}{
		{"the newest has nothing yet", "A8", []string{"A1", "A2"}, "B", nil},
		{"the restore changed something", "A8", []string{"A1", "A2", "B3", "B4"}, "B", []string{"B3", "B4"}},
		{"the cursor was before the snapshot", "A1", []string{"A1", "A2", "B3"}, "B", []string{"A2", "B3"}},
		{"two restores at once", "A8", []string{"A1", "A2", "B3", "C4"}, "C", []string{"B3", "C4"}},
		{"an older past", "B9", []string{"A1", "A2", "C3", "C4"}, "C", []string{"C3", "C4"}},
		{"an older past, nothing yet", "B9", []string{"A1", "A2"}, "C", nil},
		{"nothing at all", "B9", nil, "C", nil},
		{"all of it is new", "B9", []string{"C1", "C2"}, "C", []string{"C1", "C2"}},
		{"an older file put back by hand", "A8", []string{"A1", "A2"}, "A", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, c := &recorder{}, &events.MemoryCursor{}
			must.Do(t, c.Save(t.Context(), position(tt.cursor)))
			log := &history{entries: tt.log, newest: tt.newest}
			for range 2 { // the second worker finds nothing new
				step(t, worker(log, p, c))
			}
			must.Equal(t, "events", keys(t, p.take()), tt.want)
			next := fmt.Sprintf("%s%d", tt.newest, len(tt.log)+1)
			log.entries = append(log.entries, next)
			step(t, worker(log, p, c))
			must.Equal(t, "events after that", keys(t, p.take()), []string{next})
		})
	}
}

func TestALongLogIsPublishedInOrder(t *testing.T) {
	t.Parallel()
	log, p := &history{newest: "B"}, &recorder{}
	for i := range 2500 {
		log.entries = append(log.entries, fmt.Sprintf("A%d", i+1))
	}
	for i := range 700 {
		log.entries = append(log.entries, fmt.Sprintf("B%d", 2501+i))
	}
	c := &events.MemoryCursor{}
	must.Do(t, c.Save(t.Context(), position("A3000")))
	m := worker(log, p, c)
	for step(t, m) > 0 {
	}
	must.Equal(t, "events", keys(t, p.take()), log.entries[2500:])
}

// pacer lets a test decide when a wait is over.
type pacer struct {
	waits chan time.Duration
	wake  chan time.Time
}

func newPacer() *pacer { return &pacer{make(chan time.Duration), make(chan time.Time)} }

func (p *pacer) after(d time.Duration) <-chan time.Time {
	p.waits <- d
	return p.wake
}

func TestRunPublishesWaitsLongerAfterFailuresAndStops(t *testing.T) {
	t.Parallel()
	log, p, pace := &history{newest: "A"}, &recorder{}, newPacer()
	m := worker(log, p, &events.MemoryCursor{})
	reports := 0
	m.After, m.Interval, m.Report = pace.after, time.Minute, func(error) { reports++ }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- m.Run(ctx) }()

	next := func() time.Duration { return <-pace.waits }
	must.Equal(t, "the wait", next(), time.Minute)
	log.entries = []string{"A1"}
	p.fail = 3
	var waits []time.Duration
	for range 4 {
		pace.wake <- time.Time{}
		waits = append(waits, next())
	}
	must.Equal(t, "waits", waits, []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, time.Minute})
	must.Equal(t, "events", keys(t, p.take()), []string{"A1"})
	cancel()
	must.NoError(t, <-done)
	must.Equal(t, "reports", reports, 3)
}

func TestRunNeedsALogAndItsFields(t *testing.T) {
	t.Parallel()
	must.Kind(t, "without fields", (&events.Mutations{}).Run(t.Context()), amber.KindInvalid)
	bad := worker(&history{newest: "A"}, &recorder{}, &events.MemoryCursor{})
	bad.Agent = "../x"
	must.Kind(t, "with a bad agent", bad.Run(t.Context()), amber.KindInvalid)
	none := worker(amber.NewStore(amber.Parts{}).Changes, &recorder{}, &events.MemoryCursor{})
	must.Kind(t, "without a change log", none.Run(t.Context()), amber.KindUnsupported)
}

func TestAnErrorOfTheLogChangesNothing(t *testing.T) {
	t.Parallel()
	log, p, c := &history{entries: []string{"A1"}, newest: "A"}, &recorder{}, &events.MemoryCursor{}
	log.fail = errors.New("the disk is gone")
	m := worker(log, p, c)
	must.Is(t, "", must.Err(m.Step(t.Context())), log.fail)
	if _, found, _ := c.Load(t.Context()); found {
		t.Error("a cursor was saved")
	}
	log.fail = nil
	step(t, m)
	log.entries = append(log.entries, "A2")
	step(t, m)
	must.Equal(t, "events", keys(t, p.take()), []string{"A2"})
}

// restless is a publisher during whose work the log grows faster than it is
// published.
type restless struct {
	recorder
	log *history
}

func (r *restless) Publish(ctx context.Context, e events.Event) error {
	for range 2 {
		r.log.entries = append(r.log.entries, fmt.Sprintf("A%d", len(r.log.entries)+1))
	}
	return r.recorder.Publish(ctx, e)
}

func TestALogThatNeverRestsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	log := &history{newest: "A"}
	for i := range 300 {
		log.entries = append(log.entries, fmt.Sprintf("A%d", i+1))
	}
	p := &restless{log: log}
	m := worker(log, p, &events.MemoryCursor{})
	m.FromBeginning = true
	n := must.Get(m.CatchUp(t.Context()))(t)
	if got := keys(t, p.take()); n < 300 || n >= 2*300 || len(got) != n || got[n-1] != fmt.Sprintf("A%d", n) {
		t.Errorf("%d are out, %d arrived; want the 300 there were and the rest of a batch", n, len(got))
	}
	// The entries that came meanwhile are next.
	must.Get(m.CatchUp(t.Context()))(t)
	must.Equal(t, "where it goes on", keys(t, p.take())[0], fmt.Sprintf("A%d", n+1))
	p.fail = 1
	if n, err := m.CatchUp(t.Context()); n != 0 || !errors.Is(err, errDown) {
		t.Errorf("a publisher that is away: %d, %v", n, err)
	}
	must.Kind(t, "without anything", must.Err((&events.Mutations{}).CatchUp(t.Context())), amber.KindInvalid)
	log.fail = errors.New("the disk is gone")
	must.Is(t, "a log that cannot be read", must.Err(m.CatchUp(t.Context())), log.fail)
}
