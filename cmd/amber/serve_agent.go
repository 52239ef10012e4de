package main

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/events"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/snapshot"
)

// forAgent is the app as a command about another agent would see it.
func (a *app) forAgent(tenant amber.TenantID, agent amber.AgentID) *app {
	b := &app{world: a.world, global: a.global, out: a.out, access: a.access, publisher: a.publisher}
	b.global.tenant, b.global.agent = string(tenant), string(agent)
	return b
}

// openAgent opens an agent for the pool. Without an agent it is what concerns
// the tenant: its snapshots.
func (s *serving) openAgent(ctx context.Context, tenant amber.TenantID, id amber.AgentID, create bool) (*server.Agent, func() error, error) {
	if id == "" {
		return &server.Agent{Tenant: tenant, Snapshots: s.watchers.snapshots(tenant, "", s.engine), Repository: s.watchers.repository(tenant, s.engine), Consolidations: s.consolidator(), Random: s.random}, func() error { return nil }, nil
	}
	folder, err := s.home.Agent(tenant, id)
	if err != nil {
		return nil, nil, err
	}
	if _, err := folder.Current(); amber.KindOf(err) == amber.KindNotFound && !create {
		return nil, nil, server.NotThere()
	}
	one := s.forAgent(tenant, id)
	one.aside.log = s.log
	c := s.config.Loaded().Config
	o, err := one.agentOptions(&c)
	if err != nil {
		return nil, nil, err
	}
	o.Snapshots = func(context.Context) (agent.Snapshots, error) { return s.engine, nil }
	at, err := agent.Open(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	return s.agent(one, at), at.Close, nil
}

// agent is what is served of an agent that is open.
func (s *serving) agent(one *app, at *agent.Agent) *server.Agent {
	tenant, id := at.Tenant(), at.ID()
	return &server.Agent{
		Tenant: tenant, ID: id, Store: s.watchers.store(tenant, id, at.Served()), Policy: at.Policy, Random: s.random,
		Snapshots: s.watchers.snapshots(tenant, id, s.engine), Repository: s.watchers.repository(tenant, s.engine), Past: past{at},
		Consolidations: s.consolidator(),
		Journal: func(ctx context.Context) ([]amber.JournalStatus, error) {
			state, err := at.JournalState(ctx)
			return state.Sessions, err
		},
		Doctor: func(ctx context.Context, deep bool) (amber.Checkup, error) { return one.examine(ctx, deep), nil },
	}
}

// consolidator marks consolidations; nil where the engine cannot.
func (s *serving) consolidator() amber.Consolidator {
	c, _ := s.engine.(amber.Consolidator)
	return c
}

// past is an agent that opens the memory of its snapshots for the API.
type past struct{ *agent.Agent }

// At implements server.PastOpener.
func (p past) At(ctx context.Context, ref amber.SnapshotRef) (server.Past, error) {
	return p.Agent.At(ctx, ref)
}

// openEngine opens the engine of snapshots, which serves every tenant.
func (s *serving) openEngine(ctx context.Context) (snapshotEngine, snapshot.Keeper, error) {
	c := s.config.Loaded().Config
	at, err := s.closed(&c)
	if err != nil {
		return nil, nil, err
	}
	s.closers = append(s.closers, at.Close)
	e, err := at.Snapshots(ctx)
	if err != nil {
		return nil, nil, err
	}
	var keeper snapshot.Keeper = e
	if l, ok := e.(agent.Engine); ok {
		keeper = l.Keeper()
	}
	return e, keeper, nil
}

// beforeTool freezes an agent before a tool changes something, as configured.
func (s *serving) beforeTool(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, tool string) error {
	g := snapshot.ToolGuard{
		Taker: s.watchers.snapshots("", "", s.engine), Insist: snapshot.Insistence(s.current().Snapshot.Auto.BeforeMutatingTool),
		Warn: func(text string) { s.log.Warn(text) },
	}
	_, err := g.BeforeMutatingTool(ctx, tenant, agent, tool)
	return err
}

// publishTo is where this process publishes what happens: to its own listeners,
// and to the outbox of the home where a broker is configured.
func (s *serving) publishTo() amber.Publisher {
	if s.config.Loaded().Config.Events.NATSURL == "" {
		return s.bus
	}
	return events.Fan(s.bus, &s.watchers.outbox)
}

// roster lists the agents of the home that are there.
func (s *serving) roster() (agents []*home.Agent, err error) {
	tenants, err := s.home.Tenants()
	if err != nil {
		return nil, err
	}
	for _, t := range tenants {
		ids, err := s.home.Agents(t)
		if err != nil {
			return nil, fmt.Errorf("tenant %s: %w", t, err)
		}
		for _, id := range ids {
			agent, err := s.home.Agent(t, id)
			if err != nil {
				return nil, err
			}
			if _, err := agent.Current(); amber.KindOf(err) != amber.KindNotFound {
				agents = append(agents, agent)
			}
		}
	}
	return agents, nil
}
