package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
)

// Parked is what a restore has parked of one generation.
type Parked struct {
	Generation  int64  `json:"generation"`
	Sessions    int64  `json:"sessions"`
	Entries     int64  `json:"entries"` // that wait to be drained
	Bytes       int64  `json:"bytes"`   // on disk
	Quarantined int64  `json:"quarantined"`
	Error       string `json:"error,omitempty"`
}

// parking is what restores have put aside of the journal of an agent.
type parking struct{ a *Agent }

// states returns what restores have parked, by generation. Where there is no agent
// nothing is. It changes nothing. Without a store nothing counts as drained.
func (p parking) states(ctx context.Context, store amber.Ingester) ([]Parked, error) {
	states := []Parked{}
	generations, _, err := p.generations(ctx)
	if amber.KindOf(err) == amber.KindNotFound {
		return states, nil
	}
	if err != nil {
		return states, err
	}
	for _, n := range generations {
		j, err := p.journal(n)
		if err != nil {
			return states, err
		}
		state, err := parkedIn(ctx, j, store)
		if ctx.Err() != nil {
			return states, ctx.Err()
		}
		state.Generation = n
		if err != nil {
			state.Error = err.Error()
		}
		states = append(states, state)
	}
	return states, nil
}

// generations returns the generations before the live one that left journal entries on this machine, and the live one.
func (p parking) generations(ctx context.Context) (parked []int64, live int64, err error) {
	if !p.a.config.OnPostgres() {
		c, err := p.a.folder.Current()
		if err != nil {
			return nil, 0, err
		}
		parked, err = p.a.folder.ParkedBefore(c.Generation)
		return parked, c.Generation, err
	}
	if _, err := p.a.folder.Current(); err != nil { // nothing of the agent is on this machine
		return nil, 0, err
	}
	server, done, err := p.a.Database(ctx)
	if err != nil {
		return nil, 0, err
	}
	_, c, err := server.Live(ctx, p.a.Tenant(), p.a.ID())
	if err = errors.Join(err, done()); err != nil {
		return nil, 0, err
	}
	parked, err = p.a.folder.ParkedBefore(c.Generation)
	return parked, c.Generation, err
}

func (p parking) journal(generation int64) (*journal.Journal, error) {
	return journal.Open(p.a.folder.ParkedDir(generation), JournalOptions(p.a.config.Journal, p.a.o.Clock))
}

// parkedIn adds up one parked journal.
func parkedIn(ctx context.Context, j *journal.Journal, store amber.Ingester) (Parked, error) {
	var state Parked
	sessions, err := j.List(ctx, func(k journal.Key) (int64, error) {
		if store == nil {
			return 0, nil
		}
		return cursorSeq(ctx, j, store, k)
	})
	for _, s := range sessions {
		state.Sessions++
		state.Entries += s.Undrained
		state.Bytes += s.Bytes
		state.Quarantined += s.Quarantined
		if s.LastError != "" && err == nil {
			err = fmt.Errorf("session %s: %s", s.Key, s.LastError)
		}
	}
	return state, err
}

// DrainParked brings what was parked of a generation into the store as it is now, and
// removes the parked journal when nothing is left in it. Errors: not_found when
// nothing is parked of that generation.
func (a *Agent) DrainParked(ctx context.Context, generation int64, explain bool) (report drain.Report, err error) {
	generations, live, err := parking{a}.generations(ctx)
	if err != nil {
		return report, err
	}
	if !slices.Contains(generations, generation) {
		return report, amber.Errorf(amber.KindNotFound, "drain parked entries", fmt.Sprint(generation), "nothing is parked of that generation").WithHint("amber journal status")
	}
	j, err := parking{a}.journal(generation)
	if err != nil {
		return report, err
	}
	w, err := a.drainer(j, drain.Options{Final: true, Explain: explain})
	if err != nil {
		return report, err
	}
	if report, err = w.Once(ctx); err != nil || len(report.Failed) > 0 {
		return report, err
	}
	left, err := parkedIn(ctx, j, a.plain.Ingest)
	if err == nil && left.Entries == 0 && left.Quarantined == 0 {
		err = a.folder.RemoveParkedBefore(generation, live)
	}
	return report, err
}
