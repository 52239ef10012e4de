package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/journal"
	"github.com/amber-memory/amber/journal/drain"
)

// parkedState is what a restore has parked of one generation.
type parkedState struct {
	Generation  int64  `json:"generation"`
	Sessions    int64  `json:"sessions"`
	Entries     int64  `json:"entries"` // that wait to be drained
	Bytes       int64  `json:"bytes"`   // on disk
	Quarantined int64  `json:"quarantined"`
	Error       string `json:"error,omitempty"`
}

// parked returns what restores have parked, by generation. Where there is no
// agent nothing is. It changes nothing.
func parked(ctx context.Context, agent *home.Agent, c config.Journal, clock amber.Clock, store amber.Ingester) ([]parkedState, error) {
	states := []parkedState{}
	generations, err := agent.Parked()
	if amber.KindOf(err) == amber.KindNotFound {
		return states, nil
	}
	if err != nil {
		return states, err
	}
	for _, n := range generations {
		j, err := journal.Open(agent.ParkedDir(n), journalOptions(c, clock))
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

// parkedIn adds up one parked journal. Without a store nothing counts as
// drained.
func parkedIn(ctx context.Context, j *journal.Journal, store amber.Ingester) (parkedState, error) {
	var state parkedState
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

// drainParked brings what was parked of a generation into the store as it is
// now, and removes the parked journal when nothing is left in it.
func (a *app) drainParked(ctx context.Context, generation int64) (report drain.Report, err error) {
	s, err := a.open(ctx)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	generations, err := s.agent.Parked()
	if err != nil {
		return report, err
	}
	if !slices.Contains(generations, generation) {
		e := amber.Errorf(amber.KindNotFound, "drain parked entries", fmt.Sprint(generation), "nothing is parked of that generation")
		e.Hint = "amber journal status"
		return report, e
	}
	j, err := journal.Open(s.agent.ParkedDir(generation), journalOptions(s.config.Config.Journal, a.clock))
	if err != nil {
		return report, err
	}
	w, err := a.workerOn(j, s, drain.Options{Final: true})
	if err != nil {
		return report, err
	}
	if report, err = w.Once(ctx); err != nil || len(report.Failed) > 0 {
		return report, err
	}
	left, err := parkedIn(ctx, j, s.Store.Ingest)
	if err == nil && left.Entries == 0 && left.Quarantined == 0 {
		err = s.agent.RemoveParked(generation)
	}
	return report, err
}
