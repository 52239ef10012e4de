package mirror

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/store/home"
)

// SwitchOptions say what happens at the switch.
type SwitchOptions struct {
	// Before is called when no process can write to the agent any more and the old generation is still the live one:
	// for work that must see the last write, such as a snapshot. Writers wait meanwhile, and give up after
	// some seconds; the switch itself gives up after a minute. On an error nothing is switched. May be nil. It reads
	// over connections of its own.
	Before func(ctx context.Context, old int64) error
	// Within is called at the end of the transaction, on its connection; may be nil. On an error nothing is switched.
	Within func(ctx context.Context, c *pgx.Conn) error
	// Safety is asked after Before which snapshot holds the old generation. May be nil.
	Safety func() string
	// Expect is what [Exported.Version] said of the rows from which the files were made. Where a process has written to
	// the agent since, the error is [ErrMoved] and nothing is switched. "" expects nothing.
	Expect string
	// Moved is called instead of giving up with [ErrMoved], when no process can write any more: it makes files of the
	// rows as they are now and calls refill with them, which replaces all rows of the generation. May be nil.
	Moved func(ctx context.Context, refill func(Files, ImportOptions) error) error
	// Check is called in the transaction, before anything is locked or changed; see [postgres.Lease.Check]. May be nil.
	Check func(ctx context.Context, q postgres.Querier) error
}

// ErrMoved is in the error about an agent that was written to since the files were made that were to replace it.
var ErrMoved = errors.New("somebody wrote to the agent meanwhile")

// Switched says what became of the agent.
type Switched struct {
	Gen     int64        // the live generation
	Current home.Current // with the clock that was raised
	Old     int64        // the generation it replaced; 0 where there was none
}

const (
	opSwitch = "switch generation"

	lockWork  = `SELECT holder FROM amber_meta.work WHERE kind = '%s' AND tenant = %s AND agent = %s FOR UPDATE`
	lockAgent = `SELECT coalesce(a.live_gen, 0), coalesce(g.clock, 0), a.state FROM amber_meta.agents a LEFT JOIN amber_meta.generations g ON g.gen = a.live_gen
WHERE a.tenant = $1 AND a.agent = $2 FOR UPDATE OF a`
	lockHead   = `SELECT stamp, rev, seq, xmin::text::int8 FROM amber.heads WHERE log = $1 FOR UPDATE`
	retireHead = `UPDATE amber.heads SET live = false, rev = rev + 1 WHERE live`
	setOld     = `UPDATE amber_meta.generations SET state = 'old' WHERE gen = $1`

	setLive     = `UPDATE amber_meta.generations SET state = 'live', clock = $2, replaces = nullif($3::int8, 0), safety = $4 WHERE gen = $1 AND state = 'building'`
	raiseHeads  = `UPDATE amber.heads SET live = true, rev = $1`
	insertAgent = `INSERT INTO amber_meta.agents (tenant, agent, live_gen, device) VALUES ($1, $2, $3, $4)
ON CONFLICT (tenant, agent) DO UPDATE SET live_gen = excluded.live_gen, device = excluded.device WHERE amber_meta.agents.live_gen IS NULL`
	moveAgent = `UPDATE amber_meta.agents SET live_gen = $3, device = $4 WHERE tenant = $1 AND agent = $2`
	// Positions of the history before stay good: the new one begins behind it. Files that were made for this generation have it already.
	insertMemoryIncarnation = `INSERT INTO amber.incarnations (id, first_seq) SELECT $1::text, seq + 1 FROM amber.heads WHERE log = 'memory'
AND NOT EXISTS (SELECT 1 FROM amber.incarnations WHERE id = $1::text)`
	insertControlIncarnation = `INSERT INTO amber_control.incarnations (id, first_seq) SELECT $1::text, seq + 1 FROM amber.heads WHERE log = 'control'
AND NOT EXISTS (SELECT 1 FROM amber_control.incarnations WHERE id = $1::text)`
	endWork = `DELETE FROM amber_meta.work WHERE kind = $1 AND tenant = $2 AND agent = $3 AND holder = $4`
	isLive  = `SELECT EXISTS (SELECT 1 FROM amber_meta.agents WHERE tenant = $1 AND agent = $2 AND live_gen = $3)`
)

// Switch makes the generation the live one, in one transaction. A writer to the old generation ends before the switch
// or goes on in the new generation; no stamp goes back. The old generation stays until it is discarded. Errors:
// conflict where another generation is live than the one it was to replace, or where it was given up; those of Before;
// busy where writers do not get out of the way; those of the database. On an error the old generation is live, but
// where [pgdb.ErrUnknown] is in it.
func (b *Building) Switch(ctx context.Context, o SwitchOptions) (s Switched, err error) {
	if b.over {
		return s, amber.Errorf(amber.KindInvalid, opSwitch, string(b.agent.ID), "the generation is live or was given up")
	}
	a := b.agent
	s = Switched{Gen: b.Gen, Current: b.Current, Old: b.Replaces}
	patience := ""
	if o.Moved != nil {
		patience = refilling + "; "
	}
	err = a.Server.DB().Update(ctx, pgdb.Work{
		Setup: postgres.Enter(0) + "; " + patience + fmt.Sprintf(lockWork, working, literal(string(a.Tenant)), literal(string(a.ID))),
		Do: func(c *pgdb.Conn, row []string) error {
			if len(row) != 1 || row[0] != b.Current.Incarnation {
				return b.lost()
			}
			if o.Check != nil {
				if err := o.Check(ctx, c); err != nil {
					return err
				}
			}
			return b.replace(ctx, c, o, &s)
		},
		Committed: func(ctx context.Context, c *pgdb.Conn) (live bool, err error) {
			err = c.PG().QueryRow(ctx, isLive, string(a.Tenant), string(a.ID), b.Gen).Scan(&live)
			return live, err
		},
	})
	if err != nil {
		return Switched{}, pgerr.Wrap(opSwitch, string(a.ID), err)
	}
	b.over, b.Current = true, s.Current
	return s, nil
}

