package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
)

// SweepWorker is the worker that removes rows from databases that no server needs any more.
const SweepWorker = "database sweep"

const (
	// sweepWork is the kind of that work. It belongs to no agent: one server does it for a database.
	sweepWork = "sweep"
	// sweepEvery is how often the worker looks. The rows that are left over take room, and no
	// caller waits for their removal.
	sweepEvery = 10 * time.Minute
)

// sweep removes generations that no server builds any more, and goes on with deletions that were
// cut off, in every database.
func (r *Replica) sweep(ctx context.Context, report server.Report) error {
	report("", nil)
	var all sync.WaitGroup
	for _, d := range r.All() {
		all.Go(func() {
			d.hold(ctx, postgres.Work{Kind: sweepWork}, sweepEvery, report, func(ctx context.Context, _ *postgres.Lease) error {
				swept, err := mirror.Sweep(ctx, d.Server)
				if len(swept) > 0 && err == nil {
					report(words.Count(len(swept), "generation", "generations")+" removed", nil)
				}
				return err
			})
		})
	}
	all.Wait()
	return nil
}
