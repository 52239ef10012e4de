package mirror

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/rowfile"
)

const (
	opDiscard = "discard generation"
	// slice is how many rows a transaction deletes, so that none is long.
	slice = 10_000

	// leased is a generation whose owner lives.
	leased     = `EXISTS (SELECT 1 FROM amber_meta.work w WHERE w.kind = '` + working + `' AND w.tenant = g.tenant AND w.agent = g.agent AND w.holder = g.incarnation AND w.until > now())`
	selectGone = `SELECT gen FROM amber_meta.generations g WHERE g.state = 'dropping' OR g.state = 'building' AND NOT ` + leased + ` ORDER BY gen`
	lookAtGen  = `SELECT g.state, ` + leased + ` FROM amber_meta.generations g WHERE g.gen = $1 FOR UPDATE`
	setGone    = `UPDATE amber_meta.generations SET state = 'dropping' WHERE gen = $1`
	lockGone   = `SELECT state FROM amber_meta.generations WHERE gen = %d FOR UPDATE`
	removeGone = `WITH gone AS (DELETE FROM amber_meta.generations WHERE gen = $1 AND state = 'dropping' RETURNING tenant, agent, incarnation)
DELETE FROM amber_meta.work w USING gone g WHERE w.kind = '` + working + `' AND w.tenant = g.tenant AND w.agent = g.agent AND w.holder = g.incarnation`
	// Tables that other parts of Amber have added are found, too. The key is without the generation.
	selectTables = `SELECT format('%I.%I', n.nspname, c.relname), (SELECT coalesce(string_agg(quote_ident(a.attname), ', ' ORDER BY k.n), '')
  FROM pg_catalog.pg_index x, unnest(x.indkey::int2[]) WITH ORDINALITY k (num, n), pg_catalog.pg_attribute a
  WHERE x.indrelid = c.oid AND x.indisprimary AND a.attrelid = c.oid AND a.attnum = k.num AND a.attname <> 'gen')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute g ON g.attrelid = c.oid AND g.attname = 'gen' AND NOT g.attisdropped
WHERE c.relkind IN ('r', 'p') AND n.nspname IN ('amber', 'amber_control') ORDER BY 1`

	// A slice is what comes first in the order of the key, so that an index leads to it whatever the server
	// knows of the table. It deletes nothing where less is left.
	deleteSlice = `DELETE FROM %[1]s WHERE (%[2]s) <= (SELECT %[2]s FROM %[1]s ORDER BY %[2]s OFFSET %[3]d LIMIT 1)`
	deleteRest  = `DELETE FROM %s`
)

// Discard removes a generation that is being built or is not live any more: its rows in many short transactions, then
// itself. If Discard is killed anywhere, [Sweep] goes on. A generation that is not there is no error. Errors: conflict
// for a live one; busy for one whose owner builds it; those of the database.
func Discard(ctx context.Context, s *postgres.Server, gen int64) error {
	return pgerr.Wrap(opDiscard, fmt.Sprint(gen), discard(ctx, s, gen, false))
}

// Discard gives the generation up and removes it. Once it is live it does nothing, so it may be
// deferred; after an error it may be repeated.
func (b *Building) Discard(ctx context.Context) error {
	if b.over {
		return nil
	}
	err := discard(ctx, b.agent.Server, b.Gen, true)
	b.over = err == nil
	return pgerr.Wrap(opDiscard, fmt.Sprint(b.Gen), err)
}

// Sweep removes generations whose builder is gone, and generations and agents whose removal was cut off. It returns
// which generations it removed. Sweep may run on several machines at a time.
func Sweep(ctx context.Context, s *postgres.Server) (swept []int64, err error) {
	gone, err := pgdb.Collect(ctx, s.DB(), pgx.RowTo[int64], selectGone)
	for _, gen := range gone {
		if err != nil {
			break
		}
		err = discard(ctx, s, gen, false)
		if k := amber.KindOf(err); k == amber.KindBusy || k == amber.KindConflict {
			err = nil // it was renewed, or became live, since the look
			continue
		}
		if err == nil {
			swept = append(swept, gen)
		}
	}
	if err == nil {
		err = removeDeleted(ctx, s)
	}
	return swept, pgerr.Wrap("remove what was not finished", "", err)
}

