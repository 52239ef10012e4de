package daemon

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// publishWork is the kind of work that tells brokers of changes. How far it came is in the ledger, and so are its leases, which are
// checked in the same transaction: those of all other work on an agent are in the agent's own database.
const publishWork = "publish events"

// leases are those of a kind of work for agents of a tenant.
func (r *Replica) leases(kind string, tenant amber.TenantID) *postgres.Leases {
	if kind == publishWork {
		return r.Common.Leases
	}
	return r.of(tenant).Leases
}

// lasts is how long a lease lasts.
func (r *Replica) lasts() time.Duration { return r.Common.Presence.Lease() }

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
	if until, ok := t.away[n]; ok && now.Before(until) && until.Sub(now) <= t.replica.lasts() {
		return nil, errNotNow
	}
	delete(t.away, n)
	l, err := t.replica.leases(t.kind, n.Tenant).Claim(ctx, postgres.Work{Kind: t.kind, Tenant: n.Tenant, Agent: n.Agent})
	if amber.KindOf(err) == amber.KindBusy {
		t.away[n] = now.Add(t.replica.lasts() / 3)
		return nil, errNotNow
	}
	if err != nil {
		return nil, err
	}
	t.held[n] = l
	return l, nil
}

// leasedVisit is a visit under a lease of the agent; nil in a home that one server serves.
type leasedVisit func(ctx context.Context, agent *home.Agent, lease *postgres.Lease) (string, error)

