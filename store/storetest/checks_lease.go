package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

func leaseChecks() []check {
	needs := []part{control}
	backoff := amber.QueueOptions{Backoff: time.Second, MaxBackoff: 6 * time.Second, MaxAttempts: 6}
	return []check{
		{name: "queue/ack-twice-does-nothing", needs: needs, run: ackTwice},
		{name: "queue/lease-expires", needs: needs, run: leaseExpires},
		{name: "queue/lost-lease-conflicts", needs: needs, run: leaseLost},
		{name: "queue/forged-lease-conflicts", needs: needs, run: leaseForged},
		{name: "queue/expired-entry-keeps-its-place", needs: needs, run: leaseKeepsPlace},
		{name: "queue/renew", needs: needs, run: leaseRenewed},
		{name: "queue/nack-gives-back", needs: needs, run: nackGivesBack},
		{name: "queue/nack-backs-off", needs: needs, run: nackBacksOff, queue: backoff},
		{name: "queue/attempts-then-dead", needs: needs, run: attemptsThenDead, queue: amber.QueueOptions{MaxAttempts: 3, Backoff: time.Second}},
		{name: "queue/dead-newest-first", needs: needs, run: deadListed, queue: amber.QueueOptions{MaxAttempts: 1}},
		{name: "queue/fences-grow", needs: needs, run: fencesGrow},
		{name: "queue/clock-going-back-shortens-no-lease", needs: needs, run: leaseClockBack},
	}
}

func ackTwice(w *world) {
	w.entry("e")
	l := w.claim("c").Lease
	must0(w.Queue.Ack(w.ctx, l))
	must0(w.Queue.Ack(w.ctx, l))
	w.clock.Advance(time.Hour)
	must0(w.Queue.Ack(w.ctx, l))
	w.nothingDue("after the ack")
	refused(w.Queue.Nack(w.ctx, amber.Nack{Lease: l, Reason: "late"}), amber.KindConflict, "nack after the ack")
	refused(only(w.QueueKeeper.Renew(w.ctx, l)), amber.KindConflict, "renew after the ack")
}

func leaseExpires(w *world) {
	w.entry("e")
	w.claim("slow one")
	w.clock.Advance(30*time.Second - time.Millisecond)
	w.nothingDue("a millisecond before the lease expires")
	w.clock.Advance(time.Millisecond)
	c := w.claim("other")
	equal([]any{c.Envelope.EntryID, c.Envelope.Attempt, c.Lease.ConsumerID}, []any{"e", 2, "other"}, "claim after the lease expired")
}

// lost checks that a lease can do nothing any more.
func (w *world) lost(l amber.Lease, what string) {
	refused(w.Queue.Ack(w.ctx, l), amber.KindConflict, "ack with %s", what)
	refused(w.Queue.Nack(w.ctx, amber.Nack{Lease: l, Reason: "r"}), amber.KindConflict, "nack with %s", what)
	refused(only(w.QueueKeeper.Renew(w.ctx, l)), amber.KindConflict, "renew with %s", what)
}

func leaseLost(w *world) {
	w.entry("e")
	old := w.claim("c1").Lease
	w.clock.Advance(30 * time.Second)
	w.lost(old, "a lease that expired and nobody took")
	current := w.claim("c2").Lease
	w.lost(old, "a lease that somebody else has now")
	must0(w.Queue.Ack(w.ctx, current))
	w.lost(old, "a lease whose entry somebody else acked")

	w.entry("n")
	nacked := w.claim("c1").Lease
	must0(w.Queue.Nack(w.ctx, amber.Nack{Lease: nacked, Reason: "no", NotBefore: w.now()}))
	w.lost(nacked, "a lease that was given back")
	equal(w.claim("c1").Envelope.EntryID, "n", "entry after late calls")
}

