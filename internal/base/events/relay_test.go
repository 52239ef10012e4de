package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/test/must"
)

// outbox is an outbox in memory that outlives the relays of a test.
type outbox struct {
	mu     sync.Mutex
	events []events.OutboxEvent
	last   int64
	read   error // what PendingEvents answers
	forget error // what EventsPublished answers
}

func (o *outbox) put(ids ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range ids {
		o.last++
		o.events = append(o.events, events.OutboxEvent{Seq: o.last, Event: events.Event{
			ID: id, Name: events.EventCreated, Subject: "amber.memory.snapshot.acme.ada.created", Tenant: "acme", Agent: "ada",
			At: amber.UnixMilli(o.last), Payload: json.RawMessage(`{"id":"` + id + `"}`),
		}})
	}
}

func (o *outbox) PendingEvents(_ context.Context, limit int) ([]events.OutboxEvent, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]events.OutboxEvent(nil), o.events[:min(limit, len(o.events))]...), o.read
}

func (o *outbox) EventsPublished(_ context.Context, upTo int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.forget != nil {
		return o.forget
	}
	for len(o.events) > 0 && o.events[0].Seq <= upTo {
		o.events = o.events[1:]
	}
	return nil
}

func (o *outbox) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.events)
}

func ids(list []events.Event) []string {
	var out []string
	for _, e := range list {
		out = append(out, e.ID)
	}
	return out
}

func TestARelayPublishesInOrderAndForgetsWhatWasTaken(t *testing.T) {
	t.Parallel()
	o, p := &outbox{}, &recorder{}
	r := &events.Relay{Outbox: o, Publisher: p}
	step(t, r)
	o.put("a", "b", "c")
	p.fail = 2
	for range 2 {
		stepFails(t, r, 0, errDown)
	}
	if n := step(t, r); n != 3 || o.waiting() != 0 {
		t.Errorf("%d events are done and %d wait, want 3 and none", n, o.waiting())
	}
	must.Equal(t, "events", ids(p.take()), []string{"a", "b", "c"})

	// In the middle: what was taken is not offered again, by anybody.
	o.put("d", "e")
	r.Publisher = &stopper{recorder: p, after: 1}
	stepFails(t, r, 1, errDown)
	step(t, &events.Relay{Outbox: o, Publisher: p})
	must.Equal(t, "events after a stop", ids(p.take()), []string{"d", "e"})
}

func TestARelayKilledBeforeForgettingRepeatsWithTheSameIDs(t *testing.T) {
	t.Parallel()
	o, p := &outbox{forget: errors.New("killed")}, &recorder{}
	o.put("a", "b")
	r := &events.Relay{Outbox: o, Publisher: p}
	stepFails(t, r, 2, o.forget)
	// The same relay knows; the next process does not.
	stepFails(t, r, 0, o.forget)
	must.Equal(t, "once", ids(p.take()), []string{"a", "b"})
	o.forget = nil
	step(t, &events.Relay{Outbox: o, Publisher: p})
	must.Equal(t, "again", ids(p.take()), []string{"a", "b"})
}

// The numbers of an outbox that was empty may begin anew.
func TestARelayLeavesNothingOutWhenNumbersBeginAnew(t *testing.T) {
	t.Parallel()
	o, p := &outbox{}, &recorder{}
	r := &events.Relay{Outbox: o, Publisher: p}
	for _, id := range []string{"a", "b", "c"} {
		o.last = 0
		o.put(id)
		step(t, r)
	}
	must.Equal(t, "events", ids(p.take()), []string{"a", "b", "c"})
}

// refuser calls some events invalid.
type refuser struct {
	*recorder
	bad map[string]bool
}

func (r refuser) Publish(ctx context.Context, e events.Event) error {
	if r.bad[e.ID] {
		return amber.Errorf(amber.KindInvalid, "publish", e.ID, "that is no event")
	}
	return r.recorder.Publish(ctx, e)
}

func TestAnEventThatIsNoneIsReportedAndDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	o, p := &outbox{}, &recorder{}
	o.put("a", "bad", "b", "worse")
	var told []error
	r := &events.Relay{Outbox: o, Publisher: refuser{p, map[string]bool{"bad": true, "worse": true}}, Report: func(err error) { told = append(told, err) }}
	step(t, r)
	must.Equal(t, "events", ids(p.take()), []string{"a", "b"})
	if len(told) != 2 || r.Skipped() != 2 || o.waiting() != 0 {
		t.Errorf("told %v, %d left out, %d wait; want two, 2, none", told, r.Skipped(), o.waiting())
	}
}

func TestARelayRunsUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	o, p, pace := &outbox{}, &recorder{}, newPacer()
	for i := range 300 {
		o.put(fmt.Sprint(i))
	}
	var told []error
	r := &events.Relay{Outbox: o, Publisher: p, After: pace.after, Interval: time.Minute, Report: func(err error) { told = append(told, err) }}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	if d := <-pace.waits; d != time.Minute || len(p.take()) != 300 {
		t.Errorf("it waits %s before all is out", d)
	}
	o.put("x")
	p.fail = 2
	var waits []time.Duration
	for range 3 {
		pace.wake <- time.Time{}
		waits = append(waits, <-pace.waits)
	}
	must.Equal(t, "waits", waits, []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, time.Minute})
	must.Equal(t, "events", ids(p.take()), []string{"x"})
	cancel()
	must.Kind(t, "the end of Run", <-done, "")
	// Three steps empty the outbox, two fail, one gets through: an observer
	// learns that it is well again.
	well, got := []bool{true, true, true, false, false, true}, []bool(nil)
	for _, err := range told {
		got = append(got, err == nil)
	}
	must.Equal(t, "what went well", got, well)
	must.Kind(t, "without a publisher", (&events.Relay{Outbox: o}).Run(t.Context()), amber.KindInvalid)
}

func TestAnOutboxThatCannotBeReadIsAskedAgain(t *testing.T) {
	t.Parallel()
	o, p := &outbox{read: errors.New("the disk is gone")}, &recorder{}
	r := &events.Relay{Outbox: o, Publisher: p}
	must.Is(t, "", must.Err(r.Step(t.Context())), o.read)
	o.read = nil
	o.put("a")
	step(t, r)
	must.Equal(t, "events", ids(p.take()), []string{"a"})
}

// flaky is a publisher that fails by chance, before or after it has taken the
// event.
type flaky struct {
	*recorder
	chance *rand.Rand
}

func (f flaky) Publish(ctx context.Context, e events.Event) error {
	switch f.chance.IntN(8) {
	case 0:
		return errDown
	case 1:
		return errors.Join(f.recorder.Publish(ctx, e), errDown)
	}
	return f.recorder.Publish(ctx, e)
}

// Whatever fails, and whenever the process is restarted: every event arrives,
// and for the first time in order.
func TestARelayLosesNothingWhateverFails(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	o, p := &outbox{}, &recorder{}
	var wrote []string
	for i := range 2000 {
		wrote = append(wrote, fmt.Sprint(i))
	}
	r := &events.Relay{Outbox: o, Publisher: flaky{p, chance}}
	for put := 0; put < len(wrote) || o.waiting() > 0; {
		n := min(chance.IntN(200), len(wrote)-put)
		o.put(wrote[put : put+n]...)
		put += n
		o.forget = nil
		if chance.IntN(4) == 0 {
			o.forget = errors.New("the disk is full")
		}
		if chance.IntN(4) == 0 { // another process
			r = &events.Relay{Outbox: o, Publisher: flaky{p, chance}}
		}
		_, _ = r.Step(t.Context())
	}
	seen, first := map[string]bool{}, []string(nil)
	for _, id := range ids(p.take()) {
		if !seen[id] {
			first = append(first, id)
		}
		seen[id] = true
	}
	must.Equal(t, "first arrivals", first, wrote)
}

func TestFileCursorSurvives(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "published", "memory")
	c := events.FileCursor{Path: path}
	if at, found, err := c.Load(t.Context()); at != "" || found || err != nil {
		t.Errorf("without a file: %q, %v, %v", at, found, err)
	}
	for _, p := range []amber.Position{"i/1", "i/20", "another one/3"} {
		must.Do(t, c.Save(t.Context(), p))
		if at, found, err := (events.FileCursor{Path: path}).Load(t.Context()); at != p || !found || err != nil {
			t.Errorf("got %q, %v, %v, want %q", at, found, err, p)
		}
	}
}

func TestFileCursorRefusesWhatIsNoPosition(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "i/1", "i/1\nx\n", "i\n", "i/-1\n", "/1\n", "i/x\n", strings.Repeat("i", 600) + "/1\n"} {
		path := filepath.Join(t.TempDir(), "cursor")
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		if _, _, err := (events.FileCursor{Path: path}).Load(t.Context()); amber.KindOf(err) != amber.KindDamaged {
			t.Errorf("%q: got %v, want damaged", text, err)
		}
	}
	if _, _, err := (events.FileCursor{Path: t.TempDir()}).Load(t.Context()); amber.KindOf(err) != amber.KindDamaged {
		t.Errorf("a folder: got %v, want damaged", err)
	}
}
