package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/amber-memory/amber"
)

func queueOperations() []operation {
	needs := []part{queueing}
	return []operation{
		{name: "publish", weight: 10, needs: needs, run: (*history).publish},
		{name: "claim", weight: 12, needs: needs, run: (*history).claim},
		{name: "ack", weight: 5, needs: needs, run: (*history).ack},
		{name: "nack", weight: 8, needs: needs, run: (*history).nack},
		{name: "renew", weight: 3, needs: needs, run: (*history).renew},
		{name: "backpressure", weight: 3, needs: needs, run: (*history).backpressure},
		{name: "dead entries", weight: 2, needs: needs, run: (*history).deadEntries},
	}
}

func (h *history) publish() {
	e := amber.Envelope{EntryID: fmt.Sprint("entry-", h.rng.IntN(24)), TaskID: h.tasks[0], NodeID: "n0", Payload: "p", Priority: h.rng.IntN(2)}
	if h.chance(0.1) {
		e.Payload = "q"
	}
	if h.chance(0.2) {
		e.NotBefore = h.now().Add(time.Duration(h.rng.IntN(20)) * grid)
	}
	h.note("%s", text(tree(e)))
	do(h, func(w *world) error { return w.Queue.Publish(w.ctx, e) })
}

func (h *history) claim() {
	consumer := oneOf(h, "c1", "c2")
	got, ok := ask(h, func(w *world) (amber.Claim, error) { return w.Queue.Claim(w.ctx, consumer) })
	if !ok {
		return
	}
	h.note("%s", got[h.model].Envelope.EntryID)
	same(h, got, "claim")
	lease := pair[amber.Lease]{}
	for w, c := range got {
		lease[w] = c.Lease
		for _, l := range h.leases {
			hold(c.Lease.Fence > l[w].Fence, "%s gives the fence %d after %d", w.backend.Name, c.Lease.Fence, l[w].Fence)
		}
	}
	h.leases = append(h.leases, lease)
}

// someLease returns a lease, most often one of the last.
func (h *history) someLease() pair[amber.Lease] {
	n := len(h.leases)
	if n == 0 {
		none := amber.Lease{EntryID: "entry-0", ConsumerID: "c1", Token: "none", Fence: 1}
		return pair[amber.Lease]{h.model: none, h.subject: none}
	}
	return h.leases[max(0, n-1-h.rng.IntN(4))]
}

func (h *history) ack() {
	l := h.someLease()
	h.note("%s", l[h.model].EntryID)
	do(h, func(w *world) error { return w.Queue.Ack(w.ctx, l[w]) })
}

func (h *history) nack() {
	l := h.someLease()
	n := amber.Nack{Reason: oneOf(h, "busy", "broken", "")}
	if h.chance(0.5) {
		n.NotBefore = h.now().Add(time.Duration(h.rng.IntN(4)) * grid)
	}
	h.note("%s %s", l[h.model].EntryID, text(tree(n)))
	do(h, func(w *world) error {
		n := n
		n.Lease = l[w]
		return w.Queue.Nack(w.ctx, n)
	})
}

func (h *history) renew() {
	l := h.someLease()
	h.note("%s", l[h.model].EntryID)
	got, ok := ask(h, func(w *world) (amber.Lease, error) { return w.QueueKeeper.Renew(w.ctx, l[w]) })
	if !ok {
		return
	}
	same(h, got, "renewed lease")
	for w, r := range got {
		hold(r.Fence == l[w].Fence, "renewing changed the fence of %s from %d to %d", w.backend.Name, l[w].Fence, r.Fence)
		hold(!r.ExpiresAt.Before(l[w].ExpiresAt), "renewing shortened a lease of %s", w.backend.Name)
		l[w] = r
	}
}

func (h *history) backpressure() {
	compare(h, "counts of the queue", func(w *world) (amber.Backpressure, error) { return w.QueueKeeper.Backpressure(w.ctx) })
}

func (h *history) deadEntries() {
	limit := oneOf(h, 0, 1, 100)
	compare(h, "dead entries", func(w *world) ([]amber.DeadEntry, error) { return everyDead(w.ctx, w.QueueKeeper, limit) })
}

// everyDead reads the dead entries by pages of a size.
func everyDead(ctx context.Context, q amber.QueueKeeper, size int) ([]amber.DeadEntry, error) {
	return amber.All(ctx, func(ctx context.Context, size int, p amber.Paging) (amber.Page[amber.DeadEntry], error) {
		return q.DeadEntries(ctx, amber.Paging{Limit: size, Cursor: p.Cursor})
	}, size)
}
