package daemon

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/snapshot"
	"github.com/amber-memory/amber/store/postgres"
	"github.com/amber-memory/amber/wire"
)

// leaseKey is in the context of work that is done under a lease.
type leaseKey struct{}

// leaseOf is the lease that something is done under; nil for none.
func leaseOf(ctx context.Context) *postgres.Lease {
	l, _ := ctx.Value(leaseKey{}).(*postgres.Lease)
	return l
}

// turns are the leases of one kind of work that this server has. It keeps one for as long as there is something to do, so that the same
// server stays with an agent, and lets it run out after that. One goroutine uses it.
type turns struct {
	replica *Replica
	kind    string
	clock   amber.Clock
	held    map[server.AgentName]*postgres.Lease
	away    map[server.AgentName]time.Time // when to ask again for what another server does
}

// take returns the lease of an agent. Errors: errNotNow while another server does the work.
func (t *turns) take(ctx context.Context, n server.AgentName) (*postgres.Lease, error) {
	now := t.clock()
	if l := t.held[n]; l != nil {
		err := l.Renew(ctx)
		if err == nil || !errors.Is(err, postgres.ErrLost) {
			return l, err
		}
		delete(t.held, n)
	}
	if until, ok := t.away[n]; ok && now.Before(until) && until.Sub(now) <= t.replica.Presence.Lease() {
		return nil, errNotNow
	}
	delete(t.away, n)
	l, err := t.replica.Leases.Claim(ctx, postgres.Work{Kind: t.kind, Tenant: n.Tenant, Agent: n.Agent})
	if amber.KindOf(err) == amber.KindBusy {
		t.away[n] = now.Add(t.replica.Presence.Lease() / 3)
		return nil, errNotNow
	}
	if err != nil {
		return nil, err
	}
	t.held[n] = l
	return l, nil
}

// alone does a visit under the lease of the agent, and leaves the agent to another server that has it.
func (r *Replica) alone(s *Daemon, kind string, do visit) visit {
	t := &turns{replica: r, kind: kind, clock: s.o.Clock, held: map[server.AgentName]*postgres.Lease{}, away: map[server.AgentName]time.Time{}}
	return func(ctx context.Context, agent *home.Agent) (detail string, err error) {
		lease, err := t.take(ctx, server.AgentName{Tenant: agent.Tenant(), Agent: agent.ID()})
		if err != nil {
			return "", err
		}
		err = lease.While(ctx, func(ctx context.Context) (err error) {
			detail, err = do(context.WithValue(ctx, leaseKey{}, lease), agent)
			return err
		})
		if errors.Is(err, postgres.ErrLost) {
			return detail, errNotNow
		}
		return detail, err
	}
}

// giveBack lets others have at once what this server did.
func (r *Replica) giveBack(ctx context.Context) error {
	if r == nil {
		return nil
	}
	return r.Leases.ReleaseAll(ctx)
}

