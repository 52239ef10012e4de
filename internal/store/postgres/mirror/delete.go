package mirror

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/store/postgres"
)

// Mark is another one once something of an agent was written.
type Mark string

const (
	opDelete = "delete agent"

	// Every write leaves a token of its commit, also a write that has no entry in the change log.
	selectMark = `SELECT coalesce((SELECT string_agg(concat_ws(' ', log, incarnation, seq, stamp), ', ' ORDER BY log) FROM amber.heads), '')
  || (SELECT concat_ws(' ', ',', count(*), max(at)) FROM amber.commits)`

	lockToDelete = `SELECT coalesce(live_gen, 0), state FROM amber_meta.agents WHERE tenant = $1 AND agent = $2 FOR UPDATE`
	setDeleting  = `UPDATE amber_meta.agents SET state = 'deleting', live_gen = NULL WHERE tenant = $1 AND agent = $2`
	setAllGone   = `UPDATE amber_meta.generations SET state = 'dropping' WHERE tenant = $1 AND agent = $2`
	isDeleting   = `SELECT NOT EXISTS (SELECT 1 FROM amber_meta.agents WHERE tenant = $1 AND agent = $2 AND (live_gen = $3 OR state <> 'deleting'))`
	selectGens   = `SELECT gen FROM amber_meta.generations WHERE tenant = $1 AND agent = $2 AND state = 'dropping' ORDER BY gen`
	// The row goes when nothing refers to it any more.
	removeAgents = `WITH gone AS (DELETE FROM amber_meta.agents a WHERE state = 'deleting'
  AND NOT EXISTS (SELECT 1 FROM amber_meta.generations g WHERE g.tenant = a.tenant AND g.agent = a.agent) RETURNING tenant, agent)
DELETE FROM amber_meta.work w USING gone g WHERE w.tenant = g.tenant AND w.agent = g.agent`
)

// Look returns the mark of an agent as it is. Errors: not_found.
func Look(ctx context.Context, a Agent) (m Mark, err error) {
	gen, _, err := a.Server.Live(ctx, a.Tenant, a.ID)
	if err != nil {
		return "", err
	}
	err = a.Server.DB().View(ctx, postgres.Enter(gen), func(c *pgdb.Conn, _ []string) error {
		return c.PG().QueryRow(ctx, selectMark).Scan(&m)
	})
	return m, pgerr.Wrap(opDelete, string(a.ID), err)
}

// Delete removes an agent with all its generations. It waits for the writes under way; from one transaction on no
// reader finds the agent. Then many short transactions remove its rows. If Delete is killed anywhere after that,
// another Delete or [Sweep] goes on. Where seen is not "", Delete removes nothing once more was written than the mark
// has seen. [postgres.Kept] says what PostgreSQL keeps of deleted rows. Errors: not_found; conflict for another mark;
// busy where writers do not get out of the way; those of the database.
func Delete(ctx context.Context, a Agent, seen Mark) error {
	err := a.check()
	if err == nil {
		err = a.close(ctx, seen)
	}
	if err == nil {
		err = a.finish(ctx)
	}
	return pgerr.Wrap(opDelete, string(a.ID), err)
}

// close makes the agent one that is being deleted.
func (a Agent) close(ctx context.Context, seen Mark) error {
	var live int64
	return a.Server.DB().Update(ctx, pgdb.Work{
		Setup: postgres.Enter(0),
		Do: func(conn *pgdb.Conn, _ []string) error {
			c, state := conn.PG(), ""
			err := c.QueryRow(ctx, lockToDelete, string(a.Tenant), string(a.ID)).Scan(&live, &state)
			if errors.Is(err, pgx.ErrNoRows) {
				return amber.Errorf(amber.KindNotFound, opDelete, string(a.ID), "the agent does not exist in the database")
			}
			if err != nil || state == "deleting" {
				return err
			}
			if live != 0 {
				if err := a.retire(ctx, c, live, seen); err != nil {
					return err
				}
			}
			run := runner{ctx: ctx, c: c}
			run.one(setDeleting, string(a.Tenant), string(a.ID))
			run.do(setAllGone, string(a.Tenant), string(a.ID))
			return run.err
		},
		Committed: func(ctx context.Context, c *pgdb.Conn) (gone bool, err error) {
			err = c.PG().QueryRow(ctx, isDeleting, string(a.Tenant), string(a.ID), live).Scan(&gone)
			return gone, err
		},
	})
}

// retire keeps all writers out of the live generation: the locks that they take, in the order of a switch.
func (a Agent) retire(ctx context.Context, c *pgx.Conn, live int64, seen Mark) error {
	if _, err := c.Exec(ctx, setGeneration, live); err != nil {
		return err
	}
	for _, log := range []string{"memory", "control"} {
		if _, err := c.Exec(ctx, lockHead, log); err != nil {
			return err
		}
	}
	if seen != "" {
		var now Mark
		if err := c.QueryRow(ctx, selectMark).Scan(&now); err != nil {
			return err
		}
		if now != seen {
			return amber.Errorf(amber.KindConflict, opDelete, string(a.ID), "something was written to the agent meanwhile").WithHint("try again")
		}
	}
	_, err := c.Exec(ctx, retireHead)
	return err
}

// finish removes what a deletion has left to do.
func (a Agent) finish(ctx context.Context) error {
	gens, err := pgdb.Collect(ctx, a.Server.DB(), pgx.RowTo[int64], selectGens, string(a.Tenant), string(a.ID))
	for _, gen := range gens {
		if err == nil {
			err = discard(ctx, a.Server, gen, false)
		}
	}
	if err != nil {
		return err
	}
	return removeDeleted(ctx, a.Server)
}

// removeDeleted removes agents that are being deleted and have no rows any more.
func removeDeleted(ctx context.Context, s *postgres.Server) error {
	return s.DB().Conn(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, removeAgents)
		return err
	})
}
