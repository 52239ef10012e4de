package schema

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgerr"
)

const migrateOp = "migrate database"

// Step is a part of a migration that is done by itself.
type Step struct {
	Number     int64 // of the migration
	Name       string
	Phase      Phase
	Step       int    // of the migration, from 1
	Steps      int    // of the migration
	Concurrent bool   // it builds an index beside writers, outside of a transaction
	SQL        string // what it runs
}

// Options of [Run].
type Options struct {
	By         string        // the program that migrates, for the records; "" is amber
	ExpandOnly bool          // stop in front of the first migration that does more than add
	Attempts   int           // at getting a lock, for each step; 0 is 30
	Pause      time.Duration // after the first attempt; 0 is a second. It doubles three times
	Locked     func(Step)    // is called for each attempt that did not get a lock; may be nil
}

// Report is what [Run] did.
type Report struct {
	From, To Version
	Done     []Step
	Held     []Older // servers that hold a contract back; it and what comes after it was not done
}

// Older is a server that was seen during the last day and does not know a migration.
type Older struct {
	Name, Address, Version string
	SeenAt                 time.Time
}

// Plan returns how far a database is, and the steps that it lacks, in order. It changes nothing.
func Plan(ctx context.Context, conn *pgx.Conn) (from Version, steps []Step, err error) {
	all, err := known()
	if err != nil {
		return from, nil, pgerr.Wrap(migrateOp, "", err)
	}
	found, err := all.readAll(ctx, conn)
	if err == nil {
		steps = all.missing(found)
	}
	return found.Version, steps, err
}

// Run brings a database to the newest schema, step by step. Each step that is done stays, so the next run goes on where
// one that ended early stopped. Several programs may call Run at the same time: each step is done once.
func Run(ctx context.Context, conn *pgx.Conn, o Options) (Report, error) {
	all, err := known()
	if err != nil {
		return Report{}, pgerr.Wrap(migrateOp, "", err)
	}
	return all.run(ctx, conn, o)
}

// missing are the steps that were not done.
func (s set) missing(found state) (out []Step) {
	for _, m := range s {
		for i := range m.steps {
			if !found.has(m, i) {
				out = append(out, m.step(i))
			}
		}
	}
	return out
}

// readAll is read for migrations: an older or an empty database is no error, because they are made for one.
func (s set) readAll(ctx context.Context, q Querier) (state, error) {
	found, err := s.read(ctx, q)
	if err == nil {
		if err = judge(found.Version, s.newest(), 0); errors.Is(err, ErrOlder) {
			err = nil
		}
	}
	return found, err
}

// has reports whether a step of a migration was done.
func (s state) has(m migration, step int) bool {
	return s.migrations[m.number].Steps > int64(step)
}

func (m migration) step(i int) Step {
	return Step{
		Number: m.number, Name: m.name, Phase: m.phase, Step: i + 1, Steps: len(m.steps),
		Concurrent: m.steps[i].way == concurrently, SQL: m.steps[i].sql,
	}
}

func (s set) run(ctx context.Context, conn *pgx.Conn, o Options) (Report, error) {
	if o.Attempts <= 0 {
		o.Attempts = 30
	}
	if o.Pause <= 0 {
		o.Pause = time.Second
	}
	if o.By == "" {
		o.By = "amber"
	}
	r := &runner{set: s, conn: conn, Options: o}
	found, err := s.readAll(ctx, conn)
	if err != nil {
		return Report{}, err
	}
	out := Report{From: found.Version, To: found.Version}
	for _, m := range s {
		if o.ExpandOnly && m.phase != Expand && m.number > found.Number {
			break
		}
		for i := range m.steps {
			if found.has(m, i) {
				continue
			}
			done, err := r.step(ctx, m, i)
			if err != nil {
				return out, pgerr.Wrap(migrateOp, m.name, err)
			}
			if out.Held = r.held; len(out.Held) > 0 {
				return out, nil
			}
			if done {
				out.Done = append(out.Done, m.step(i))
			}
		}
	}
	found, err = s.readAll(ctx, conn)
	out.To = found.Version
	return out, err
}

// runner does the steps of one run.
type runner struct {
	Options
	set      set
	conn     *pgx.Conn
	held     []Older
	patience time.Duration // of this attempt, for a lock
	rest     time.Duration // after it
}

