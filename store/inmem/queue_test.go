package inmem_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/inmem"
)

func withQueue(q amber.QueueOptions) func(*inmem.Options) {
	return func(o *inmem.Options) { o.Queue = q }
}

func envelope(id string) amber.Envelope {
	return amber.Envelope{EntryID: id, TaskID: "t", NodeID: "n", Payload: "work on " + id}
}

func (w world) publish(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := w.Publish(t.Context(), envelope(id)); err != nil {
			t.Fatal(err)
		}
	}
}

func (w world) claim(t *testing.T, consumer string) amber.Claim {
	t.Helper()
	return ok[amber.Claim](t)(w.Claim(t.Context(), consumer))
}

func TestPublishTwice(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*amber.Envelope){
		"payload":    func(e *amber.Envelope) { e.Payload = "other" },
		"task":       func(e *amber.Envelope) { e.TaskID = "other" },
		"node":       func(e *amber.Envelope) { e.NodeID = "other" },
		"priority":   func(e *amber.Envelope) { e.Priority = 1 },
		"not before": func(e *amber.Envelope) { e.NotBefore = amber.UnixMilli(1) },
	}
	stages := []struct {
		name string
		do   func(t *testing.T, w world)
	}{
		{"queued", func(*testing.T, world) {}},
		{"leased", func(t *testing.T, w world) { w.claim(t, "c") }},
		{"given back", func(t *testing.T, w world) { nack(t, w, w.claim(t, "c").Lease) }},
		{"acked", func(t *testing.T, w world) { ack(t, w, w.claim(t, "c").Lease) }},
		{"acked long ago", func(t *testing.T, w world) { ack(t, w, w.claim(t, "c").Lease); w.clock.advance(1000 * time.Hour) }},
	}
	for _, stage := range stages {
		t.Run(stage.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.publish(t, "e")
			stage.do(t, w)
			same := envelope("e")
			same.Attempt = 7 // not the publisher's to say
			if err := w.Publish(t.Context(), same); err != nil {
				t.Errorf("publish the same: %v", err)
			}
			for name, change := range changes {
				e := envelope("e")
				change(&e)
				if err := w.Publish(t.Context(), e); amber.KindOf(err) != amber.KindConflict {
					t.Errorf("publish with another %s: %v, want a conflict", name, err)
				}
			}
		})
	}
}

func ack(t *testing.T, w world, l amber.Lease) {
	t.Helper()
	if err := w.Ack(t.Context(), l); err != nil {
		t.Fatal(err)
	}
}

func nack(t *testing.T, w world, l amber.Lease) {
	t.Helper()
	if err := w.Nack(t.Context(), amber.Nack{Lease: l, Reason: "no"}); err != nil {
		t.Fatal(err)
	}
}

func TestPublishCountsWaitingEntriesOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withQueue(amber.QueueOptions{MaxQueued: 1}))
	w.publish(t, "a")
	wantKind(t, w.Publish(t.Context(), envelope("b")), amber.KindQuota)
	w.publish(t, "a")
	w.claim(t, "c")
	w.publish(t, "b")
}

func TestClaimOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, e := range []amber.Envelope{{Priority: 0}, {Priority: 5}, {Priority: 9, NotBefore: w.now().Add(time.Second)}, {Priority: 5}} {
		e.EntryID, e.TaskID, e.NodeID = fmt.Sprint("e", i), "t", "n"
		if err := w.Publish(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"e1", "e3", "e0"} {
		wantEqual(t, "entry", w.claim(t, "c").Envelope.EntryID, want)
	}
	_, err := w.Claim(t.Context(), "c")
	if !errors.Is(err, amber.ErrQueueEmpty) {
		t.Errorf("claim before the last is due: %v, want the queue to be empty", err)
	}
	w.tick()
	wantEqual(t, "entry that became due", w.claim(t, "c").Envelope.EntryID, "e2")
}

func TestClaimFullIsToldBeforeEmpty(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withQueue(amber.QueueOptions{MaxInFlight: 1}))
	w.publish(t, "a")
	l := w.claim(t, "c").Lease
	_, err := w.Claim(t.Context(), "c")
	if !errors.Is(err, amber.ErrQueueFull) {
		t.Errorf("claim past the limit: %v, want the queue to be full", err)
	}
	ack(t, w, l)
	_, err = w.Claim(t.Context(), "c")
	if !errors.Is(err, amber.ErrQueueEmpty) {
		t.Errorf("claim after the ack: %v, want the queue to be empty", err)
	}
}

func TestExpiredLeaseIsTakenBackAtTheNextClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withQueue(amber.QueueOptions{MaxAttempts: 2}))
	w.publish(t, "a", "b")
	first := w.claim(t, "c1")
	w.clock.advance(30 * time.Second)
	head := ok[amber.Position](t)(w.Parts().ControlChanges.Head(t.Context()))
	second := w.claim(t, "c2")
	wantEqual(t, "entries", w.entries(t, w.Parts().ControlChanges, head), []string{"update control queue/a", "update control queue/a"})
	if second.Envelope.EntryID != "a" || second.Envelope.Attempt != 2 || second.Lease.Fence <= first.Lease.Fence {
		t.Errorf("second claim %+v, want attempt 2 of a under a larger fence than %d", second, first.Lease.Fence)
	}
	wantLost(t, w, first.Lease)
	w.clock.advance(30 * time.Second)
	wantEqual(t, "entry after a is dead", w.claim(t, "c3").Envelope.EntryID, "b")
	dead := ok[[]amber.DeadEntry](t)(w.DeadEntries(t.Context(), 10))
	want := envelope("a")
	want.Attempt = 2
	wantEqual(t, "dead entries", dead, []amber.DeadEntry{{
		Envelope: want, DeadAt: w.now(), Reasons: []string{"lease expired (consumer c1)", "lease expired (consumer c2)"},
	}})
}

// wantLost checks that a lease can do nothing any more.
func wantLost(t *testing.T, w world, l amber.Lease) {
	t.Helper()
	_, err := w.Renew(t.Context(), l)
	wantKind(t, err, amber.KindConflict)
	wantKind(t, w.Ack(t.Context(), l), amber.KindConflict)
	wantKind(t, w.Nack(t.Context(), amber.Nack{Lease: l}), amber.KindConflict)
}

func TestLeaseMustMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(t, "a", "b")
	l, other := w.claim(t, "c").Lease, w.claim(t, "c").Lease
	for name, change := range map[string]func(*amber.Lease){
		"entry":    func(l *amber.Lease) { l.EntryID = "unknown" },
		"other":    func(l *amber.Lease) { l.EntryID = other.EntryID },
		"consumer": func(l *amber.Lease) { l.ConsumerID = "d" },
		"token":    func(l *amber.Lease) { l.Token = other.Token },
		"fence":    func(l *amber.Lease) { l.Fence++ },
	} {
		t.Run(name, func(t *testing.T) {
			forged := l
			change(&forged)
			wantLost(t, w, forged)
		})
	}
	l.ExpiresAt = amber.Time{} // not part of what identifies it
	ack(t, w, l)
	w.clock.advance(time.Hour)
	ack(t, w, l)
	wantKind(t, w.Nack(t.Context(), amber.Nack{Lease: l}), amber.KindConflict)
}

func TestLeaseAtItsLastMillisecond(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(t, "a")
	l := w.claim(t, "c").Lease
	w.clock.advance(30*time.Second - time.Millisecond)
	renewed := ok[amber.Lease](t)(w.Renew(t.Context(), l))
	want := l
	want.ExpiresAt = w.now().Add(30 * time.Second)
	wantEqual(t, "renewed lease", renewed, want)
	w.clock.advance(30 * time.Second)
	wantLost(t, w, renewed)
}

func TestClockGoingBackShortensNoLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(t, "a")
	l := w.claim(t, "c").Lease
	w.clock.advance(-time.Hour)
	renewed := ok[amber.Lease](t)(w.Renew(t.Context(), l))
	wantEqual(t, "expiry", renewed.ExpiresAt, l.ExpiresAt)
	w.publish(t, "b")
	wantEqual(t, "expiry of a new lease", w.claim(t, "c").Lease.ExpiresAt, l.ExpiresAt)
}

func TestNackBacksOffThenBuries(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withQueue(amber.QueueOptions{MaxAttempts: 3, Backoff: time.Second, MaxBackoff: time.Hour}))
	w.publish(t, "a")
	ctx := t.Context()
	nack(t, w, w.claim(t, "c").Lease)
	w.clock.advance(500*time.Millisecond - time.Millisecond)
	_, err := w.Claim(ctx, "c")
	if !errors.Is(err, amber.ErrQueueEmpty) {
		t.Fatalf("claim in the first half of the backoff: %v", err)
	}
	w.clock.advance(500 * time.Millisecond)
	at := w.now().Add(time.Minute)
	if err := w.Nack(ctx, amber.Nack{Lease: w.claim(t, "c").Lease, NotBefore: at}); err != nil {
		t.Fatal(err)
	}
	w.clock.advance(time.Minute)
	third := w.claim(t, "c")
	wantEqual(t, "not before, as published", third.Envelope.NotBefore, amber.Time{})
	for name, reason := range map[string]string{"huge": strings.Repeat("x", amber.MaxSummaryBytes+1), "NUL": "\x00", "no UTF-8": "\xff"} {
		if err := w.Nack(ctx, amber.Nack{Lease: third.Lease, Reason: reason}); amber.KindOf(err) != amber.KindInvalid {
			t.Errorf("nack with a reason that is %s: %v, want invalid", name, err)
		}
	}
	nack(t, w, third.Lease)
	dead := ok[[]amber.DeadEntry](t)(w.DeadEntries(ctx, 10))
	if len(dead) != 1 {
		t.Fatalf("%d dead entries, want 1", len(dead))
	}
	wantEqual(t, "reasons", dead[0].Reasons, []string{"no", "no reason given", "no"})
	wantEqual(t, "counts", ok[amber.Backpressure](t)(w.Backpressure(ctx)), amber.Backpressure{Dead: 1, MaxInFlight: 32, Available: 32})
}

func TestBackpressureCountsExpiredLeasesAsQueued(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withQueue(amber.QueueOptions{MaxInFlight: 2}))
	w.publish(t, "a", "b", "c")
	w.claim(t, "c")
	w.clock.advance(20 * time.Second)
	w.claim(t, "c")
	w.clock.advance(10 * time.Second)
	wantEqual(t, "counts", ok[amber.Backpressure](t)(w.Backpressure(t.Context())),
		amber.Backpressure{Queued: 2, Leased: 1, MaxInFlight: 2, Available: 1})
}

func TestDeadEntriesNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withQueue(amber.QueueOptions{MaxAttempts: 1}))
	w.publish(t, "a", "b", "c")
	a := w.claim(t, "c")
	w.claim(t, "c")
	w.claim(t, "c")
	nack(t, w, a.Lease)
	w.clock.advance(time.Minute)
	if _, err := w.Claim(t.Context(), "c"); !errors.Is(err, amber.ErrQueueEmpty) {
		t.Fatal(err)
	}
	var got []string
	for _, d := range ok[[]amber.DeadEntry](t)(w.DeadEntries(t.Context(), 10)) {
		got = append(got, d.Envelope.EntryID)
	}
	wantEqual(t, "dead entries", got, []string{"c", "b", "a"})
	wantEqual(t, "up to one", len(ok[[]amber.DeadEntry](t)(w.DeadEntries(t.Context(), 1))), 1)
	_, err := w.DeadEntries(t.Context(), -1)
	wantKind(t, err, amber.KindInvalid)
}