func leaseForged(w *world) {
	w.entry("e")
	w.entry("f")
	l, other := w.claim("c").Lease, w.claim("c").Lease
	for name, change := range map[string]func(*amber.Lease){
		"no token":            func(l *amber.Lease) { l.Token = "" },
		"a guessed token":     func(l *amber.Lease) { l.Token = "guess" },
		"another one's token": func(l *amber.Lease) { l.Token = other.Token },
		"an unknown entry":    func(l *amber.Lease) { l.EntryID = "unknown" },
		"another entry":       func(l *amber.Lease) { l.EntryID = other.EntryID },
		"another consumer":    func(l *amber.Lease) { l.ConsumerID = "d" },
		"another fence":       func(l *amber.Lease) { l.Fence++ },
	} {
		forged := l
		change(&forged)
		w.lost(forged, "a lease with "+name)
	}
	l.ExpiresAt = amber.Time{} // does not identify a lease
	must0(w.Queue.Ack(w.ctx, l))
	must0(w.Queue.Ack(w.ctx, other))
}

func leaseKeepsPlace(w *world) {
	for _, id := range []string{"a", "b", "c"} {
		w.entry(id)
	}
	w.claim("c")
	w.claim("c")
	w.clock.Advance(time.Minute)
	w.entry("d")
	equal(w.claims(), []string{"a", "b", "c", "d"}, "entries after the first two leases expired")
}

func leaseRenewed(w *world) {
	w.entry("e")
	l := w.claim("c").Lease
	w.clock.Advance(30*time.Second - time.Millisecond)
	renewed := must(w.QueueKeeper.Renew(w.ctx, l))
	equal([]any{renewed.EntryID, renewed.ConsumerID, renewed.Fence, renewed.ExpiresAt},
		[]any{"e", "c", l.Fence, w.now().Add(30 * time.Second)}, "renewed lease")
	w.clock.Advance(29 * time.Second)
	w.nothingDue("while the renewed lease lasts")
	w.clock.Advance(-40 * time.Second)
	again := must(w.QueueKeeper.Renew(w.ctx, renewed))
	hold(!again.ExpiresAt.Before(renewed.ExpiresAt), "renewing shortened the lease from %s to %s", renewed.ExpiresAt, again.ExpiresAt)
	must0(w.Queue.Ack(w.ctx, again))
}

func nackGivesBack(w *world) {
	w.entry("a")
	w.entry("b")
	l := w.claim("c").Lease
	must0(w.Queue.Nack(w.ctx, amber.Nack{Lease: l, Reason: "busy", NotBefore: w.now().Add(5 * time.Second)}))
	equal(w.pressure().Queued, 2, "entries queued after a nack")
	equal(w.claims(), []string{"b"}, "entries that are due after a nack")
	w.clock.Advance(5*time.Second - time.Millisecond)
	w.nothingDue("before the delay is over")
	w.clock.Advance(time.Millisecond)
	c := w.claim("c")
	equal([]any{c.Envelope.EntryID, c.Envelope.Attempt, c.Envelope.NotBefore}, []any{"a", 2, nil}, "claim after a nack")
	for name, reason := range map[string]string{"a huge reason": strings.Repeat("x", amber.MaxSummaryBytes+1), "a NUL": "\x00", "no UTF-8": "\xff"} {
		refused(w.Queue.Nack(w.ctx, amber.Nack{Lease: c.Lease, Reason: reason}), amber.KindInvalid, "nack with %s", name)
	}
	must0(w.Queue.Ack(w.ctx, c.Lease))
}

func nackBacksOff(w *world) {
	w.entry("e")
	for attempt, d := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 6 * time.Second, 6 * time.Second} {
		c := w.claim("c")
		equal(c.Envelope.Attempt, attempt+1, "attempt")
		must0(w.Queue.Nack(w.ctx, amber.Nack{Lease: c.Lease, Reason: "not yet"}))
		w.clock.Advance(d/2 - time.Millisecond)
		w.nothingDue(fmt.Sprintf("in the first half of the backoff after attempt %d", attempt+1))
		w.clock.Advance(d/2 + 2*time.Millisecond)
	}
	equal(w.claim("c").Envelope.Attempt, 6, "attempt after five backoffs")
}

