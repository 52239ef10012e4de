package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

const (
	natsRounds = 5  // each goes through all phases
	natsBlocks = 14 // of one phase
	natsBlock  = 48 // writes; 10 080 in all
	// limitTold is how much longer a write may take because events are
	// published, whatever becomes of the broker.
	limitTold = 1.2
)

// natsPhases are what becomes of the broker in one round. The first block of
// writes begins in the moment in which it happens.
var natsPhases = []string{"up", "killed", "restarted"}

// average returns the mean.
func average(ds []time.Duration) (sum time.Duration) {
	for _, d := range ds {
		sum += d
	}
	return sum / time.Duration(max(1, len(ds)))
}

// tells measures what a write costs when events are published and the broker is
// killed and started again meanwhile. Blocks of writes without events come in
// between, while nothing is published.
func tells(ctx context.Context, c config) (o outcome) {
	seed := uint64(time.Now().UnixNano())
	quiet := newNATSHouse(ctx, filepath.Join(c.dir, "quiet"), seed)
	defer quiet.close()
	told := newNATSTold(ctx, filepath.Join(c.dir, "told"), seed)
	defer told.close(ctx)
	told.work(ctx, func() {
		for i := range natsRounds * len(natsPhases) {
			natsPhase(ctx, told, quiet, natsPhases[i%len(natsPhases)])
		}
	})
	told.finish(ctx)
	f := told.compare(ctx)
	h := told.bus.Health()
	fmt.Printf("%d writes, the broker killed %d times; %d events expected, %d arrived, %d of them again; %d attempts failed, %d connections made again\n",
		told.writes, natsRounds, f.expected, f.arrived, f.repeated, h.Failed, h.Reconnects)
	o.lines = []line{
		{name: "events that never arrived", amount: float64(f.missing), limit: noneAtAll},
		{name: "events out of the order of their agent", amount: float64(f.disorder), limit: noneAtAll},
	}
	printLines(o.lines)
	for _, phase := range natsPhases {
		o.ratios = append(o.ratios, told.ratio("write, broker "+phase+", median", middle(told.took[phase]), middle(quiet.took[phase]), 0))
	}
	o.ratios = append(
		o.ratios,
		told.ratio("write, broker killed and restarted, mean", average(told.all()), average(quiet.all()), limitTold),
		told.ratio("write, broker killed and restarted, p99", at(told.all(), 99), at(quiet.all(), 99), limitTold),
	)
	return o
}

// natsPhase lets the broker suffer one thing and measures blocks of both houses
// in turn.
func natsPhase(ctx context.Context, told *natsTold, quiet *natsHouse, phase string) {
	told.happen(ctx, phase)
	for range natsBlocks {
		told.write(ctx, phase, natsBlock)
		told.gate.shut(func() { quiet.write(ctx, phase, natsBlock) })
	}
}

func (t *natsTold) ratio(name string, ours, theirs time.Duration, limit float64) ratio {
	return ratio{name: name, ours: ours, theirs: theirs, limit: limit, what: "with events to JetStream", base: "without a broker"}
}