// discard marks a generation as going and removes it.
func discard(ctx context.Context, s *postgres.Server, gen int64, own bool) error {
	there, err := mark(ctx, s, gen, own)
	if err != nil || !there {
		return err
	}
	tables, err := tablesToEmpty(ctx, s)
	if err != nil {
		return err
	}
	// Deleting from some tables adds to others, so the end is a pass that finds nothing.
	for {
		var deleted int64
		for _, t := range tables {
			n, err := empty(ctx, s, gen, t)
			if err != nil {
				return err
			}
			deleted += n
		}
		if deleted == 0 {
			break
		}
	}
	return s.DB().Conn(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, removeGone, gen)
		return err
	})
}

// mark notes that a generation is being removed, so that no process fills it any more.
func mark(ctx context.Context, s *postgres.Server, gen int64, own bool) (there bool, err error) {
	err = s.DB().Update(ctx, pgdb.Work{
		Setup: postgres.Enter(gen),
		Do: func(c *pgdb.Conn, _ []string) error {
			var state string
			var held bool
			err := c.PG().QueryRow(ctx, lookAtGen, gen).Scan(&state, &held)
			switch {
			case errors.Is(err, pgx.ErrNoRows):
				return nil
			case err != nil:
				return err
			case state == "live":
				return amber.Errorf(amber.KindConflict, opDiscard, fmt.Sprint(gen), "the generation is live")
			case state == "building" && held && !own:
				return amber.Errorf(amber.KindBusy, opDiscard, fmt.Sprint(gen), "the generation is being built")
			}
			there = true
			_, err = c.PG().Exec(ctx, setGone, gen)
			return err
		},
		Committed: again,
	})
	return there, err
}

// again is for what does no harm when it is done once more.
func again(context.Context, *pgdb.Conn) (bool, error) { return false, nil }

const headsTable = "amber.heads"

// owned is a table with rows of agents.
type owned struct {
	name string
	key  string // columns; "" where it has none
}

// empty deletes the rows that a generation has in a table.
func empty(ctx context.Context, s *postgres.Server, gen int64, t owned) (deleted int64, err error) {
	rest := t.key == ""
	for {
		var n int64
		query := fmt.Sprintf(deleteRest, t.name)
		if !rest {
			query = fmt.Sprintf(deleteSlice, t.name, t.key, slice-1)
		}
		err := s.DB().Update(ctx, pgdb.Work{
			Setup: postgres.Enter(gen) + "; " + fmt.Sprintf(lockGone, gen),
			Do: func(c *pgdb.Conn, row []string) error {
				if len(row) != 1 || row[0] != "dropping" {
					return nil // another process was faster
				}
				tag, err := c.PG().Exec(ctx, query)
				n = tag.RowsAffected()
				return err
			},
			Committed: again,
		})
		if err != nil {
			return deleted, err
		}
		deleted += n
		if rest {
			return deleted, nil
		}
		rest = n == 0
	}
}

// tablesToEmpty are all tables with rows of agents: what others refer to behind those that do, and what
// triggers write behind what they watch. The heads come last.
func tablesToEmpty(ctx context.Context, s *postgres.Server) (tables []owned, err error) {
	files, err := rowfile.Files()
	if err != nil {
		return nil, err
	}
	place := map[string]int{}
	for _, f := range files {
		for i, t := range f.Tables {
			place[schemas[f.Name]+"."+t.Name] = len(f.Tables) - i
			if slices.Contains(derived, t.Name) {
				place[schemas[f.Name]+"."+t.Name] = 1000
			}
		}
	}
	place[headsTable] = 1001
	tables, err = pgdb.Collect(ctx, s.DB(), func(r pgx.CollectableRow) (t owned, err error) { return t, r.Scan(&t.name, &t.key) }, selectTables)
	slices.SortStableFunc(tables, func(a, b owned) int { return place[a.name] - place[b.name] })
	return tables, err
}
