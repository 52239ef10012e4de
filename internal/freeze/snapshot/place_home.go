package snapshot

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// folders is the place of agents in the folders of a home.
type folders struct{ o Options }

var _ Place = folders{}

// Folder implements [Place].
func (p folders) Folder(tenant amber.TenantID, id amber.AgentID) (*home.Agent, error) {
	return p.o.Home.Agent(tenant, id)
}

// Copies implements [Place].
func (folders) Copies() bool { return false }

// Current implements [Place].
func (folders) Current(_ context.Context, agent *home.Agent) (home.Current, error) {
	return agent.Current()
}

// Operate implements [Place] with the lock of the folder, which needs no lease.
func (folders) Operate(ctx context.Context, agent *home.Agent, fn func(ctx context.Context, l Lease) error) error {
	return agent.Operate(ctx, func() error { return fn(ctx, nil) })
}

// Refresh implements [Place]: it commits notes that were edited by hand. Without git, or with a repository that must not be used,
// only the files are captured.
func (p folders) Refresh(ctx context.Context, agent *home.Agent, _ string) (*Refreshed, error) {
	d, err := notes.New(notes.Options{Guard: NotesGuard(agent), Clock: p.o.Clock, FS: p.o.FS})
	if err != nil {
		return nil, err
	}
	err = d.CommitAll(ctx)
	switch amber.KindOf(err) {
	case amber.KindUnsupported, amber.KindDamaged, amber.KindConflict:
		err = nil
	}
	return nil, err
}

// Spool implements [Place]. A store that is damaged or has an older schema is not asked.
func (p folders) Spool(ctx context.Context, agent *home.Agent) (amber.Ingester, func() error, error) {
	store, err := sqlite.Open(ctx, agent, sqlite.Options{Clock: p.o.Clock, Random: p.o.Random, KeepSchema: true})
	switch amber.KindOf(err) {
	case "":
		return store, store.Close, nil
	case amber.KindDamaged, amber.KindConflict:
		err = nil
	}
	return nil, func() error { return nil }, err
}

// Old implements [Place]. It leaves out what a move has kept: amber move --forget removes that.
func (folders) Old(_ context.Context, agent *home.Agent) (old []int64, err error) {
	c, err := agent.Current()
	if err != nil {
		return nil, err
	}
	all, err := agent.Generations()
	for _, n := range all {
		if n >= c.Generation {
			continue
		}
		kept, err := agent.Keeps(n)
		if err != nil {
			return nil, err
		}
		if !kept {
			old = append(old, n)
		}
	}
	return old, err
}

// Remove implements [Place].
func (folders) Remove(ctx context.Context, agent *home.Agent, n int64) error {
	return agent.RemoveGeneration(ctx, n)
}

// Sweep implements [Place]: everything is in the folders of the agents.
func (folders) Sweep(context.Context, amber.TenantID) ([]string, error) { return nil, nil }

// Generation implements [Place].
func (p folders) Generation(_ context.Context, agent *home.Agent) (wire.Generation, error) {
	// A restore may switch between two reads: the second look shows whether one did.
	for range 3 {
		before, err := agent.Current()
		if err != nil {
			return wire.Generation{}, err
		}
		g, err := p.generation(agent, before)
		if after, cerr := agent.Current(); cerr == nil && after == before {
			return g, err
		}
	}
	return wire.Generation{}, amber.Errorf(amber.KindBusy, "look at generation", string(agent.ID()), "the agent is restored again and again")
}
