package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/sqlite"
)

// limitTogether is what a write among 64 may take at most where writers share
// transactions, of what it takes where each has one of its own.
const limitTogether = 0.25

// limitWrite is the time for one write of 64 clients at most: four times as many as the 195 a
// second that there were when each write had a transaction of its own.
const limitWrite = time.Second / 780

// limitSingle is how much longer a write may take that has no company.
const limitSingle = 1.1

// turns is how often both ways of writing take turns.
const turns = 3

// writers measures writes that share transactions against writes that have one
// each, by one writer and by 64, in this process; then 64 clients over HTTP.
func writers(ctx context.Context, c config) outcome {
	b := &bench{dir: c.dir, writer: newWriter(uint64(time.Now().UnixNano()))}
	begin := time.Now()
	check(b.fill(ctx, "writers", c.large).Close())
	fmt.Printf("%d memories stored in %s\n", c.large, time.Since(begin).Round(time.Millisecond))
	home := filepath.Join(c.dir, "writers")
	var one, oneAlone, many, manyAlone []*traffic
	each := c.serveFor / (4 * turns)
	for range turns {
		for _, m := range []struct {
			into    *[]*traffic
			callers int
			alone   bool
		}{{&one, 1, false}, {&oneAlone, 1, true}, {&many, serveClients, false}, {&manyAlone, serveClients, true}} {
			*m.into = append(*m.into, b.writeFor(ctx, home, each, m.callers, m.alone))
		}
	}
	served := b.writeServed(ctx, c, home)
	for _, s := range []struct {
		name string
		of   []*traffic
	}{
		{"one writer", one},
		{"one writer, one by one", oneAlone},
		{"64 writers", many},
		{"64 writers, one by one", manyAlone},
		{"64 clients over HTTP", []*traffic{served}},
	} {
		fmt.Printf("%-24s %8.0f writes a second, median %s, 99 %% %s\n", s.name, perSecond(s.of), us(middle(latencies(s.of))), us(at(latencies(s.of), 99)))
	}
	return outcome{ratios: []ratio{
		{name: "write, one writer", ours: perWrite(one), theirs: perWrite(oneAlone), limit: limitSingle, what: "together", base: "one by one"},
		{name: "write, 64 writers", ours: perWrite(many), theirs: perWrite(manyAlone), limit: limitTogether, what: "together", base: "one by one"},
		{name: "p99 of a write, 64 writers", ours: at(latencies(many), 99), theirs: at(latencies(manyAlone), 99), what: "together", base: "one by one"},
		{name: "write, 64 clients over HTTP", ours: served.perOperation(), theirs: perWrite(manyAlone), what: "served", base: "64 writers, one by one"},
		{name: "time for a write, 64 clients over HTTP", ours: served.perOperation(), absoluteLimit: limitWrite, what: "served"},
	}}
}

// writeFor lets callers write to the store for a while.
func (b *bench) writeFor(ctx context.Context, home string, d time.Duration, callers int, alone bool) *traffic {
	o := options()
	o.OneByOne = alone
	s := get(sqlite.Open(ctx, agentIn(home), o))
	t := newTraffic(b.writer)
	t.onlyWrites, t.callers = true, callers
	t.run(ctx, d, []amber.LongTerm{s})
	check(errors.Join(t.err(), s.Close()))
	return t
}

// writeServed lets 64 clients write over HTTP.
func (b *bench) writeServed(ctx context.Context, c config, home string) *traffic {
	p := startServer(ctx, c.binary, home)
	defer p.kill()
	t := newTraffic(b.writer)
	t.onlyWrites = true
	t.run(ctx, c.serveFor/4, p.connect(ctx))
	check(t.err())
	return t
}

func perWrite(list []*traffic) time.Duration {
	var took time.Duration
	for _, t := range list {
		took += t.took
	}
	return took / time.Duration(max(1, len(latencies(list))))
}

func perSecond(list []*traffic) float64 { return float64(time.Second) / float64(perWrite(list)) }

func latencies(list []*traffic) (all []time.Duration) {
	for _, t := range list {
		all = slices.Concat(all, t.writes)
	}
	return all
}

func us(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }
