package cli

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/wire"
)

// LiveAgent says what a verb about snapshots needs of the live agent.
type LiveAgent int

// The store stays closed unless a verb reads or writes memories: it may be
// damaged, which is when one needs snapshots.
const (
	MayBeAbsent  LiveAgent = iota // nothing is made
	MayBeMade                     // the home is made where there is none
	MayBeOpened                   // opened to look at, if it is there and whole
	MustBeThere                   // absent it is an error
	MustBeOpened                  // and its store is open
)

// OpenFrozen opens what withSnapshots needs.
func (a *App) OpenFrozen(ctx context.Context, need LiveAgent) (*Opened, error) {
	if a.Remote != nil {
		return a.remoteFrozen(ctx, need)
	}
	config, err := a.LoadConfig()
	if err != nil {
		return nil, err
	}
	at, err := a.Closed(&config.Config)
	if err != nil {
		return nil, err
	}
	closed := newOpened(at, config)
	_, err = closed.Agent.Current()
	absent := amber.KindOf(err) == amber.KindNotFound
	if absent && config.Config.OnPostgres() && need != MayBeMade && need != MayBeAbsent { // this machine may have no folder of it yet
		exists, lost := at.Exists(ctx)
		if lost != nil {
			return nil, lost
		}
		if absent = !exists; exists {
			err = nil
		}
	}
	switch need {
	case MayBeMade:
		made, err := at.Make()
		a.NoteMade(made, at)
		return closed, err
	case MayBeOpened:
		if err == nil {
			return a.lookOr(ctx, closed), nil
		}
	case MustBeThere, MustBeOpened:
		if absent {
			return nil, a.NoAgent(ctx, closed.Agent.Tenant(), closed.Agent.ID())
		}
		if need == MustBeOpened {
			return a.Open(ctx)
		}
	}
	return closed, nil
}

// lookOr opens the live store to look at, or takes what there is without it.
func (a *App) lookOr(ctx context.Context, closed *Opened) *Opened {
	s, err := a.Look(ctx, closed.Config)
	if err != nil {
		a.Out.Note("the live agent does not open, so the active session is not known: %v", err)
		return closed
	}
	return s
}

// Ref names a snapshot of the agent.
func (s *Opened) Ref(id amber.SnapshotID) wire.SnapshotRef {
	return wire.SnapshotRef{Tenant: s.TenantID(), Agent: s.AgentID(), ID: id}
}

// AllSnapshots asks for every snapshot of the agent.
func (s *Opened) AllSnapshots() wire.SnapshotQuery {
	return wire.SnapshotQuery{Tenant: s.TenantID(), Agent: s.AgentID()}
}

// Snapshots returns the engine for the home of s. Agent and store need not be
// there.
func (a *App) Snapshots(ctx context.Context, s *Opened) (SnapshotEngine, error) {
	if s.Remote != nil {
		return s.Remote.snapshots(), nil
	}
	// Snapshots make garbage in a heap of about 20 MB. Collecting it early keeps a first
	// snapshot and an export at about 64 MB resident, half of which are pages of the
	// program's own file; with the default of 100 a snapshot takes 95 MB. The price is more
	// processor time.
	a.CollectEarly(7)
	return s.Local.Snapshots(ctx)
}

// SnapshotEngine is what the verbs about snapshots work with.
type SnapshotEngine = agent.Snapshots

// CollectEarly lets the garbage collector run when the heap has grown by this many per
// cent, unless the user has chosen with GOGC.
func (a *App) CollectEarly(percent int) {
	if a.Getenv("GOGC") == "" {
		a.GCPercent(percent)
	}
}

// GCPercent lets the garbage collector run when the heap has grown by this many per cent, until the caller calls
// what it returns.
func (a *App) GCPercent(percent int) (asBefore func()) {
	if a.SetGCPercent == nil {
		return func() {}
	}
	before := a.SetGCPercent(percent)
	return func() { a.SetGCPercent(before) }
}
