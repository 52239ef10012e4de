package main

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/store/sqlite"
)

// syncJob holds the task of a process of its own, so that its memory can be
// told.
const syncJob = "AMBER_BENCH_SYNC"

// syncChild is that process.
func syncChild(ctx context.Context, job string) {
	var t syncTask
	check(json.Unmarshal([]byte(job), &t))
	tasks := map[string]func(context.Context) syncDone{"export": t.export, "import": t.bring, "bare": t.bare}
	do := tasks[t.Do]
	if do == nil {
		fail("there is no task %q", t.Do)
	}
	within(t.Do, func() { check(json.NewEncoder(os.Stdout).Encode(do(ctx))) })
}

func (t syncTask) export(ctx context.Context) syncDone {
	return t.with(ctx, func(s *gitsync.Sync) int {
		return get(s.Export(ctx, gitsync.ExportOptions{})).Observations
	})
}

// bring imports the folder.
func (t syncTask) bring(ctx context.Context) syncDone {
	return t.with(ctx, func(s *gitsync.Sync) int {
		report := get(s.Import(ctx))
		if len(report.Quarantined) > 0 {
			fail("%d chunks were not imported: %s", len(report.Quarantined), report.Quarantined[0].Reason)
		}
		return report.Observations
	})
}

// with tells how long fn takes on a store that is open and ties it to the
// folder, until the store is closed again.
func (t syncTask) with(ctx context.Context, fn func(*gitsync.Sync) int) (done syncDone) {
	store := t.open(ctx)
	s := get(gitsync.Open(store, t.Folder))
	begin := time.Now()
	done.Memories = fn(s)
	check(store.Close())
	done.Took = time.Since(begin)
	return done
}

func (t syncTask) open(ctx context.Context) *sqlite.Store {
	return get(sqlite.Open(ctx, agentIn(t.Home), options()))
}
