package daemon

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/guard/audited"
	"github.com/amber-memory/amber/internal/serve/metrics"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/wire"
)

// Replica is this server as one of several on PostgreSQL databases: they have agents and the ledger in common, and share work by
// leases.
type Replica struct {
	Common *Database                    // of all tenants who have none of their own; it has the ledger
	Own    map[amber.TenantID]*Database // of tenants; two may have the same one
	// VaultKey seals the access tokens of vault clients, see [postgres.Server.VaultKey].
	VaultKey []byte

	mu   sync.Mutex
	kept map[postgres.Work]*postgres.Lease // what this server did last, under mu
}

// Database is a database that this server works on, beside others.
type Database struct {
	Server   *postgres.Server
	Presence *postgres.Presence
	Leases   *postgres.Leases
	Watch    atomic.Pointer[postgres.Watch] // notes how far the database is; nil before it answered

	ends   ends
	census census
	heard  heard
}

// of is the database with the agents of a tenant.
func (r *Replica) of(tenant amber.TenantID) *Database {
	if d := r.Own[tenant]; d != nil {
		return d
	}
	return r.Common
}

// enter writes an entry of the audit log into the transaction of a change, in the database of its tenant.
func (r *Replica) enter(ctx context.Context, c audited.Conn, at amber.Time, e wire.AuditEntry) error {
	if r.of(e.Tenant) == r.Common {
		return ledger.Enter(ctx, c, at, e)
	}
	return ledger.EnterAway(ctx, c, at, e)
}