func attemptsThenDead(w *world) {
	w.entry("e")
	c := w.claim("c1")
	must0(w.Queue.Nack(w.ctx, amber.Nack{Lease: c.Lease, Reason: "first reason", NotBefore: w.now()}))
	w.claim("c2")
	w.clock.Advance(30 * time.Second)
	c = w.claim("c3")
	equal(c.Envelope.Attempt, 3, "attempt")
	w.tick()
	must0(w.Queue.Nack(w.ctx, amber.Nack{Lease: c.Lease, Reason: "third reason"}))
	died := w.now()
	w.clock.Advance(time.Hour)
	w.nothingDue("after its attempts are used up")
	dead := must(w.QueueKeeper.DeadEntries(w.ctx, amber.Paging{})).Items
	equal(len(dead), 1, "dead entries")
	equal(dead[0].Reasons, []string{"first reason", "lease expired (consumer c2)", "third reason"}, "reasons, oldest first")
	equal([]any{dead[0].Envelope.EntryID, dead[0].Envelope.Payload, dead[0].Envelope.Attempt, dead[0].DeadAt},
		[]any{"e", "work on e", 3, died}, "dead entry")
	w.lost(c.Lease, "the lease of a dead entry")
	w.entry("e")
	w.nothingDue("after publishing a dead entry again")
	equal(w.pressure().Dead, 1, "dead entries counted")
}

func deadListed(w *world) {
	for _, id := range []string{"a", "b", "c"} {
		w.entry(id)
		c := w.claim("worker")
		if id == "b" {
			w.clock.Advance(time.Minute)
			w.nothingDue("after its only attempt expired")
		} else {
			must0(w.Queue.Nack(w.ctx, amber.Nack{Lease: c.Lease, Reason: map[string]string{"a": "no"}[id]}))
		}
		w.tick()
	}
	var got []string
	for _, d := range must(w.QueueKeeper.DeadEntries(w.ctx, amber.Paging{})).Items {
		got = append(got, d.Envelope.EntryID+": "+strings.Join(d.Reasons, ", "))
	}
	equal(got, []string{"c: no reason given", "b: lease expired (consumer worker)", "a: no"}, "dead entries, newest first")
	first := must(w.QueueKeeper.DeadEntries(w.ctx, amber.Paging{Limit: 2}))
	equal(len(first.Items), 2, "dead entries up to a limit")
	rest := must(w.QueueKeeper.DeadEntries(w.ctx, amber.Paging{Limit: 2, Cursor: first.Next}))
	equal([]any{len(rest.Items), rest.Items[0].Envelope.EntryID, rest.Next}, []any{1, "a", amber.Cursor("")}, "the last page of dead entries")
	refused(only(w.QueueKeeper.DeadEntries(w.ctx, amber.Paging{Limit: -1})), amber.KindInvalid, "dead entries up to a negative number")
	refused(only(w.QueueKeeper.DeadEntries(w.ctx, amber.Paging{Cursor: "none"})), amber.KindInvalid, "dead entries at a cursor of nothing")
}

func fencesGrow(w *world) {
	var last int64
	for i := range 4 {
		w.publish(amber.Envelope{EntryID: fmt.Sprint("e", i), TaskID: "t", NodeID: "n"})
		for range 2 {
			l := w.claim("c").Lease
			hold(l.Fence > last, "fence %d does not grow after %d", l.Fence, last)
			last = l.Fence
			w.clock.Advance(time.Minute)
		}
		must0(w.Queue.Ack(w.ctx, w.claim("c").Lease))
		last++
	}
}

func leaseClockBack(w *world) {
	w.entry("a")
	w.entry("b")
	before := w.claim("c1").Lease
	w.clock.Advance(30 * time.Second)
	old := before
	before = w.claim("c1").Lease
	w.clock.Advance(-time.Hour)
	w.lost(old, "a lease that was taken back before the clock went back")
	after := w.claim("c2").Lease
	w.nothingDue("after the clock went back")
	w.clock.Advance(29 * time.Second)
	w.nothingDue("while the new lease lasts")
	for _, l := range []amber.Lease{before, after} {
		r := must(w.QueueKeeper.Renew(w.ctx, l))
		hold(!r.ExpiresAt.Before(l.ExpiresAt), "renewing shortened a lease from %s to %s", l.ExpiresAt, r.ExpiresAt)
		must0(w.Queue.Ack(w.ctx, r))
	}
}
