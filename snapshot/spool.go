package snapshot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/journal"
	"github.com/amber-memory/amber/journal/drain"
	"github.com/amber-memory/amber/store/sqlite"
)

// spool is the crash journal of an agent while nobody drains it. Hooks go on
// appending.
type spool struct {
	*drain.View
	store *sqlite.Store // nil when it cannot be opened
}

// holdSpool keeps the journal of an agent from being drained until the spool is
// closed. A store that cannot be opened does not tell how far it was drained.
// Then only cleared entries count as drained; an entry that is drained twice is
// found by its id.
func (e *Engine) holdSpool(ctx context.Context, agent *home.Agent) (*spool, error) {
	j, err := journal.Open(agent.SpoolDir(), journal.Options{Clock: e.o.Clock, FS: e.o.FS, Wait: e.o.Wait})
	if err != nil {
		return nil, err
	}
	store, err := e.openStore(ctx, agent)
	if err != nil {
		return nil, err
	}
	var cursors amber.Ingester
	if store != nil {
		cursors = store
	}
	view, err := drain.NewSpool(j, cursors).Hold(ctx)
	if err != nil {
		return nil, errors.Join(err, closeStore(store))
	}
	return &spool{view, store}, nil
}

func (s *spool) close() error { return errors.Join(s.View.Close(), closeStore(s.store)) }

// notParked tells which sessions stay in the journal, and why.
func notParked(r journal.ParkReport) (warnings []string) {
	for _, key := range slices.Sorted(maps.Keys(r.Failed)) {
		warnings = append(warnings, fmt.Sprintf("session %s of the journal could not be parked and stays where it is: %s", key, r.Failed[key]))
	}
	return warnings
}
