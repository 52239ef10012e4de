package ledger

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// leads reports whether a waiter got the message to lead.
func leads(w *waiter) bool {
	select {
	case v := <-w.told:
		return v.lead
	default:
		return false
	}
}

func TestTheFirstInLineLeads(t *testing.T) {
	t.Parallel()
	var l line
	var waiting []*waiter
	for i := range 2*maxBatch + 10 {
		waiting = append(waiting, l.join(record{subject: fmt.Sprint(i)}))
	}
	const gone = maxBatch + 5
	must.Equal(t, "the leader may leave", l.leave(waiting[0]), false)
	must.Hold(t, l.leave(waiting[gone]) && !l.leave(waiting[gone]), "somebody in line could not leave, or left twice")
	next := 0
	for round, size := range []int{maxBatch, maxBatch, 9} {
		if !leads(waiting[next]) {
			t.Fatalf("round %d: %d does not lead", round, next)
		}
		batch := l.take()
		if len(batch) != size || batch[0] != waiting[next] {
			t.Fatalf("round %d: a batch of %d, want %d", round, len(batch), size)
		}
		if size > 1 && l.leave(batch[1]) {
			t.Error("somebody left who is being written")
		}
		failure := fmt.Errorf("round %d", round)
		l.done(batch, failure)
		for _, w := range batch[1:] {
			if v := <-w.told; v.lead || v.err != failure {
				t.Errorf("round %d: told %+v", round, v)
			}
		}
		for range size {
			if next++; next == gone {
				next++
			}
		}
	}
	must.Hold(t, !l.led && len(l.waiting) == 0, "the line has no end")
	must.Equal(t, "the next in line leads", leads(l.join(record{})), true)
}
