package serve

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/care"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/store/vaultrow"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// openAgent opens an agent to be served.
func (s *serving) openAgent(ctx context.Context, tenant amber.TenantID, id amber.AgentID, create bool) (*op.Agent, func() error, error) {
	one := &app{s.ForAgent(tenant, id)}
	one.Aside.Log = s.log
	c := s.config.Loaded().Config
	o, err := one.AgentOptions(&c)
	if err != nil {
		return nil, nil, err
	}
	if !create {
		closed, err := agent.At(o)
		if err != nil {
			return nil, nil, err
		}
		exists, err := closed.Exists(ctx)
		if err != nil && c.OnPostgres() {
			return nil, nil, err
		}
		if !exists && err == nil {
			return nil, nil, op.NotThere()
		}
	}
	o.Snapshots = func(context.Context) (agent.Snapshots, error) { return s.engine, nil }
	at, err := agent.Open(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	return s.agent(one, at), at.Close, nil
}

// agentNames returns what lists the agents that are served; nil where they are folders of the home.
func (s *serving) agentNames() func(context.Context, amber.TenantID) ([]server.AgentName, error) {
	c := s.config.Loaded().Config
	if !c.OnPostgres() {
		return nil
	}
	return func(ctx context.Context, tenant amber.TenantID) (names []server.AgentName, err error) {
		at, err := s.Closed(&c)
		if err != nil {
			return nil, err
		}
		list, err := at.InDatabase(ctx, tenant)
		for _, l := range list {
			if l.Usable() {
				names = append(names, server.AgentName{Tenant: l.Tenant, Agent: l.ID})
			}
		}
		return names, errors.Join(err, at.Close())
	}
}

// vaults returns what opens the vaults of agents in a database; nil where agents are folders of the home.
func (s *serving) vaults() func(context.Context, amber.TenantID, amber.AgentID) (vaultrow.Rows, bool, error) {
	c := s.config.Loaded().Config
	if !c.OnPostgres() {
		return nil
	}
	return func(ctx context.Context, tenant amber.TenantID, id amber.AgentID) (vaultrow.Rows, bool, error) {
		o, err := s.ForAgent(tenant, id).AgentOptions(&c)
		if err != nil {
			return nil, false, err
		}
		at, err := agent.At(o)
		if err != nil {
			return nil, false, err
		}
		rows, there, done, err := at.Vault(ctx)
		if err != nil {
			return nil, false, err
		}
		return rows, there, done() // the program keeps its databases open until it ends
	}
}

// agent is what is served of an agent that is open.
func (s *serving) agent(one *app, at *agent.Agent) *op.Agent {
	served := &op.Agent{
		Tenant: at.Tenant(), ID: at.ID(), Store: at.Served(), Policy: at.Policy, Random: s.Random,
		Past: past{at},
		Journal: func(ctx context.Context) ([]wire.JournalStatus, error) {
			state, err := at.JournalState(ctx)
			return state.Sessions, err
		},
		Quarantine: at,
		Folders:    at,
		Settle:     at.Settle,
		Doctor: func(ctx context.Context, deep bool) (wire.Checkup, error) {
			return care.Examine(ctx, one.App, deep), nil
		},
		Join: joinAsAgent(at),
	}
	if x, err := at.Index(); err == nil {
		served.Index = x
	}
	if at.Viking() != nil {
		served.Feed = at.Feed
	}
	return served
}

// joinAsAgent lets tools join projects: what speaks through them is an agent.
func joinAsAgent(at *agent.Agent) func(ctx context.Context, from, to string) (memories, sessions int, err error) {
	return func(ctx context.Context, from, to string) (int, int, error) {
		return at.JoinProject(ctx, from, to, amber.TrustAgent)
	}
}

// past is an agent that opens the memory of its snapshots for the API.
type past struct{ *agent.Agent }

// At implements op.PastOpener.
func (p past) At(ctx context.Context, ref wire.SnapshotRef) (op.Past, error) {
	return p.Agent.At(ctx, ref)
}

// openEngine opens the engine of snapshots, which serves every tenant.
func (s *serving) openEngine(ctx context.Context) error {
	c := s.config.Loaded().Config
	at, err := s.Closed(&c)
	if err != nil {
		return err
	}
	s.Closers = append(s.Closers, at.Close)
	s.engine, err = at.Snapshots(ctx)
	return err
}
