package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/store/postgres/schema"
)

const (
	// DefaultLease is how long a server lives on that was not heard of, and how long work is its own.
	DefaultLease = 30 * time.Second
	// presenceKept is how long the row of a server stays that left without a word.
	presenceKept = 7 * 24 * time.Hour
)

// PresenceOptions say how a server shows that it lives.
type PresenceOptions struct {
	Name, Address, Version string        // for those who list servers
	Lease                  time.Duration // default [DefaultLease]; others believe at least as long that it lives
	Beat                   time.Duration // how often it says that it lives; default a third of Lease
	// Later lets a server join a database that does not answer yet, or was set back: it is known there once the database can be used.
	Later bool
	// Report is called with the error each time that the server could not say that it lives, and with nil the first
	// time that it could again. It may be nil.
	Report func(error)
}

// Presence is this server as others see it: a row whose time it renews. Times are those of the database.
type Presence struct {
	server *Server
	id     string
	o      PresenceOptions

	mu      sync.Mutex
	address string

	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// Peer is a server that works on the database.
type Peer struct {
	ID, Name, Address, Version string
	Schema                     int64 // number of the newest migration that it knows
	StartedAt, SeenAt          time.Time
	Alive                      bool // it was heard of during its lease
}

const (
	upsertServer = `INSERT INTO amber_meta.servers (id, name, address, version, schema_known, started_at, seen_at, lease)
VALUES ($1, $2, $3, $4, $5, clock_timestamp(), clock_timestamp(), $6) ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, address = excluded.address RETURNING ` + clockNow
	deleteServer  = `DELETE FROM amber_meta.servers WHERE id = $1`
	sweepServers  = `DELETE FROM amber_meta.servers WHERE seen_at < clock_timestamp() - $1::int8 * interval '1 millisecond'`
	selectServers = `SELECT id, name, address, version, schema_known, started_at, seen_at, seen_at > clock_timestamp() - greatest($1::int8, lease) * interval '1 millisecond'
FROM amber_meta.servers ORDER BY started_at, id`
)

// Join makes this server known under a new id, and says that it lives until Leave is called.
func (s *Server) Join(ctx context.Context, o PresenceOptions) (*Presence, error) {
	if o.Lease <= 0 {
		o.Lease = DefaultLease
	}
	if o.Beat <= 0 {
		o.Beat = o.Lease / 3
	}
	id, err := amber.NewUUID(s.Now(), s.o.Random)
	if err != nil {
		return nil, err
	}
	p := &Presence{server: s, id: id, o: o, address: o.Address}
	err = p.exec(ctx, sweepServers, presenceKept.Milliseconds())
	if err == nil {
		err = p.beat(ctx)
	}
	if err != nil && !(o.Later && (amber.KindOf(err) == amber.KindUnreachable || IsSetBack(err))) {
		return nil, err
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.cancel = cancel
	p.wg.Go(func() { p.live(life) })
	return p, nil
}

// Listens says where this server can be reached, once it is known.
func (p *Presence) Listens(ctx context.Context, address string) error {
	p.mu.Lock()
	p.address = address
	p.mu.Unlock()
	return p.beat(ctx)
}

// Lease is how long this server is believed to live after it was heard of.
func (p *Presence) Lease() time.Duration { return p.o.Lease }

// ID names this server in rows: the holder of answers and of work.
func (p *Presence) ID() string { return p.id }

// exec runs one statement by itself. It may run again: each changes the same rows in the same way.
func (p *Presence) exec(ctx context.Context, query string, args ...any) error {
	return p.conn(ctx, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, query, args...)
		return err
	})
}

func (p *Presence) conn(ctx context.Context, fn func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, p.o.Lease)
	defer cancel()
	return pgerr.Wrap("tell that this server lives", p.o.Name, p.server.life.Conn(ctx, func(c *pgx.Conn) error { return fn(ctx, c) }))
}

// beat says that this server lives, and hears what time it is there. A row that others have removed is made again.
func (p *Presence) beat(ctx context.Context) error {
	p.mu.Lock()
	address := p.address
	p.mu.Unlock()
	return p.conn(ctx, func(ctx context.Context, c *pgx.Conn) error {
		var now int64
		err := c.QueryRow(ctx, upsertServer, p.id, p.o.Name, address, p.o.Version, schema.Newest(), p.o.Lease.Milliseconds()).Scan(&now)
		if err == nil {
			p.server.heard(now)
		}
		return err
	})
}

func (p *Presence) live(ctx context.Context) {
	tick := time.NewTicker(p.o.Beat)
	defer tick.Stop()
	failed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := p.beat(ctx)
		if ctx.Err() != nil {
			return
		}
		if p.o.Report != nil && (err != nil || failed) {
			p.o.Report(err)
		}
		failed = err != nil
	}
}

// Leave ends the presence: others see at once that this server is gone. It may be called twice.
func (p *Presence) Leave(ctx context.Context) error {
	p.cancel()
	p.wg.Wait()
	return p.exec(ctx, deleteServer, p.id)
}

// Peers lists the servers that work on the database, this one too, the oldest first. Lease is theirs; 0 is [DefaultLease].
func (s *Server) Peers(ctx context.Context, lease time.Duration) (peers []Peer, err error) {
	if lease <= 0 {
		lease = DefaultLease
	}
	peers, err = pgdb.Collect(ctx, s.db, pgx.RowToStructByPos[Peer], selectServers, lease.Milliseconds())
	return peers, pgerr.Wrap("list servers", "", err)
}