// alone does a visit under the lease of the agent, and leaves the agent to another server that has it.
func (r *Replica) alone(s *Daemon, kind string, do leasedVisit) visit {
	t := &turns{replica: r, kind: kind, clock: s.o.Clock, held: map[server.AgentName]*postgres.Lease{}, away: map[server.AgentName]time.Time{}}
	return func(ctx context.Context, agent *home.Agent) (detail string, err error) {
		lease, err := t.take(ctx, server.AgentName{Tenant: agent.Tenant(), Agent: agent.ID()})
		if err != nil {
			return "", err
		}
		err = lease.While(ctx, func(ctx context.Context) (err error) {
			detail, err = do(ctx, agent, lease)
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
	var errs []error
	for _, d := range r.All() {
		errs = append(errs, d.Leases.ReleaseAll(ctx))
	}
	return errors.Join(errs...)
}

// under does something about an agent under a lease that is kept for its time afterwards: what another server has just done is
// not done again by one that looked before. Done is false where another server has it, or got it meanwhile.
//
// The context of do ends with the lease, and its permit renews the lease right before each effect on a repository, see
// [snapshot.Engine.Under]: a server that was paused for longer than its lease finds there that another one followed, and leaves
// the effect out.
func (r *Replica) under(ctx context.Context, kind string, tenant amber.TenantID, agent amber.AgentID, do func(context.Context, permit.Permit) error) (done bool, err error) {
	l, err := r.claim(ctx, postgres.Work{Kind: kind, Tenant: tenant, Agent: agent})
	if amber.KindOf(err) == amber.KindBusy {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = l.While(ctx, func(ctx context.Context) error {
		p, end := permit.New(l.Renew)
		defer end()
		return do(ctx, p)
	})
	if errors.Is(err, postgres.ErrLost) {
		return false, nil
	}
	return true, err
}

// claim takes a lease, or renews the one that this server still has from the last time. One goroutine at a time asks for the same work.
func (r *Replica) claim(ctx context.Context, w postgres.Work) (*postgres.Lease, error) {
	r.mu.Lock()
	l := r.kept[w]
	r.mu.Unlock()
	if l != nil {
		if err := l.Renew(ctx); !errors.Is(err, postgres.ErrLost) {
			return l, err
		}
	}
	l, err := r.leases(w.Kind, w.Tenant).Claim(ctx, w)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil {
		r.kept = map[postgres.Work]*postgres.Lease{}
	}
	if r.kept[w] = l; err != nil {
		delete(r.kept, w)
	}
	return l, err
}

// worker is an engine as the workers of the server use it.
type worker interface {
	snapshot.Taker
	snapshot.Keeper
}

// shared is a worker whose work one server of a database does at a time.
type shared struct {
	worker // for what changes nothing
	r      *Replica
	under  func(permit.Permit) worker
}

// Snapshot implements [snapshot.Taker]. Errors: not_found where another server takes it, too, so that the schedule looks again later.
func (w shared) Snapshot(ctx context.Context, q wire.SnapshotRequest) (m wire.SnapshotMeta, err error) {
	done, err := w.r.under(ctx, "scheduled snapshot", q.Tenant, q.Agent, func(ctx context.Context, p permit.Permit) (err error) {
		m, err = w.under(p).Snapshot(ctx, q)
		return err
	})
	if err == nil && !done {
		err = amber.Errorf(amber.KindNotFound, "take scheduled snapshot", string(q.Agent), "another server takes it")
	}
	return m, err
}

// PruneSnapshots implements [snapshot.Keeper].
func (w shared) PruneSnapshots(ctx context.Context, q wire.PruneRequest) (report wire.PruneReport, err error) {
	_, err = w.r.under(ctx, "retention", q.Tenant, q.Agent, func(ctx context.Context, p permit.Permit) (err error) {
		report, err = w.under(p).PruneSnapshots(ctx, q)
		return err
	})
	return report, err
}

// CollectGarbage implements [snapshot.Keeper].
func (w shared) CollectGarbage(ctx context.Context, q wire.GCRequest) (report wire.GCReport, err error) {
	_, err = w.r.under(ctx, "collect garbage", q.Tenant, "", func(ctx context.Context, p permit.Permit) (err error) {
		report, err = w.under(p).CollectGarbage(ctx, q)
		return err
	})
	return report, err
}

// people lists the agents there are, wherever they live.
func (s *Daemon) people() snapshot.Roster {
	if s.o.Replica == nil {
		return s.o.Home
	}
	return databaseRoster{s.o.Replica}
}

// databaseRoster lists the agents of all databases.
type databaseRoster struct{ r *Replica }

// Tenants implements [snapshot.Roster]. Tenants with a database of their own are always there: one whose database does not answer is a
// failure of its own then, and the others get their turn.
func (r databaseRoster) Tenants() ([]amber.TenantID, error) {
	ctx, cancel := context.WithTimeout(context.Background(), endsWithin)
	defer cancel()
	tenants, err := r.r.Common.Server.Tenants(ctx)
	// The common database does not serve a tenant that has a database of its own.
	tenants = slices.DeleteFunc(tenants, func(t amber.TenantID) bool { return r.r.Own[t] != nil })
	return append(tenants, slices.Sorted(maps.Keys(r.r.Own))...), err
}

// Agents implements [snapshot.Roster].
func (r databaseRoster) Agents(tenant amber.TenantID) ([]amber.AgentID, error) {
	ctx, cancel := context.WithTimeout(context.Background(), endsWithin)
	defer cancel()
	return r.r.of(tenant).Server.Agents(ctx, tenant)
}

// censusShare is how much of the time is spent at most on looking at all agents: one part of so many.
const censusShare = 20

// census is what was last seen of all agents of a database, for every worker that goes around. Safe for concurrent use.
type census struct {
	mu    sync.Mutex
	taken bool
	at    time.Time
	good  time.Duration // for how long it is good enough
	names []server.AgentName
	marks map[server.AgentName]string
	err   error
}

// everybody lists the agents of all databases and returns the function that marks an agent: another
// mark means that the agent has changed. The agents of a database that does not answer are left
// out, and the error says so.
func (s *Daemon) everybody(ctx context.Context) (agents []*home.Agent, mark func(*home.Agent) string, err error) {
	r, marks := s.o.Replica, map[*Database]map[server.AgentName]string{}
	var errs []error
	for _, d := range r.All() {
		names, seen, err := d.everybody(ctx, s, func(n server.AgentName) bool { return r.of(n.Tenant) == d })
		errs, marks[d] = append(errs, err), seen
		for _, n := range names {
			agent, err := s.o.Home.Agent(n.Tenant, n.Agent)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			agents = append(agents, agent)
		}
	}
	return agents, func(a *home.Agent) string {
		return marks[r.of(a.Tenant())][server.AgentName{Tenant: a.Tenant(), Agent: a.ID()}]
	}, server.JoinSome(errs)
}

// everybody lists the agents of the database that belong there, with their marks.
func (d *Database) everybody(ctx context.Context, s *Daemon, belongs func(server.AgentName) bool) ([]server.AgentName, map[server.AgentName]string, error) {
	c := &d.census
	c.mu.Lock()
	defer c.mu.Unlock()
	if begun := s.o.Clock(); !c.taken || begun.Sub(c.at) >= c.good || begun.Before(c.at) {
		c.names, c.marks, c.err = d.count(ctx, belongs)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		now := s.o.Clock()
		c.taken, c.at, c.good = true, now, max(roundInterval, censusShare*now.Sub(begun))
	}
	return c.names, c.marks, c.err
}

// count asks the database for all agents, and where their change logs end.
func (d *Database) count(ctx context.Context, belongs func(server.AgentName) bool) (names []server.AgentName, marks map[server.AgentName]string, err error) {
	within, cancel := context.WithTimeout(ctx, endsWithin)
	defer cancel()
	all, err := d.Server.Everybody(within)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range all {
		if n := server.AgentName(n); belongs(n) {
			names = append(names, n)
		}
	}
	if marks, err = d.look(ctx, names); err != nil {
		return nil, nil, err
	}
	return names, marks, nil
}
