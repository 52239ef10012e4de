package main

import (
	"fmt"
	"time"
)

// timings are how long something took, each time.
type timings struct {
	took []time.Duration
	work time.Duration // of processors, for this process
}

// add runs f and notes how long it takes.
func (t *timings) add(f func()) {
	worked, begin := processorTime(), time.Now()
	f()
	t.took = append(t.took, time.Since(begin))
	t.work += processorTime() - worked
}

// processor is how long processors of this process work for it each time.
func (t *timings) processor() time.Duration { return t.work / time.Duration(max(1, len(t.took))) }

func (t *timings) print(name string) {
	fmt.Printf("%-28s %s; processor %8s\n", name, spread(t.took), us(t.processor()))
}

// inTurn runs functions one after the other, in an order by chance: what one leaves to do behind it
// meets each of the others as often.
func (w *writer) inTurn(fs ...func()) {
	for _, i := range w.random.Perm(len(fs)) {
		fs[i]()
	}
}

// compared compares medians and means with those of a base. The ratio of a control to the base says
// how much of that is chance.
func compared(name string, limit float64, ours, base, control timings) (out []ratio) {
	for _, of := range []struct {
		name string
		of   func([]time.Duration) time.Duration
	}{{"median", median50}, {"mean", average}} {
		o, b, c := of.of(ours.took), of.of(base.took), of.of(control.took)
		out = append(out, ratio{
			name: name + ", " + of.name, ours: o, theirs: b, limit: limit, what: "with the server",
			base: fmt.Sprintf("without; without over without: %.2f", float64(c)/float64(b)),
		})
	}
	return out
}

func median50(ds []time.Duration) time.Duration { return at(ds, 50) }