// step does a step, and does it again while a lock is taken. It reports false where
// another migrator was faster.
func (r *runner) step(ctx context.Context, m migration, i int) (done bool, err error) {
	for attempt := 1; ; attempt++ {
		r.patience, r.rest = pace(attempt, r.Pause)
		switch p := m.steps[i]; p.way {
		case concurrently:
			done, err = r.build(ctx, m, i)
		case repeat:
			done, err = r.again(ctx, m, i)
		default:
			done, err = r.once(ctx, m, i)
		}
		if !locked(err) {
			return done, err
		}
		if r.Locked != nil {
			r.Locked(m.step(i))
		}
		if attempt >= r.Attempts {
			return false, amber.Errorf(amber.KindBusy, migrateOp, m.name, "step %d of %d got no lock in %d attempts: %w", i+1, len(m.steps), attempt, err).
				WithHint("end long transactions on the database and try again; what was done is kept")
		}
		if err := wait(ctx, r.rest); err != nil {
			return false, err
		}
	}
}

// pace is how long an attempt waits for a lock, and how long the step then rests. A statement that waits for a lock
// keeps out every statement that comes after it: the first attempts are short, so that a step that gets its lock at
// once costs writers little, and the rest is four times as long and more, so that all statements that waited have their
// turn. The later ones wait longer than PostgreSQL takes to find that its own vacuum is in the way and to end it, which
// is a second.
func pace(attempt int, pause time.Duration) (patience, rest time.Duration) {
	doubled := min(attempt-1, 3)
	return min(shortest<<doubled, longest), pause << doubled
}

// The shortest and the longest wait for a lock. A write is kept waiting as long, and a moment more.
const (
	shortest = 250 * time.Millisecond
	longest  = 1200 * time.Millisecond
)

// locked reports whether a step failed because another session had a lock: the wait ended, or PostgreSQL ended one of
// two that waited for each other.
func locked(err error) bool {
	code := pgerr.Code(err)
	return code == "55P03" || code == "40P01" || errors.Is(err, errBuilding) || errors.Is(err, errBroken)
}

var (
	errBuilding = errors.New("somebody else builds or cleans the table")
	errBroken   = errors.New("the index that another migrator made is broken")
)

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// migrators is the number of the advisory lock that a step holds: "ambermig".
const migrators = 0x616d6265726d6967

// begin starts a transaction of a step: it does not make others wait behind it for long, also where this program stands still, and is the
// only one.
const begin = `SET LOCAL lock_timeout = %d; SET LOCAL idle_in_transaction_session_timeout = '4s'; SET LOCAL search_path = pg_catalog, pg_temp`

// transaction runs fn alone among all migrators, with what the database says by then.
func (r *runner) transaction(ctx context.Context, fn func(pgx.Tx, state) error) (err error) {
	tx, err := r.conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			_ = tx.Rollback(late) // the error that led here is the one to tell
		}
	}()
	if _, err := script(ctx, tx, fmt.Sprintf(begin, r.patience.Milliseconds())); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, asIs, int64(migrators)); err != nil {
		return err
	}
	found, err := r.set.readAll(ctx, tx)
	if err != nil {
		return err
	}
	if err := fn(tx, found); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// script runs statements that have no arguments, and returns how many rows the last one changed.
func script(ctx context.Context, tx pgx.Tx, sql string) (rows int64, err error) {
	results, err := tx.Conn().PgConn().Exec(ctx, sql).ReadAll()
	for _, r := range results {
		rows = r.CommandTag.RowsAffected()
	}
	return rows, err
}

// once does a step in one transaction.
func (r *runner) once(ctx context.Context, m migration, i int) (done bool, err error) {
	err = r.transaction(ctx, func(tx pgx.Tx, found state) error {
		if due, err := r.due(ctx, tx, found, m, i); !due || err != nil {
			return err
		}
		if _, err := script(ctx, tx, m.steps[i].sql); err != nil {
			return err
		}
		done = true
		return r.record(ctx, tx, m, i)
	})
	return done && err == nil, err
}

// again does a step in one transaction after the other, until it has nothing to do.
func (r *runner) again(ctx context.Context, m migration, i int) (done bool, err error) {
	for more := true; more; {
		err = r.transaction(ctx, func(tx pgx.Tx, found state) error {
			due, err := r.due(ctx, tx, found, m, i)
			if more = due; !due || err != nil {
				return err
			}
			rows, err := script(ctx, tx, m.steps[i].sql)
			if more = rows > 0; more || err != nil {
				return err
			}
			done = true
			return r.record(ctx, tx, m, i)
		})
		if err != nil {
			return false, err
		}
	}
	return done, nil
}

