package gitsync_test

import (
	"context"
	"errors"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// syncRound is one round over a clone that stays open.
type syncRound struct{ c *clone }

func (r syncRound) Export(ctx context.Context) (wire.SyncExport, error) {
	return r.c.sync.Export(ctx, gitsync.ExportOptions{})
}

func (r syncRound) Import(ctx context.Context, only func(string) bool) (wire.SyncImport, error) {
	return r.c.sync.ImportOnly(ctx, only)
}

// TestWatchExportsAndImportsOutsideOfGit lets a program watch a folder: what the
// store has goes there, what others put there comes in, and an error of a round is
// told once.
func TestWatchExportsAndImportsOutsideOfGit(t *testing.T) {
	t.Parallel()
	ann, bob := newClone(t), newClone(t)
	ann.save("We chose PostgreSQL")
	bob.shares("Deploy on Mondays")
	bob.gives(ann)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	rounds := 0
	var told []gitsync.Watched
	w, err := gitsync.NewWatch(ctx, gitsync.WatchOptions{
		Dir: ann.folder, Interval: gitsync.MinInterval, Clock: ann.clock.now,
		With: func(ctx context.Context, fn func(context.Context, gitsync.Round) error) error {
			if rounds++; rounds <= 2 {
				return errors.New("the store is locked")
			}
			return fn(ctx, syncRound{ann})
		},
		Tell: func(w gitsync.Watched) error {
			if told = append(told, w); len(told) == 3 {
				stop()
			}
			return nil
		},
	})
	must.Do(t, err)
	must.Do(t, w.Run(ctx))
	if len(told) != 3 || told[0].Error == nil || told[1].Export == nil || told[2].Import == nil || rounds != 3 {
		t.Fatalf("%d rounds told %+v", rounds, told)
	}
	must.Equal(t, "imported memories", told[2].Import.Observations, 1)
}

func TestWatchRefusesAnIntervalThatSpins(t *testing.T) {
	t.Parallel()
	must.Fail(gitsync.NewWatch(t.Context(), gitsync.WatchOptions{Interval: 1}))(t, "", amber.KindInvalid)
}