// All are the databases, each once, the common one first.
func (r *Replica) All() []*Database {
	list := []*Database{r.Common}
	for _, tenant := range slices.Sorted(maps.Keys(r.Own)) {
		if d := r.Own[tenant]; !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}

// SealWorker is the worker that chains those entries of the audit log that were written in the
// transaction of the change they record.
const SealWorker = "audit seal"

// work starts what the servers of a database share.
func (r *Replica) work(s *Daemon) {
	if r == nil {
		return
	}
	s.crew.Go(WatchWorker, func(ctx context.Context, report server.Report) error { return r.watch(ctx, s, report) })
	s.crew.Go(SweepWorker, r.sweep)
	s.crew.Go(NoteWorker, r.note)
	s.crew.Go(SealWorker, func(ctx context.Context, report server.Report) error {
		report("", nil)
		r.Common.hold(ctx, postgres.Work{Kind: ledger.WorkSeal}, ledger.SealEvery, report, func(ctx context.Context, l *postgres.Lease) error {
			_, err := s.o.Ledger.Seal(ctx, l.Check)
			return err
		})
		return nil
	})
	if own := r.All()[1:]; len(own) > 0 {
		s.crew.Go(CarryWorker, func(ctx context.Context, report server.Report) error {
			report("", nil)
			var all sync.WaitGroup
			for _, d := range own {
				all.Go(func() { r.carry(ctx, s, d, report) })
			}
			all.Wait()
			return nil
		})
	}
}

// NoteWorker is the worker that notes in the home how far the databases are, and finds those that were set back.
const NoteWorker = "database state"

const (
	// noteInterval is how often that is noted: what a database loses that was written since is not found to be lost.
	noteInterval = 2 * time.Second
	// endsEvery is at how many of these times the ends of all change logs are noted.
	endsEvery = 5
	// noteWithin is how long a database may take.
	noteWithin = 10 * time.Second
)

// state is how the databases are doing, added up, for metrics.
func (r *Replica) state() metrics.DatabaseState {
	all := metrics.DatabaseState{Oldest: -1, LagBytes: -1, Agents: map[string]int{}}
	for _, d := range r.All() {
		w := d.Watch.Load()
		if w == nil {
			continue
		}
		one := w.State()
		all.Counts = all.Plus(one.Counts)
		all.SetBack, all.Oldest, all.LagBytes = all.SetBack || one.SetBack, max(all.Oldest, one.Oldest), max(all.LagBytes, one.Lag)
		for class, n := range one.Agents {
			all.Agents[class] += n
		}
		if d == r.Common {
			all.Servers = one.Live
		}
	}
	return all
}

// note notes how far each database is. A database that does not answer delays no other database.
func (r *Replica) note(ctx context.Context, report server.Report) error {
	all := r.All()
	failed := make([]error, len(all))
	var mu sync.Mutex // over failed
	var each sync.WaitGroup
	for i, d := range all {
		each.Go(func() {
			round := 0
			_ = server.Every(ctx, noteInterval, func() { // ends with the context alone
				err := d.note(ctx, round%endsEvery == 0)
				if round++; ctx.Err() != nil {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				failed[i] = err
				report("", errors.Join(failed...))
			})
		})
	}
	each.Wait()
	return nil
}

// note notes how far the database is, or begins to, where it did not answer when the server started.
func (d *Database) note(ctx context.Context, ends bool) error {
	ctx, cancel := context.WithTimeout(ctx, noteWithin)
	defer cancel()
	if w := d.Watch.Load(); w != nil {
		return w.Note(ctx, ends)
	}
	w, _, err := d.Server.Watch(ctx)
	if err == nil {
		d.Watch.Store(w)
	}
	return err
}

// CarryWorker is the worker that brings entries of the audit log from the databases of tenants to the common one.
const CarryWorker = "audit carry"

// carry brings the entries of a database to the common one. The lease is there, where it is written, and one for each database: others may
// know the database by another tenant.
func (r *Replica) carry(ctx context.Context, s *Daemon, d *Database, report server.Report) {
	for ctx.Err() == nil {
		id, err := d.Server.Identity(ctx)
		var from *ledger.DB
		if err == nil {
			from, err = ledger.OpenPostgres(ctx, d.Server.DB(), ledger.PostgresOptions{Clock: d.Server.Now, Random: s.o.Random})
		}
		if err == nil {
			defer func() { _ = from.Close() }() // it has nothing of its own
			r.Common.hold(ctx, postgres.Work{Kind: ledger.WorkCarry + " " + id}, ledger.SealEvery, report, func(ctx context.Context, l *postgres.Lease) error {
				_, err := s.o.Ledger.Carry(ctx, from, l.Check)
				return err
			})
			return
		}
		report("", err)
		select { // the database may come back
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// peersWithin is how long a caller who asks how the server is doing waits for the database.
const peersWithin = 2 * time.Second

// peers lists the servers of the common database, which all of them are in.
func (r *Replica) peers(ctx context.Context) (all []wire.ServerPeer, err error) {
	ctx, cancel := context.WithTimeout(ctx, peersWithin)
	defer cancel()
	peers, err := r.Common.Server.Peers(ctx, r.Common.Presence.Lease())
	for _, p := range peers {
		all = append(all, wire.ServerPeer{
			ID: p.ID, Name: p.Name, Address: p.Address, Version: p.Version, StartedAt: amber.At(p.StartedAt), SeenAt: amber.At(p.SeenAt),
			Alive: p.Alive, Self: p.ID == r.Common.Presence.ID(),
		})
	}
	return all, err
}

// listens says where the server can be reached. A server of which that is not known works.
func (r *Replica) listens(ctx context.Context, s *Daemon, url string) {
	if r == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, peersWithin)
	defer cancel()
	for _, d := range r.All() {
		if err := d.Presence.Listens(ctx, url); err != nil {
			s.o.Log.Warn("the database was not told where this server listens", "error", err)
		}
	}
}

// hold does a piece of work whenever no other server does, and reports how that goes: each failure, and the first time that it went
// well again.
func (d *Database) hold(ctx context.Context, w postgres.Work, pause time.Duration, report server.Report, do func(context.Context, *postgres.Lease) error) {
	var mu sync.Mutex
	failed := false
	tell := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil || failed {
			report("", err)
		}
		failed = err != nil
	}
	d.Leases.Hold(ctx, w, pause, func(ctx context.Context, l *postgres.Lease) error {
		err := do(ctx, l)
		if err == nil {
			tell(nil)
		}
		return err
	}, tell)
}

// relaying hands on the events of the outbox, by one server of a database at a time.
type relaying struct {
	*Daemon
	wake chan struct{}

	mu     sync.Mutex
	now    *events.Relay
	before int64 // events that relays before this one have left out
}

// skipped is how many events were left out.
func (r *relaying) skipped() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil {
		return r.before
	}
	return r.before + r.now.Skipped()
}

// begin makes a relay that knows nothing of the one before, which another server may have followed.
func (r *relaying) begin(o events.Outbox, report server.Report) *events.Relay {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now != nil {
		r.before += r.now.Skipped()
	}
	r.now = &events.Relay{
		Outbox: o, Wake: r.wake, Publisher: r.watchers.Publisher(r.watchers.nats), Report: func(err error) { report("", err) },
	}
	return r.now
}

func (r *relaying) run(ctx context.Context, report server.Report) error {
	if r.o.Replica == nil {
		return r.begin(r.o.Ledger, report).Run(ctx)
	}
	report("", nil)
	r.o.Replica.Common.hold(ctx, postgres.Work{Kind: ledger.WorkRelay}, events.DefaultInterval, report, func(ctx context.Context, l *postgres.Lease) error {
		return r.begin(r.o.Ledger.Fenced(l.Check), report).Run(ctx)
	})
	return nil
}
