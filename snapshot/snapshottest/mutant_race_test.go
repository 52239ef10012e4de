package snapshottest_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/snapshot/inmem"
	"github.com/amber-memory/amber/snapshot/snapshottest"
)

// lazy is an agent that acknowledges a memory before it is written: it is
// written with the next one.
type lazy struct {
	double
	mu   *sync.Mutex
	late map[string]snapshottest.Memory
}

func (l lazy) Remember(ctx context.Context, m snapshottest.Memory) (amber.MemoryID, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, m := range l.late {
		delete(l.late, key)
		if _, err := l.double.Remember(ctx, m); err != nil {
			return "", err
		}
	}
	l.late[m.Content] = m
	return "", nil
}

func raceMutants() []mutant {
	var mu sync.Mutex
	late := map[string]snapshottest.Memory{}
	all := []mutant{
		{"two snapshots at once are one", "concurrent/snapshots-of-one-agent", false, broken{
			snapshot: func(b *broken, ctx context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error) {
				if r.Label == "at once" {
					if all := b.all(ctx, r.Tenant, r.Agent); len(all) > 0 {
						return all[0], nil
					}
				}
				return b.Snapshotter.Snapshot(ctx, r)
			},
		}},
		{"two snapshots at once are an internal error", "concurrent/snapshots-of-one-agent", false, broken{
			snapshot: func(b *broken, ctx context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error) {
				if len(b.all(ctx, r.Tenant, r.Agent)) > 0 {
					return amber.SnapshotMeta{}, amber.Errorf(amber.KindInternal, "take snapshot", "", "the staging folder exists")
				}
				return b.Snapshotter.Snapshot(ctx, r)
			},
		}},
		{"snapshots of two agents are mixed up", "concurrent/snapshots-of-two-agents", false, broken{
			snapshot: func(b *broken, ctx context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error) {
				m, err := b.Snapshotter.Snapshot(ctx, r)
				if r.Agent == "pilot" {
					m.ID = "0195a0b0-0000-7000-8000-000000000001"
				}
				return m, err
			},
		}},
		{"memories are late", "concurrent/one-instant", false, broken{agent: func(_ *broken, d double) agentHandle {
			return lazy{d, &mu, late}
		}}},
		{"a snapshot is the one before", "concurrent/one-instant", false, broken{
			snapshot: func(b *broken, ctx context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error) {
				if all := b.all(ctx, r.Tenant, r.Agent); len(all) > 0 {
					runtime.Gosched()
					return all[len(all)-1], nil
				}
				runtime.Gosched()
				return b.Snapshotter.Snapshot(ctx, r)
			},
		}},
		{"a restore reads, lets others go on, and writes", "concurrent/restores-of-one-agent", false, broken{restore: mixing()}},
	}
	for seed := range 3 {
		all = append(all, mutant{fmt.Sprint("restore undoes nothing in history ", seed), fmt.Sprint("history/", seed), true, broken{
			restore: restored(func(was, is *inmem.Contents) { *is = *was }),
		}})
	}
	return all
}

// mixing restores the notes in a step of their own: two at once leave the
// memories of one and the notes of the other. It waits a while for the other.
func mixing() restoreFunc {
	var arrived atomic.Int64
	return func(b *broken, ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
		r.Only = []string{amber.PartMemory, amber.PartState}
		report, err := b.Snapshotter.Restore(ctx, r)
		if err != nil {
			return report, err
		}
		arrived.Add(1)
		for range 1000 {
			if arrived.Load()%2 == 0 {
				break
			}
			runtime.Gosched()
		}
		r.Only, r.NoSafetySnapshot = []string{amber.PartNotes}, true
		_, err = b.Snapshotter.Restore(ctx, r)
		return report, err
	}
}
