package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

func publishChecks() []check {
	needs := []part{control}
	return []check{
		{name: "queue/publish-is-idempotent", needs: needs, run: publishTwice},
		{name: "queue/publish-other-bytes-conflict", needs: needs, run: publishConflicts},
		{name: "queue/publish-is-bounded", needs: needs, run: publishBounded, queue: amber.QueueOptions{MaxQueued: 3}},
		{name: "queue/publish-refuses-invalid", needs: needs, run: publishRefusesInvalid},
	}
}

func claimChecks() []check {
	needs := []part{control}
	return []check{
		{name: "queue/claim-gives-entry-and-lease", needs: needs, run: claimGives},
		{name: "queue/claim-first-in-first-out", needs: needs, run: claimOrder},
		{name: "queue/claim-highest-priority-first", needs: needs, run: claimPriority},
		{name: "queue/claim-not-before", needs: needs, run: claimNotBefore},
		{name: "queue/claim-empty-and-full-differ", needs: needs, run: claimEmptyOrFull, queue: amber.QueueOptions{MaxInFlight: 2}},
		{name: "queue/claim-full-counts-live-leases-only", needs: needs, run: claimFullExpires, queue: amber.QueueOptions{MaxInFlight: 1}},
		{name: "queue/backpressure", needs: needs, run: backpressureCounts, queue: amber.QueueOptions{MaxInFlight: 3, MaxAttempts: 1}},
	}
}

// publish adds an entry.
func (w *world) publish(e amber.Envelope) { must0(w.Queue.Publish(w.ctx, e)) }

// entry adds an entry with nothing special.
func (w *world) entry(id string) { w.publish(entryNamed(id)) }

func entryNamed(id string) amber.Envelope {
	return amber.Envelope{EntryID: id, TaskID: "t", NodeID: "n-" + id, Payload: "work on " + id}
}

// claim leases the next entry.
func (w *world) claim(consumer string) amber.Claim { return must(w.Queue.Claim(w.ctx, consumer)) }

// claims leases and acks every due entry and returns their ids in order.
func (w *world) claims() []string {
	var out []string
	for {
		c, err := w.Queue.Claim(w.ctx, "c")
		if errors.Is(err, amber.ErrQueueEmpty) {
			return out
		}
		must0(err)
		must0(w.Queue.Ack(w.ctx, c.Lease))
		out = append(out, c.Envelope.EntryID)
	}
}

// nothingDue checks that no entry can be claimed.
func (w *world) nothingDue(what string) {
	c, err := w.Queue.Claim(w.ctx, "c")
	hold(errors.Is(err, amber.ErrQueueEmpty), "claim %s: got %q and %v, want the queue to be empty", what, c.Envelope.EntryID, err)
	equal(amber.KindOf(err), amber.KindNotFound, "kind of an empty queue")
}

// pressure returns the counts of the queue.
func (w *world) pressure() amber.Backpressure { return must(w.QueueKeeper.Backpressure(w.ctx)) }

func publishTwice(w *world) {
	w.entry("e")
	w.entry("e")
	equal(w.pressure().Queued, 1, "entries queued")
	c := w.claim("c")
	w.entry("e")
	w.nothingDue("while it is leased")
	must0(w.Queue.Ack(w.ctx, c.Lease))
	w.clock.Advance(6 * 24 * time.Hour)
	w.entry("e")
	w.nothingDue("days after it was acked")
	equal(w.pressure(), amber.Backpressure{MaxInFlight: 32, Available: 32}, "counts after the ack")
	e := entryNamed("e")
	e.Attempt = 7
	w.publish(e)
	w.nothingDue("after publishing with an attempt, which is not the caller's")
}

func publishConflicts(w *world) {
	w.entry("e")
	variants := map[string]func(*amber.Envelope){
		"payload":    func(e *amber.Envelope) { e.Payload += "!" },
		"node":       func(e *amber.Envelope) { e.NodeID = "x" },
		"task":       func(e *amber.Envelope) { e.TaskID = "x" },
		"priority":   func(e *amber.Envelope) { e.Priority = 1 },
		"not before": func(e *amber.Envelope) { e.NotBefore = w.now() },
	}
	var lease amber.Lease
	for _, stage := range []struct {
		name string
		next func()
	}{
		{"queued", func() { lease = w.claim("c").Lease }},
		{"leased", func() { must0(w.Queue.Nack(w.ctx, amber.Nack{Lease: lease, NotBefore: w.now()})) }},
		{"given back", func() { equal(w.claims(), []string{"e"}, "entries after refused publishes") }},
		{"acked", func() { w.nothingDue("after the ack and refused publishes") }},
	} {
		for name, change := range variants {
			e := entryNamed("e")
			change(&e)
			refused(w.Queue.Publish(w.ctx, e), amber.KindConflict, "publish with another %s while it is %s", name, stage.name)
		}
		stage.next()
	}
}

func publishBounded(w *world) {
	for _, id := range []string{"a", "b", "c"} {
		w.entry(id)
	}
	refused(w.Queue.Publish(w.ctx, entryNamed("d")), amber.KindQuota, "publish into a full queue")
	w.entry("a")
	c := w.claim("c")
	w.entry("d")
	refused(w.Queue.Publish(w.ctx, entryNamed("e")), amber.KindQuota, "publish into a queue that is full again")
	must0(w.Queue.Ack(w.ctx, c.Lease))
	equal(w.claims(), []string{"b", "c", "d"}, "entries")
}

