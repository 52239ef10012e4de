package snapshot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
	"github.com/amber-memory/amber/store/home"
)

// spool is the crash journal of an agent while no process drains it. Hooks go on appending.
type spool struct {
	*drain.View
	done func() error // closes the store that was asked
}

// holdSpool keeps the journal of an agent from being drained until the spool is
// closed. A store that cannot be opened does not tell how far it was drained.
// Then only cleared entries count as drained; an entry that is drained twice is
// found by its id.
func (e *Engine) holdSpool(ctx context.Context, agent *home.Agent) (*spool, error) {
	folder, err := e.homeOf(agent)
	if err != nil {
		return nil, err
	}
	cursors, done, err := e.place.Spool(ctx, agent)
	if err != nil {
		return nil, err
	}
	j, err := journal.Open(folder.SpoolDir(), journal.Options{Clock: e.o.Clock, FS: e.o.FS, Wait: e.o.Wait})
	var view *drain.View
	if err == nil {
		view, err = drain.NewSpool(j, cursors).Hold(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, done())
	}
	return &spool{view, done}, nil
}

func (s *spool) close() error { return errors.Join(s.View.Close(), s.done()) }

// notParked tells which sessions stay in the journal, and why.
func notParked(r journal.ParkReport) (warnings []string) {
	for _, key := range slices.Sorted(maps.Keys(r.Failed)) {
		warnings = append(warnings, fmt.Sprintf("session %s of the journal could not be parked and stays where it is: %s", key, r.Failed[key]))
	}
	return warnings
}
