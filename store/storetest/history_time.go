package storetest

import (
	"fmt"
	"time"

	"github.com/amber-memory/amber"
)

func timeOperations() []operation {
	return []operation{
		{name: "clock", weight: 8, run: (*history).moveClock},
		{name: "reopen", weight: 2, needs: []part{durable}, run: func(h *history) { h.subject.reopen() }},
		{name: "two at once", weight: 1, needs: []part{longTerm, memories, edits, turns}, run: (*history).twoAtOnce, concurrent: true},
	}
}

// moveClock lets time pass, and now and then sets the clock back, though
// never before the stores were opened: what a store does with a clock that
// was never right is its own affair.
func (h *history) moveClock() {
	d := time.Duration(1+h.rng.IntN(10)) * grid
	switch {
	case h.chance(0.15):
		d = -d * 20
	case h.chance(0.1):
		d = time.Hour
	case h.long && h.chance(0.2):
		d = 8 * 24 * time.Hour
	}
	d = max(d, start().Sub(h.clock.Now()))
	h.note("%s", d)
	h.clock.Advance(d)
}

// phaseSessions name the sessions that concurrent phases write to.
func phaseSessions() []amber.SessionID { return []amber.SessionID{"left", "right"} }

// twoAtOnce lets two goroutines write to each store at the same time, each to
// its own session, so that the outcome does not depend on who is first.
func (h *history) twoAtOnce() {
	h.concurrents++
	wrote := pair[[2][]amber.Memory]{}
	said := pair[[2][]amber.Turn]{}
	for _, w := range []*world{h.model, h.subject} {
		var memories [2][]amber.Memory
		var turns [2][]amber.Turn
		together(2, func(i int) { memories[i], turns[i] = w.phase(phaseSessions()[i], h.concurrents) })
		wrote[w], said[w] = memories, turns
	}
	for i := range phaseSessions() {
		for j, m := range wrote[h.model][i] {
			id := pair[amber.MemoryID]{h.model: m.ID, h.subject: wrote[h.subject][i][j].ID}
			h.bind(string(id[h.model]), string(id[h.subject]))
			h.know(id)
		}
		for j, t := range said[h.model][i] {
			h.bind(string(t.ID), string(said[h.subject][i][j].ID))
		}
	}
	same(h, wrote, "memories written at once")
	same(h, said, "turns appended at once")
	h.passStamps()
}

// phase is what one goroutine does: memories written, edited and deleted, and
// turns appended, in one session.
func (w *world) phase(session amber.SessionID, n int) (wrote []amber.Memory, said []amber.Turn) {
	for i := range 3 {
		ack := w.write(amber.WriteRequest{
			Scope: amber.ScopeSession, Identities: amber.Identities{SessionID: session},
			Content: fmt.Sprintf("%s alpha %d %d", session, n, i),
		})
		wrote = append(wrote, ack.Memory)
		topic := w.write(amber.WriteRequest{
			Scope: amber.ScopeSession, Identities: amber.Identities{SessionID: session},
			Topic: "phase", Content: fmt.Sprintf("%s beta %d %d", session, n, i),
		})
		wrote = append(wrote, topic.Memory)
		said = append(said, w.say(session, fmt.Sprintf("turn %d %d", n, i)))
	}
	wrote = append(wrote, w.edit(amber.EditRequest{ID: wrote[0].ID, Content: new(fmt.Sprintf("%s gamma %d", session, n))}))
	must0(w.LongTerm.Delete(w.ctx, wrote[2].ID))
	return wrote, said
}

// passStamps notes the stamps of everything both stores hold. In a concurrent phase the suite does
// not see the order in which the stores gave them out.
func (h *history) passStamps() {
	for _, w := range []*world{h.model, h.subject} {
		law := h.stamps[w]
		before := law.last
		for _, m := range w.everything() {
			law.of[m.Origin.Clock] = fmt.Sprint(m.ID, " ", m.Origin.Counter)
			law.last = max(law.last, m.Origin.Clock)
		}
		if law.last > before {
			law.unseen = append(law.unseen, [2]amber.Stamp{before, law.last})
		}
	}
}