const (
	selectIndex = `SELECT x.indisvalid FROM pg_catalog.pg_index x
 JOIN pg_catalog.pg_class c ON c.oid = x.indexrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = $1 AND c.relname = $2`
	// Two that build on one table at once wait for each other.
	selectBuilding = `SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_locks WHERE relation = $1::text::regclass AND mode = 'ShareUpdateExclusiveLock')`
	selectOlder    = `SELECT name, address, version, seen_at FROM amber_meta.servers
 WHERE schema_known < $1 AND seen_at > now() - interval '1 day' ORDER BY seen_at DESC, id`
)

// build makes an index beside writers. It is no transaction, so a broken attempt leaves an
// index that PostgreSQL does not use: that one is dropped, and made again.
func (r *runner) build(ctx context.Context, m migration, i int) (done bool, err error) {
	p := m.steps[i]
	for made := false; ; made = true {
		missing := false
		err := r.transaction(ctx, func(tx pgx.Tx, found state) error {
			if due, err := r.due(ctx, tx, found, m, i); !due || err != nil {
				return err
			}
			var valid bool
			err := tx.QueryRow(ctx, selectIndex, asIs, p.schema, p.index).Scan(&valid)
			if err == nil && !valid {
				// The session that builds the index holds this lock until the index is valid or broken.
				if _, err := script(ctx, tx, fmt.Sprintf(`LOCK TABLE %s.%s IN SHARE UPDATE EXCLUSIVE MODE`, p.schema, p.table)); err != nil {
					return err
				}
				if err = tx.QueryRow(ctx, selectIndex, asIs, p.schema, p.index).Scan(&valid); err == nil && !valid {
					missing = true
					_, err := script(ctx, tx, fmt.Sprintf(`DROP INDEX %s.%s`, p.schema, p.index))
					return err
				}
			}
			switch {
			case errors.Is(err, pgx.ErrNoRows):
				missing = true
				var building bool
				err := tx.QueryRow(ctx, selectBuilding, asIs, p.schema+"."+p.table).Scan(&building)
				if err == nil && building {
					return errBuilding
				}
				return err
			case err != nil:
				return err
			}
			done = true
			return r.record(ctx, tx, m, i)
		})
		if err != nil || !missing {
			return done && err == nil, err
		}
		if made { // it broke in the hands of another migrator
			return false, errBroken
		}
		_, err = r.conn.PgConn().Exec(ctx, p.sql).ReadAll()
		if err != nil && pgerr.Code(err) != "42P07" { // another migrator has made it
			return false, err
		}
	}
}

// due reports whether a step is the one to do now. A contract waits for the servers that still
// need what it takes away.
func (r *runner) due(ctx context.Context, tx pgx.Tx, found state, m migration, i int) (bool, error) {
	if found.has(m, i) {
		return false, nil
	}
	if done := found.migrations[m.number].Steps; found.Number != m.number-1 || done != int64(i) {
		return false, amber.Errorf(amber.KindConflict, migrateOp, m.name, "the database has schema %d and %d steps of this migration, step %d needs schema %d and %d steps",
			found.Number, done, i+1, m.number-1, i).WithHint("run it again")
	}
	if m.phase != Contract {
		return true, nil
	}
	rows, err := tx.Query(ctx, selectOlder, asIs, m.number)
	if err != nil {
		return false, err
	}
	r.held, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Older])
	return len(r.held) == 0, err
}

const (
	upsertMigration = `INSERT INTO amber_meta.migrations AS m (number, name, sha256, phase, state, steps, applied_at, by)
 VALUES ($1, $2, $3, $4, $5, $6, now(), $7)
 ON CONFLICT (number) DO UPDATE SET state = excluded.state, steps = excluded.steps, applied_at = excluded.applied_at, by = excluded.by`
	upsertVersion = `INSERT INTO amber_meta.version AS v (number, needs) VALUES ($1, $2)
 ON CONFLICT (one) DO UPDATE SET number = excluded.number, needs = greatest(v.needs, excluded.needs)`
)

// record notes that a step is done, in its own transaction.
func (r *runner) record(ctx context.Context, tx pgx.Tx, m migration, i int) error {
	last := i == len(m.steps)-1
	state := "begun"
	if last {
		state = "applied"
	}
	if _, err := tx.Exec(ctx, upsertMigration, asIs, m.number, m.name, m.sha256, string(m.phase), state, int64(i+1), r.By); err != nil || !last {
		return err
	}
	needs := int64(1)
	if m.phase == Contract {
		needs = m.number
	}
	_, err := tx.Exec(ctx, upsertVersion, asIs, m.number, needs)
	return err
}
