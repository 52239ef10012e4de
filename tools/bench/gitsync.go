package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/store/sqlite"
)

// The targets of sync, as docs/benchmarks.md explains them.
const (
	limitIncrement  = 1.5  // large store over small
	limitImport     = 3.0  // times bare inserts
	limitSyncMemory = 64.0 // MB
)

// replica is a store with the folder it is exported to.
type replica struct {
	store    *sqlite.Store
	sync     *gitsync.Sync
	memories int
}

// syncLab holds what sync is measured on.
type syncLab struct {
	dir      string
	bench    *bench // makes the memories
	replicas []replica
}

// syncs measures sync through a folder: exports of what is new at several
// sizes of the store, and a whole store out and in.
func syncs(ctx context.Context, c config) (o outcome) {
	dir := get(filepath.Abs(filepath.Join(c.dir, "sync")))
	l := &syncLab{dir: dir, bench: &bench{dir: dir, writer: newWriter(uint64(time.Now().UnixNano()))}}
	between := int(math.Round(math.Sqrt(float64(c.small) * float64(c.large))))
	// The largest store is exported whole while nothing else is at work.
	full := l.full(ctx, c.large, c.syncRounds)
	defer l.close()
	for _, n := range []int{c.small, between, c.large} {
		l.open(ctx, n)
	}
	o.ratios = l.increments(ctx)
	if c.syncRounds > 0 {
		o.ratios, o.lines = append(o.ratios, full.ratio()), full.lines()
		printLines(o.lines)
	}
	return o
}

// open makes the store of that size, if it is not there, and exports it once.
func (l *syncLab) open(ctx context.Context, memories int) {
	s := l.store(ctx, memories)
	sync := get(gitsync.Open(s, filepath.Join(l.dir, fmt.Sprint("shared-", memories), ".amber")))
	l.replicas = append(l.replicas, replica{s, sync, memories})
	get(sync.Export(ctx, gitsync.ExportOptions{}))
}

// store opens the store of that size, filled now if it is empty.
func (l *syncLab) store(ctx context.Context, memories int) *sqlite.Store {
	name := storeName(memories)
	s := l.bench.fill(ctx, name, 0)
	if get(s.Stats(ctx)).Memories > 0 {
		return s
	}
	check(s.Close())
	begin := time.Now()
	s = l.bench.fill(ctx, name, memories)
	fmt.Printf("%d memories stored in %s\n", memories, ms(time.Since(begin)))
	return s
}

func storeName(memories int) string { return fmt.Sprint("store-", memories) }

func (l *syncLab) close() {
	for _, r := range l.replicas {
		check(r.store.Close())
	}
}

// newRows is how many memories are new in a small export.
const newRows = 10

// increments compares exports of what is new: nothing, and a few rows.
func (l *syncLab) increments(ctx context.Context) []ratio {
	const idle, busy = 400, 50 // the small store grows by half meanwhile
	nothing := l.timed(idle, func(r replica) time.Duration { return r.export(ctx, 0) })
	few := l.timed(busy, func(r replica) time.Duration {
		l.save(ctx, r.store)
		syncDisks() // the export does not pay for what the save left
		return r.export(ctx, newRows)
	})
	return append(l.compare("export, nothing new", nothing), l.compare(fmt.Sprintf("export of %d new rows", newRows), few)...)
}

// timed runs something on each replica in turn, several times, and returns
// the median of each. The first round is not counted. Each round begins with another
// replica, because the first process after a pause is slower.
func (l *syncLab) timed(rounds int, run func(replica) time.Duration) []time.Duration {
	times := make([][]time.Duration, len(l.replicas))
	for n := range rounds + 1 {
		for i := range l.replicas {
			at := (i + n) % len(l.replicas)
			d := run(l.replicas[at])
			if n > 0 {
				times[at] = append(times[at], d)
			}
		}
	}
	return each(times, middle)
}

// compare puts every size over the smallest. The target is for the largest.
func (l *syncLab) compare(name string, medians []time.Duration) (ratios []ratio) {
	for i := 1; i < len(medians); i++ {
		r := ratio{
			name: name, ours: medians[i], theirs: medians[0],
			what: fmt.Sprintf("at %d", l.replicas[i].memories), base: fmt.Sprintf("at %d", l.replicas[0].memories),
		}
		if i == len(medians)-1 {
			r.limit = limitIncrement
		}
		ratios = append(ratios, r)
	}
	return ratios
}

// save stores a few memories.
func (l *syncLab) save(ctx context.Context, s *sqlite.Store) {
	batch := make([]amber.WriteRequest, newRows)
	for i := range batch {
		batch[i] = l.bench.request(i)
	}
	get(s.WriteBatch(ctx, batch))
}

// export returns how long it takes to export what is new.
func (r replica) export(ctx context.Context, want int) time.Duration {
	begin := time.Now()
	report := get(r.sync.Export(ctx, gitsync.ExportOptions{}))
	took := time.Since(begin)
	if report.Observations != want {
		fail("%d memories were exported, and %d are new", report.Observations, want)
	}
	return took
}