// replace runs in the transaction of the switch.
func (b *Building) replace(ctx context.Context, c *pgdb.Conn, o SwitchOptions, s *Switched) error {
	rev, err := b.stop(ctx, c, o, s)
	if err != nil {
		return err
	}
	a, run := b.agent, runner{ctx: ctx, c: c.PG()}
	safety := ""
	if o.Safety != nil {
		safety = o.Safety()
	}
	run.one(setLive, b.Gen, int64(s.Current.Clock), s.Old, safety)
	run.do(setGeneration, b.Gen)
	run.do(raiseHeads, rev+1)
	run.do(insertMemoryIncarnation, b.Current.Incarnation)
	run.do(insertControlIncarnation, b.Current.Incarnation)
	if s.Old == 0 {
		run.one(insertAgent, string(a.Tenant), string(a.ID), b.Gen, s.Current.Device)
	} else {
		run.one(moveAgent, string(a.Tenant), string(a.ID), b.Gen, s.Current.Device)
	}
	run.one(endWork, working, string(a.Tenant), string(a.ID), b.Current.Incarnation)
	if errors.Is(run.err, errNotOne) {
		return b.other()
	}
	if run.err == nil && o.Within != nil {
		return o.Within(ctx, c.PG())
	}
	return run.err
}

func (b *Building) other() error {
	return amber.Errorf(amber.KindConflict, opSwitch, string(b.agent.ID), "another generation of the agent became live meanwhile").
		WithHint("begin again")
}

// stop keeps all writers of the old generation out: the locks that they take, in their order.
func (b *Building) stop(ctx context.Context, conn *pgdb.Conn, o SwitchOptions, s *Switched) (rev int64, err error) {
	c := conn.PG()
	var live, clock int64
	state := b.state
	err = c.QueryRow(ctx, lockAgent, string(b.agent.Tenant), string(b.agent.ID)).Scan(&live, &clock, &state)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, err
	}
	if live != b.Replaces {
		return 0, b.other()
	}
	if state != b.state { // a move has begun meanwhile, and what it takes along is the generation that was live then
		return 0, amber.Errorf(amber.KindConflict, opSwitch, string(b.agent.ID), "the agent is %s, want one that is %s", state, b.state).
			WithHint("wait for the end of the move, and begin again where the agent lives then")
	}
	s.Current.Clock = max(s.Current.Clock, amber.Stamp(clock))
	if live != 0 {
		if _, err := c.Exec(ctx, setGeneration, live); err != nil {
			return 0, err
		}
		var seq, by [2]int64
		for i, log := range []string{"memory", "control"} {
			var stamp, r int64
			if err := c.QueryRow(ctx, lockHead, log).Scan(&stamp, &r, &seq[i], &by[i]); err != nil {
				return 0, err
			}
			s.Current.Clock, rev = max(s.Current.Clock, amber.Stamp(stamp)), max(rev, r)
		}
		if is := version(live, seq[0], by[0], seq[1], by[1]); o.Expect != "" && o.Expect != is {
			if err := b.moved(ctx, conn, live, o); err != nil {
				return 0, err
			}
			s.Current.Clock = max(s.Current.Clock, b.Current.Clock)
		}
	}
	if o.Before != nil {
		sleep := conn.Awake(ctx)
		err := o.Before(ctx, live)
		if sleep(); err != nil {
			return 0, err
		}
	}
	if live != 0 {
		run := runner{ctx: ctx, c: c}
		run.do(retireHead)
		run.one(setOld, live)
		return rev, run.err
	}
	return rev, nil
}

// moved brings the generation up to date with what was written since its files were made.
func (b *Building) moved(ctx context.Context, c *pgdb.Conn, live int64, o SwitchOptions) error {
	if o.Moved == nil {
		return amber.Errorf(amber.KindConflict, opSwitch, string(b.agent.ID), "%w", ErrMoved).WithHint("try again")
	}
	filled := false
	sleep := c.Awake(ctx)
	err := o.Moved(ctx, func(f Files, i ImportOptions) error {
		sleep()
		defer func() { sleep = c.Awake(ctx) }()
		filled = true
		if _, err := c.PG().Exec(ctx, setGeneration, b.Gen); err != nil {
			return err
		}
		if err := b.refill(ctx, c, f, i); err != nil {
			return err
		}
		_, err := c.PG().Exec(ctx, setGeneration, live)
		return err
	})
	if sleep(); err == nil && !filled {
		err = amber.Errorf(amber.KindInternal, opSwitch, string(b.agent.ID), "%w, and the generation was not filled again", ErrMoved)
	}
	return err
}

var errNotOne = errors.New("the statement was to change one row")

// runner runs statements until one fails.
type runner struct {
	ctx context.Context
	c   *pgx.Conn
	err error
}

func (r *runner) do(sql string, args ...any) (rows int64) {
	if r.err != nil {
		return 0
	}
	tag, err := r.c.Exec(r.ctx, sql, args...)
	r.err = err
	return tag.RowsAffected()
}

// one is do for a statement that changes one row.
func (r *runner) one(sql string, args ...any) {
	if n := r.do(sql, args...); r.err == nil && n != 1 {
		r.err = errNotOne
	}
}
