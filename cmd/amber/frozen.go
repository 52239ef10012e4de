package main

import (
	"context"
	"runtime/debug"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/wire"
)

// liveAgent says what a verb about snapshots needs of the live agent.
type liveAgent int

// The store stays closed unless a verb reads or writes memories: it may be
// damaged, which is when one needs snapshots.
const (
	mayBeAbsent  liveAgent = iota // nothing is made
	mayBeMade                     // the home is made where there is none
	mayBeOpened                   // opened to look at, if it is there and whole
	mustBeThere                   // absent it is an error
	mustBeOpened                  // and its store is open
)

// openFrozen opens what withSnapshots needs.
func (a *app) openFrozen(ctx context.Context, need liveAgent) (*opened, error) {
	if a.remote != nil {
		return a.remote.frozen(ctx, need)
	}
	config, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	at, err := a.closed(&config.Config)
	if err != nil {
		return nil, err
	}
	closed := newOpened(at, config)
	_, err = closed.agent.Current()
	absent := amber.KindOf(err) == amber.KindNotFound
	switch need {
	case mayBeMade:
		made, err := at.Make()
		a.noteMade(made, at)
		return closed, err
	case mayBeOpened:
		if err == nil {
			return a.lookOr(ctx, closed), nil
		}
	case mustBeThere, mustBeOpened:
		if absent {
			return nil, a.noAgent(closed.home, closed.agent.Tenant(), closed.agent.ID())
		}
		if need == mustBeOpened {
			return a.open(ctx)
		}
	}
	return closed, nil
}

// lookOr opens the live store to look at, or takes what there is without it.
func (a *app) lookOr(ctx context.Context, closed *opened) *opened {
	s, err := a.look(ctx, closed.config)
	if err != nil {
		a.out.note("the live agent does not open, so the active session is not known: %v", err)
		return closed
	}
	return s
}

// ref names a snapshot of the agent.
func (s *opened) ref(id amber.SnapshotID) wire.SnapshotRef {
	return wire.SnapshotRef{Tenant: s.tenantID(), Agent: s.agentID(), ID: id}
}

// allSnapshots asks for every snapshot of the agent.
func (s *opened) allSnapshots() wire.SnapshotQuery {
	return wire.SnapshotQuery{Tenant: s.tenantID(), Agent: s.agentID()}
}

// snapshots returns the engine for the home of s. Agent and store need not be
// there.
func (a *app) snapshots(ctx context.Context, s *opened) (snapshotEngine, error) {
	if s.remote != nil {
		return s.remote.snapshots(), nil
	}
	if a.getenv("GOGC") == "" {
		// Snapshots make much garbage in a heap of about 20 MB: collecting it
		// early saves a seventh of the memory and costs hardly any time.
		debug.SetGCPercent(20)
		dropUnusedCode()
	}
	return s.local.Snapshots(ctx)
}

// snapshotEngine is what the verbs about snapshots work with.
type snapshotEngine = agent.Snapshots