// under does something about an agent under a lease that is kept for its time afterwards: what another server has just done is
// not done again by one that looked before. Done is false where another server has it.
func (r *Replica) under(ctx context.Context, kind string, tenant amber.TenantID, agent amber.AgentID, do func(context.Context) error) (done bool, err error) {
	l, err := r.Leases.Claim(ctx, postgres.Work{Kind: kind, Tenant: tenant, Agent: agent})
	if amber.KindOf(err) == amber.KindBusy {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, l.While(ctx, do)
}

// taker takes scheduled snapshots of an agent by one server at a time.
func (r *Replica) taker(t snapshot.Taker) snapshot.Taker {
	if r == nil {
		return t
	}
	return sharedTaker{t, r}
}

type sharedTaker struct {
	snapshot.Taker
	r *Replica
}

// Snapshot implements [snapshot.Taker]. Errors: not_found where another server takes it, too, so that the schedule looks again later.
func (t sharedTaker) Snapshot(ctx context.Context, q wire.SnapshotRequest) (m wire.SnapshotMeta, err error) {
	done, err := t.r.under(ctx, "scheduled snapshot", q.Tenant, q.Agent, func(ctx context.Context) (err error) {
		m, err = t.Taker.Snapshot(ctx, q)
		return err
	})
	if err == nil && !done {
		err = amber.Errorf(amber.KindNotFound, "take scheduled snapshot", string(q.Agent), "another server takes it")
	}
	return m, err
}

// keeper applies retention to an agent by one server at a time.
func (r *Replica) keeper(k snapshot.Keeper) snapshot.Keeper {
	if r == nil {
		return k
	}
	return sharedKeeper{k, r}
}

type sharedKeeper struct {
	snapshot.Keeper
	r *Replica
}

// PruneSnapshots implements [snapshot.Keeper].
func (k sharedKeeper) PruneSnapshots(ctx context.Context, q wire.PruneRequest) (report wire.PruneReport, err error) {
	_, err = k.r.under(ctx, "retention", q.Tenant, q.Agent, func(ctx context.Context) (err error) {
		report, err = k.Keeper.PruneSnapshots(ctx, q)
		return err
	})
	return report, err
}

// CollectGarbage implements [snapshot.Keeper].
func (k sharedKeeper) CollectGarbage(ctx context.Context, q wire.GCRequest) (report wire.GCReport, err error) {
	_, err = k.r.under(ctx, "collect garbage", q.Tenant, "", func(ctx context.Context) (err error) {
		report, err = k.Keeper.CollectGarbage(ctx, q)
		return err
	})
	return report, err
}

// people lists the agents there are, wherever they live.
func (s *Daemon) people() snapshot.Roster {
	if s.o.Replica == nil {
		return s.o.Home
	}
	return databaseRoster{s.o.Replica.Server}
}

// databaseRoster lists the agents of a database.
type databaseRoster struct{ server *postgres.Server }

// Tenants implements [snapshot.Roster].
func (r databaseRoster) Tenants() ([]amber.TenantID, error) {
	ctx, cancel := context.WithTimeout(context.Background(), endsWithin)
	defer cancel()
	return r.server.Tenants(ctx)
}

// Agents implements [snapshot.Roster].
func (r databaseRoster) Agents(tenant amber.TenantID) ([]amber.AgentID, error) {
	ctx, cancel := context.WithTimeout(context.Background(), endsWithin)
	defer cancel()
	return r.server.Agents(ctx, tenant)
}

// censusShare is how much of the time is spent at most on looking at all agents: one part of so many.
const censusShare = 20

// census is what was last seen of all agents of a database, for every worker that goes around. Safe for concurrent use.
type census struct {
	*Daemon
	mu    sync.Mutex
	at    time.Time
	good  time.Duration // for how long it is good enough
	names []server.AgentName
	marks map[server.AgentName]string
}

// take lists the agents of the database and says how to tell whether one has changed.
func (c *census) take(ctx context.Context) (agents []*home.Agent, mark func(*home.Agent) string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if begun := c.o.Clock(); c.names == nil || begun.Sub(c.at) >= c.good || begun.Before(c.at) {
		names, err := c.o.Replica.Server.Everybody(ctx)
		if err != nil {
			return nil, nil, err
		}
		all := make([]server.AgentName, len(names))
		for i, n := range names {
			all[i] = server.AgentName(n)
		}
		marks, err := c.o.Replica.look(ctx, all)
		if err != nil {
			return nil, nil, err
		}
		now := c.o.Clock()
		c.at, c.good, c.names, c.marks = now, max(roundInterval, censusShare*now.Sub(begun)), all, marks
	}
	for _, n := range c.names {
		agent, err := c.o.Home.Agent(n.Tenant, n.Agent)
		if err != nil {
			return nil, nil, err
		}
		agents = append(agents, agent)
	}
	marks := c.marks
	return agents, func(a *home.Agent) string { return marks[server.AgentName{Tenant: a.Tenant(), Agent: a.ID()}] }, nil
}
