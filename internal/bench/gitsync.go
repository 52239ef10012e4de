package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/gitsync"
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
func syncs(ctx context.Context, c config) (o outcome, err error) {
	dir, err := filepath.Abs(filepath.Join(c.dir, "sync"))
	if err != nil {
		return o, err
	}
	l := &syncLab{dir: dir, bench: &bench{dir: dir, writer: newWriter(uint64(time.Now().UnixNano()))}}
	between := int(math.Round(math.Sqrt(float64(c.small) * float64(c.large))))
	// The largest store is exported whole while nobody else is at work.
	full, err := l.full(ctx, c.large, c.syncRounds)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	for _, n := range []int{c.small, between, c.large} {
		if err := l.open(ctx, n); err != nil {
			return o, err
		}
	}
	if o.ratios, err = l.increments(ctx); err != nil {
		return o, err
	}
	if c.syncRounds > 0 {
		o.ratios, o.lines = append(o.ratios, full.ratio()), full.lines()
		printLines(o.lines)
	}
	return o, nil
}

// open makes the store of that size, if it is not there, and exports it once.
func (l *syncLab) open(ctx context.Context, memories int) error {
	s, err := l.store(ctx, memories)
	if err != nil {
		return err
	}
	sync, err := gitsync.Open(s, filepath.Join(l.dir, fmt.Sprint("shared-", memories), ".amber"))
	if err != nil {
		return errors.Join(err, s.Close())
	}
	l.replicas = append(l.replicas, replica{s, sync, memories})
	_, err = sync.Export(ctx, gitsync.ExportOptions{})
	return err
}

// store opens the store of that size, filled now if it is empty.
func (l *syncLab) store(ctx context.Context, memories int) (*sqlite.Store, error) {
	name := storeName(memories)
	s, err := l.bench.fill(ctx, name, 0)
	if err != nil {
		return nil, err
	}
	stats, err := s.Stats(ctx)
	if err != nil || stats.Memories > 0 {
		return s, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	begin := time.Now()
	s, err = l.bench.fill(ctx, name, memories)
	fmt.Printf("%d memories stored in %s\n", memories, ms(time.Since(begin)))
	return s, err
}

func storeName(memories int) string { return fmt.Sprint("store-", memories) }

func (l *syncLab) close() (err error) {
	for _, r := range l.replicas {
		err = errors.Join(err, r.store.Close())
	}
	return err
}

// newRows is how many memories are new in a small export.
const newRows = 10

// increments compares exports of what is new: nothing, and a few rows.
func (l *syncLab) increments(ctx context.Context) ([]ratio, error) {
	const idle, busy = 400, 50 // the small store grows by half meanwhile
	nothing, err := l.timed(idle, func(r replica) (time.Duration, error) { return r.export(ctx, 0) })
	if err != nil {
		return nil, err
	}
	few, err := l.timed(busy, func(r replica) (time.Duration, error) {
		if err := l.save(ctx, r.store); err != nil {
			return 0, err
		}
		syncDisks() // the export does not pay for what the save left
		return r.export(ctx, newRows)
	})
	if err != nil {
		return nil, err
	}
	return append(l.compare("export, nothing new", nothing), l.compare(fmt.Sprintf("export of %d new rows", newRows), few)...), nil
}

// timed runs something on each replica in turn, several times, and returns
// the median of each. The first round is not counted. Each round begins with another
// replica, because the first process after a pause is slower.
func (l *syncLab) timed(rounds int, run func(replica) (time.Duration, error)) ([]time.Duration, error) {
	times := make([][]time.Duration, len(l.replicas))
	for n := range rounds + 1 {
		for i := range l.replicas {
			at := (i + n) % len(l.replicas)
			d, err := run(l.replicas[at])
			if err != nil {
				return nil, err
			}
			if n > 0 {
				times[at] = append(times[at], d)
			}
		}
	}
	medians := make([]time.Duration, len(times))
	for i, t := range times {
		medians[i] = middle(t)
	}
	return medians, nil
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
func (l *syncLab) save(ctx context.Context, s *sqlite.Store) error {
	batch := make([]amber.WriteRequest, newRows)
	for i := range batch {
		batch[i] = l.bench.request(i)
	}
	_, err := s.WriteBatch(ctx, batch)
	return err
}

// export tells how long it takes to export what is new.
func (r replica) export(ctx context.Context, want int) (time.Duration, error) {
	begin := time.Now()
	report, err := r.sync.Export(ctx, gitsync.ExportOptions{})
	took := time.Since(begin)
	if err == nil && report.Observations != want {
		err = fmt.Errorf("%d memories were exported, and %d are new", report.Observations, want)
	}
	return took, err
}