func publishRefusesInvalid(w *world) {
	for name, e := range map[string]amber.Envelope{
		"no id":     {TaskID: "t", NodeID: "n"},
		"no task":   {EntryID: "e", NodeID: "n"},
		"no node":   {EntryID: "e", TaskID: "t"},
		"a NUL":     {EntryID: "e", TaskID: "t", NodeID: "n", Payload: "\x00"},
		"a long id": {EntryID: strings.Repeat("x", amber.MaxIDBytes+1), TaskID: "t", NodeID: "n"},
	} {
		refused(w.Queue.Publish(w.ctx, e), amber.KindInvalid, "publish with %s", name)
	}
	w.nothingDue("after refused publishes")
	for _, consumer := range []string{"", "a\nb"} {
		refused(only(w.Queue.Claim(w.ctx, consumer)), amber.KindInvalid, "claim by %q", consumer)
	}
}

func claimGives(w *world) {
	e := amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n", Payload: "p\x1b\n", Priority: -3}
	w.publish(e)
	c := w.claim("consumer")
	e.Attempt = 1
	equal(c.Envelope, e, "entry")
	equal([]any{c.Lease.EntryID, c.Lease.ConsumerID, c.Lease.ExpiresAt}, []any{"e", "consumer", w.now().Add(30 * time.Second)}, "lease")
	hold(c.Lease.Token != "" && c.Lease.Fence > 0, "lease %v has no token or no fence", c.Lease)
	w.nothingDue("while the only entry is leased")
}

func claimOrder(w *world) {
	var want []string
	for i := range 12 {
		id := fmt.Sprint("e", 50-i)
		w.entry(id)
		want = append(want, id)
		if i%4 == 0 {
			w.clock.Advance(-time.Minute)
		}
	}
	equal(w.claims(), want, "entries in the order of publishing")
}

func claimPriority(w *world) {
	for i, p := range []int{0, 5, -5, 5, 0, 1 << 40, -5} {
		w.publish(amber.Envelope{EntryID: fmt.Sprint("e", i), TaskID: "t", NodeID: "n", Priority: p})
	}
	equal(w.claims(), []string{"e5", "e1", "e3", "e0", "e4", "e2", "e6"}, "entries by priority, then in order")
}

func claimNotBefore(w *world) {
	later := entryNamed("later")
	later.NotBefore, later.Priority = w.now().Add(10*time.Second), 9
	w.publish(later)
	w.entry("now")
	equal(w.claims(), []string{"now"}, "entries that are due")
	w.clock.Advance(10*time.Second - time.Millisecond)
	w.nothingDue("a millisecond early")
	equal(w.pressure().Queued, 1, "entries queued")
	w.clock.Advance(time.Millisecond)
	c := w.claim("c")
	equal([]any{c.Envelope.EntryID, c.Envelope.NotBefore}, []any{"later", later.NotBefore}, "entry that became due")
}

func claimEmptyOrFull(w *world) {
	w.nothingDue("in a fresh store")
	for i := range 3 {
		w.entry(fmt.Sprint("e", i))
	}
	first := w.claim("c1")
	w.claim("c1")
	_, err := w.Queue.Claim(w.ctx, "c2")
	hold(errors.Is(err, amber.ErrQueueFull), "claim past the leases that may be out: got %v, want the queue to be full", err)
	hold(!errors.Is(err, amber.ErrQueueEmpty), "a full queue is also empty")
	equal(amber.KindOf(err), amber.KindBusy, "kind of a full queue")
	must0(w.Queue.Ack(w.ctx, first.Lease))
	equal(w.claim("c2").Envelope.EntryID, "e2", "entry claimed after an ack")
	_, err = w.Queue.Claim(w.ctx, "c2")
	hold(errors.Is(err, amber.ErrQueueFull), "claim from a queue that is full and has no entry: got %v, want full", err)
}

func claimFullExpires(w *world) {
	w.entry("a")
	w.entry("b")
	w.claim("c")
	w.clock.Advance(30 * time.Second)
	equal(w.claim("c").Envelope.EntryID, "a", "entry claimed when the only lease has expired")
}

func backpressureCounts(w *world) {
	want := amber.Backpressure{MaxInFlight: 3, Available: 3}
	equal(w.pressure(), want, "counts of a fresh store")
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		w.entry(id)
	}
	w.claim("c")
	renewed := w.claim("c")
	equal(w.pressure(), amber.Backpressure{Queued: 3, Leased: 2, MaxInFlight: 3, Available: 1}, "counts with two leases")
	w.clock.Advance(20 * time.Second)
	must(w.QueueKeeper.Renew(w.ctx, renewed.Lease))
	w.clock.Advance(15 * time.Second)
	equal(w.pressure(), amber.Backpressure{Queued: 4, Leased: 1, MaxInFlight: 3, Available: 2}, "counts with one lease expired")
	equal(w.claim("c").Envelope.EntryID, "c", "entry claimed while one is dead")
	equal(w.pressure(), amber.Backpressure{Queued: 2, Leased: 2, Dead: 1, MaxInFlight: 3, Available: 1}, "counts with one dead")
}
