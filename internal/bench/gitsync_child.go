package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/amber-memory/amber/gitsync"
	"github.com/amber-memory/amber/store/sqlite"
)

// syncJob holds the task of a process of its own, so that its memory can be
// told.
const syncJob = "AMBER_BENCH_SYNC"

// syncChild is that process.
func syncChild(ctx context.Context, job string) error {
	var t syncTask
	if err := json.Unmarshal([]byte(job), &t); err != nil {
		return err
	}
	tasks := map[string]func(context.Context) (syncDone, error){"export": t.export, "import": t.bring, "bare": t.bare}
	do := tasks[t.Do]
	if do == nil {
		return fmt.Errorf("there is no task %q", t.Do)
	}
	done, err := do(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Do, err)
	}
	return json.NewEncoder(os.Stdout).Encode(done)
}

func (t syncTask) export(ctx context.Context) (syncDone, error) {
	return t.with(ctx, func(s *gitsync.Sync) (int, error) {
		report, err := s.Export(ctx, gitsync.ExportOptions{})
		return report.Observations, err
	})
}

// bring imports the folder.
func (t syncTask) bring(ctx context.Context) (syncDone, error) {
	return t.with(ctx, func(s *gitsync.Sync) (int, error) {
		report, err := s.Import(ctx)
		if err == nil && len(report.Quarantined) > 0 {
			err = fmt.Errorf("%d chunks were not imported: %s", len(report.Quarantined), report.Quarantined[0].Reason)
		}
		return report.Observations, err
	})
}

// with tells how long fn takes on a store that is open and ties it to the
// folder, until the store is closed again.
func (t syncTask) with(ctx context.Context, fn func(*gitsync.Sync) (int, error)) (done syncDone, err error) {
	store, err := t.open(ctx)
	if err != nil {
		return done, err
	}
	s, err := gitsync.Open(store, t.Folder)
	if err != nil {
		return done, errors.Join(err, store.Close())
	}
	begin := time.Now()
	done.Memories, err = fn(s)
	err = errors.Join(err, store.Close())
	done.Took = time.Since(begin)
	return done, err
}

func (t syncTask) open(ctx context.Context) (*sqlite.Store, error) {
	agent, err := agentIn(t.Home)
	if err != nil {
		return nil, err
	}
	return sqlite.Open(ctx, agent, options())
}
