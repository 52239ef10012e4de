package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgerr"
)

// Work names something that one server does at a time. Tenant and Agent are "" where it belongs to none.
type Work struct {
	Kind   string
	Tenant amber.TenantID
	Agent  amber.AgentID
}

func (w Work) String() string {
	if w.Agent == "" {
		return w.Kind
	}
	return w.Kind + " of " + string(w.Agent)
}

// Leases are how servers share work: who claims a piece has it until its time is over, by the clock of the database. Each
// holder has a higher fence than the one before, and each of its effects checks the fence in the effect's own transaction, so one
// that was only paused changes nothing any more.
type Leases struct {
	server *Server
	holder string
	lease  time.Duration
}

// Leases returns those of a server by its id, see [Presence]. A lease that is not renewed is over after some time; 0 is
// [DefaultLease].
func (s *Server) Leases(holder string, lease time.Duration) *Leases {
	if lease <= 0 {
		lease = DefaultLease
	}
	return &Leases{server: s, holder: holder, lease: lease}
}

// Lease is a piece of work that this server has.
type Lease struct {
	Work
	Fence int64

	leases *Leases
}

// ErrLost is in the error about a lease whose work another server has by now.
var ErrLost = errors.New("another server has the work by now")

const (
	insertWork = `INSERT INTO amber_meta.work (kind, tenant, agent) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
	// An effect that is being written holds the row against servers that claim the work.
	claimWork = `WITH free AS MATERIALIZED (SELECT kind, tenant, agent FROM amber_meta.work WHERE kind = $1 AND tenant = $2 AND agent = $3
 AND (until IS NULL OR until < clock_timestamp()) FOR UPDATE SKIP LOCKED)
UPDATE amber_meta.work w SET holder = $4, fence = w.fence + 1, until = clock_timestamp() + $5::int8 * interval '1 millisecond' FROM free
WHERE w.kind = free.kind AND w.tenant = free.tenant AND w.agent = free.agent RETURNING w.kind, w.tenant, w.agent, w.fence`
	// Beside the fence the holder counts: a primary that was lost may have taken a claim with it, whose fence its successor gives again.
	renewWork = `UPDATE amber_meta.work SET until = clock_timestamp() + $6::int8 * interval '1 millisecond'
WHERE kind = $1 AND tenant = $2 AND agent = $3 AND fence = $4 AND holder = $5 AND until IS NOT NULL`
	releaseWork = `UPDATE amber_meta.work SET until = NULL, holder = '', due_at = clock_timestamp()
WHERE kind = $1 AND tenant = $2 AND agent = $3 AND fence = $4 AND holder = $5 AND until IS NOT NULL`

	releaseAll = `UPDATE amber_meta.work SET until = NULL, holder = '', due_at = clock_timestamp() WHERE holder = $1 AND until IS NOT NULL`

	// The lock keeps others from claiming until the effect is stored, and does not keep the holder from renewing.
	checkWork = `SELECT count(*) FROM (SELECT 1 FROM amber_meta.work WHERE kind = ? AND tenant = ? AND agent = ? AND fence = ? AND holder = ? AND until IS NOT NULL FOR KEY SHARE) held`
)

// Claim takes one piece of work, and makes the work known if it was not. Where the answer of the database is lost, the
// work may be taken until the end of the lease. Errors: busy while another server has the work.
func (l *Leases) Claim(ctx context.Context, w Work) (*Lease, error) {
	const op = "claim work"
	var got []*Lease
	err := l.conn(ctx, func(ctx context.Context, c *pgx.Conn) (err error) {
		if got, err = l.claim(ctx, c, w); err != nil || len(got) > 0 {
			return err
		}
		tag, err := c.Exec(ctx, insertWork, w.Kind, string(w.Tenant), string(w.Agent))
		if err == nil && tag.RowsAffected() > 0 {
			got, err = l.claim(ctx, c, w)
		}
		return err
	})
	if err == nil && len(got) == 0 {
		err = amber.Errorf(amber.KindBusy, op, w.String(), "another server does it")
	}
	if err != nil {
		return nil, pgerr.Wrap(op, w.String(), err)
	}
	return got[0], nil
}

// conn runs statements that are transactions of their own. None takes longer than a lease.
func (l *Leases) conn(ctx context.Context, fn func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, l.lease)
	defer cancel()
	return l.server.life.Conn(ctx, func(c *pgx.Conn) error { return fn(ctx, c) })
}

func (l *Leases) claim(ctx context.Context, c *pgx.Conn, w Work) ([]*Lease, error) {
	rows, err := c.Query(ctx, claimWork, w.Kind, string(w.Tenant), string(w.Agent), l.holder, l.lease.Milliseconds())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (*Lease, error) {
		got := &Lease{leases: l}
		return got, r.Scan((*string)(&got.Kind), (*string)(&got.Tenant), (*string)(&got.Agent), &got.Fence)
	})
}

func (l *Lease) lost(op string) error {
	return amber.Errorf(amber.KindConflict, op, l.String(), "%w", ErrLost)
}

// change changes the row of a lease, or says that it is lost.
func (l *Lease) change(ctx context.Context, op, query string, more ...any) error {
	return pgerr.Wrap(op, l.String(), l.leases.conn(ctx, func(ctx context.Context, c *pgx.Conn) error {
		args := append([]any{l.Kind, string(l.Tenant), string(l.Agent), l.Fence, l.leases.holder}, more...)
		tag, err := c.Exec(ctx, query, args...)
		if err == nil && tag.RowsAffected() == 0 {
			return l.lost(op)
		}
		return err
	}))
}

// Renew makes the lease begin anew. It renews a lease that is over, too, if no other server claimed the work. Errors:
// conflict with [ErrLost].
func (l *Lease) Renew(ctx context.Context) error {
	return l.change(ctx, "renew work", renewWork, l.leases.lease.Milliseconds())
}

// Release gives the work back. Errors: conflict with [ErrLost].
func (l *Lease) Release(ctx context.Context) error {
	return l.change(ctx, "release work", releaseWork)
}

// Querier is a transaction in which a lease is checked. Its statements are written for SQLite.
type Querier = interface {
	Row(ctx context.Context, query string, args ...any) interface{ Scan(dest ...any) error }
}

// Check says in the transaction of an effect whether this server still has the work. From here to the end of the
// transaction no other server gets it. Errors: conflict with [ErrLost].
func (l *Lease) Check(ctx context.Context, q Querier) error {
	const op = "check work"
	var n int64
	if err := q.Row(ctx, checkWork, l.Kind, string(l.Tenant), string(l.Agent), l.Fence, l.leases.holder).Scan(&n); err != nil {
		return pgerr.Wrap(op, l.String(), err)
	}
	if n == 0 {
		return l.lost(op)
	}
	return nil
}

// Hold does a piece of work again and again, with a pause after each time, whenever this server has it, until the
// context ends. It claims the work, renews the lease at a third of its time and claims the work anew when the lease was
// lost. Hold calls do from one goroutine; the context of do ends with the lease. Hold calls report with errors other
// than busy: those of its own requests, those of do and the loss of a lease; report may be nil. At the end Hold gives
// the work back.
func (l *Leases) Hold(ctx context.Context, w Work, pause time.Duration, do func(context.Context, *Lease) error, report func(error)) {
	tell := func(err error) {
		if err != nil && ctx.Err() == nil && amber.KindOf(err) != amber.KindBusy && report != nil {
			report(err)
		}
	}
	for ctx.Err() == nil {
		lease, err := l.Claim(ctx, w)
		if err != nil {
			tell(err)
			sleep(ctx, l.lease/3)
			continue
		}
		tell(l.held(ctx, lease, pause, do, tell))
	}
}

// While does something and renews the lease meanwhile. The context of do ends with the lease. Errors: those of do; conflict with [ErrLost].
func (l *Lease) While(ctx context.Context, do func(context.Context) error) error {
	mine, stop := l.kept(ctx)
	err := do(mine)
	if lost := stop(); lost != nil {
		return lost
	}
	return err
}

// kept renews the lease until stop is called, which says why it was lost. The context ends with the lease.
func (l *Lease) kept(ctx context.Context) (mine context.Context, stop func() error) {
	mine, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- l.keep(mine, cancel) }()
	return mine, func() error {
		cancel()
		return <-done
	}
}

// ReleaseAll gives back everything that this server has, as when it ends.
func (l *Leases) ReleaseAll(ctx context.Context) error {
	return pgerr.Wrap("release work", l.holder, l.conn(ctx, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, releaseAll, l.holder)
		return err
	}))
}

// held works until the lease is lost or the context ends.
func (l *Leases) held(ctx context.Context, lease *Lease, pause time.Duration, do func(context.Context, *Lease) error, tell func(error)) error {
	mine, stop := lease.kept(ctx)
	for mine.Err() == nil {
		err := do(mine, lease)
		if errors.Is(err, ErrLost) {
			break
		}
		if mine.Err() == nil {
			tell(err)
		}
		sleep(mine, pause)
	}
	if err := stop(); err != nil {
		return err
	}
	err := lease.Release(context.WithoutCancel(ctx))
	if errors.Is(err, ErrLost) {
		return nil
	}
	return err
}

// While does a piece of work once, when this server has it: it waits for one that has it, until the time is over. The context of do ends with the
// lease; its effects check the fence. Errors: those of do, with that of the lease where it was lost; busy.
func (l *Leases) While(ctx context.Context, w Work, wait time.Duration, do func(context.Context, *Lease) error) error {
	lease, err := l.Claim(ctx, w)
	for amber.KindOf(err) == amber.KindBusy && wait > 0 {
		step := min(wait, claimAgain)
		if wait -= step; !sleep(ctx, step) {
			return &amber.Error{Op: "claim work", Kind: amber.KindUnreachable, ID: w.String(), Err: ctx.Err()}
		}
		lease, err = l.Claim(ctx, w)
	}
	if err != nil {
		return err
	}
	mine, stop := lease.kept(ctx)
	err = do(mine, lease)
	if lost := stop(); lost != nil && err != nil {
		return errors.Join(lost, err)
	}
	_ = lease.Release(context.WithoutCancel(ctx)) // where that fails it ends by itself
	return err
}

// claimAgain is how long While waits before it claims work again that another server has.
const claimAgain = 200 * time.Millisecond

// keep renews the lease until the context ends, and ends it where the lease is over.
func (l *Lease) keep(ctx context.Context, stop context.CancelFunc) error {
	defer stop()
	left := l.leases.lease
	for {
		step := l.leases.lease / 3
		if !sleep(ctx, step) {
			return nil
		}
		attempt, cancel := context.WithTimeout(ctx, step)
		err := l.Renew(attempt)
		cancel()
		switch {
		case err == nil:
			left = l.leases.lease
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrLost):
			return err
		default:
			if left -= 2 * step; left <= 0 {
				return err
			}
		}
	}
}

// sleep waits, and reports whether the context did not end meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
