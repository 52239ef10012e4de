package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/store/home"
)

// AdoptRequest says what a database becomes. Clock and Random are required.
type AdoptRequest struct {
	Path    string       // of the file in the generation that is being built; no other process uses it
	Live    string       // the file it replaces; "" when there is none
	Current home.Current // the generation to be
	// Carried is for a file that is the live one, taken over as it is: it only
	// learns of its new generation.
	Carried bool
	// LocalOnly keeps the stamps of the records: the next sync may undo the
	// restore.
	LocalOnly bool
	// Cursors are, by name, how far the journal counts as drained: at least
	// that far.
	Cursors map[string]int64
	Clock   amber.Clock
	Random  io.Reader
}

// AdoptReport says what was changed.
type AdoptReport struct {
	Clock       amber.Stamp // no stamp in either file is later
	Stamped     int64       // records that differ from the live ones and became new versions
	TakenOver   int64       // that are as the live ones and got their stamps
	Tombstones  int64       // live ones that the file did not have
	KeptErased  int64       // memories of the file that were erased since
	ParkedLoops int64
	Cursors     int64 // of the journal that moved on
	SetAside    int64 // records of either file that cannot be read, and so were not compared
}

// Adopt makes a restored memory.db fit to be live:
//
//   - A record that differs from the live file becomes a new revision that wins over
//     both, so that sync carries the restore instead of undoing it.
//   - A record that only the live file has becomes a tombstone, sessions and prompts too.
//   - Ids that were erased stay erased, and what quotes them goes.
//   - Loops come back parked.
//   - Events that were drained from the journal are not drained again.
//
// Adopt migrates an older schema first. All of it is one transaction: where the live
// file turns out to be damaged, nothing has changed and the caller may call Adopt again
// without it. It is durable when the caller has synced the folder. Errors: damaged for
// either file; conflict where the live file has another schema.
func Adopt(ctx context.Context, r AdoptRequest) (AdoptReport, error) {
	return adopt(ctx, sqlfile.MemorySchema, r, func(a *adoption) error {
		// No history has what an index outside of the store was fed after the file was frozen, and
		// in another home that index may have nothing. Without its cursor it is compared as a whole.
		if _, err := a.Exec(forgetIndexes); err != nil {
			return fmt.Errorf("forget indexes: %w", err)
		}
		if r.Carried {
			return a.raiseCursors()
		}
		if err := a.forgetPlaces(); err != nil {
			return fmt.Errorf("forget places: %w", err)
		}
		if r.Live != "" {
			if err := a.keepHeld(); err != nil {
				return fmt.Errorf("keep what folders have: %w", err)
			}
			if err := a.keepErased(); err != nil {
				return fmt.Errorf("keep erased: %w", err)
			}
			if !r.LocalOnly {
				if err := a.stampAll(); err != nil {
					return err
				}
			}
			if err := a.takeCursors(); err != nil {
				return fmt.Errorf("take cursors: %w", err)
			}
		}
		if err := a.parkLoops(); err != nil {
			return fmt.Errorf("park loops: %w", err)
		}
		return a.raiseCursors()
	})
}

// adoption is one adoption inside its transaction.
type adoption struct {
	*sqlrows.Tx
	ask    AdoptRequest
	report AdoptReport
	grown  bool // the live agent has lived through the last history of the file
}

// adopt opens both files, runs fn in one transaction over them and closes
// them again.
func adopt(ctx context.Context, s sqlfile.Schema, r AdoptRequest, fn func(*adoption) error) (report AdoptReport, err error) {
	if r.Clock == nil || r.Random == nil {
		return report, amber.Errorf(amber.KindInvalid, "adopt database", r.Path, "clock and random source are required")
	}
	p, err := sqlfile.OpenPool(r.Path, sqlfile.Write, adoptWait, 1)
	if err != nil {
		return report, sqlconn.Wrap("adopt database", r.Path, err)
	}
	defer func() { err = sqlconn.Wrap("adopt database", r.Path, errors.Join(err, p.Close())) }()
	if err = s.Check(ctx, p.DB, r.Path); errors.Is(err, sqlconn.ErrOlder) {
		err = s.Migrate(ctx, p.DB)
	}
	if err != nil {
		return report, err
	}
	conn, err := p.Get(ctx)
	if err != nil {
		return report, err
	}
	defer p.Put(conn)
	a := &adoption{ask: r, Tx: &sqlrows.Tx{Ctx: ctx, Conn: conn, Random: r.Random, Current: r.Current, Now: amber.At(r.Clock()), Overwrite: sqlfile.Overwrite}}
	err = a.inBoth(s, fn)
	return a.report, err
}

// adoptWait is how long another program may hold the live file.
const adoptWait = 30 * time.Second

const (
	attachLive      = `ATTACH ? AS live`
	selectLiveStamp = `SELECT coalesce((SELECT stamp FROM live.changes ORDER BY seq DESC LIMIT 1), 0)`
)

// inBoth attaches the live file, which is only read, and runs fn in a
// transaction.
func (a *adoption) inBoth(s sqlfile.Schema, fn func(*adoption) error) error {
	// No other process sees the file before the caller has synced it, so syncs are
	// not needed. SQLite cannot change the place of temporary tables within a
	// transaction, and a migration may have made some.
	if err := a.ExecAll("PRAGMA synchronous=OFF", "PRAGMA temp_store=MEMORY"); err != nil {
		return err
	}
	if a.ask.Live != "" {
		if _, err := a.Exec(attachLive, sqlconn.FileURI(a.ask.Live, url.Values{"mode": {"ro"}})); err != nil {
			return fmt.Errorf("open live database: %w", err)
		}
	}
	err := a.inTransaction(func() error {
		if err := a.begin(s); err != nil {
			return err
		}
		if err := fn(a); err != nil || s.File != sqlfile.MemorySchema.File || a.report.KeptErased > 0 {
			return err
		}
		_, err := a.IndexDirty(sqlrows.Indexing{})
		return err
	})
	a.report.Clock = a.Stamp
	if err != nil {
		return err
	}
	return a.scrubErased()
}

// inTransaction runs fn in a transaction. The commit is not interrupted.
func (a *adoption) inTransaction(fn func() error) error {
	if _, err := a.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := fn()
	if err == nil {
		err = a.Ctx.Err()
	}
	ctx := a.Ctx
	a.Ctx = context.WithoutCancel(ctx)
	defer func() { a.Ctx = ctx }()
	if err == nil {
		if _, err = a.Exec("COMMIT"); err == nil {
			return nil
		}
	}
	_, _ = a.Exec("ROLLBACK") // fails where SQLite has rolled back itself
	return err
}

// begin makes the file one of the new generation and sets the clock past both
// files.
func (a *adoption) begin(s sqlfile.Schema) error {
	if err := a.Enter(false); err != nil {
		return err
	}
	if a.ask.Live != "" {
		var app, version int64
		aerr := a.Row("PRAGMA live.application_id").Scan(&app)
		verr := a.Row("PRAGMA live.user_version").Scan(&version)
		if err := errors.Join(aerr, verr); err != nil {
			return fmt.Errorf("read live database: %w", err)
		}
		if app != s.ApplicationID || version != s.Version() {
			return amber.Errorf(amber.KindConflict, "adopt database", a.ask.Live, "the live database has schema %d, want %d", version, s.Version())
		}
		var live amber.Stamp
		if err := a.Row(selectLiveStamp).Scan(&live); err != nil {
			return fmt.Errorf("read live clock: %w", err)
		}
		a.Stamp = max(a.Stamp, live)
	}
	return nil
}

const (
	isGrownFrom = `SELECT EXISTS (SELECT 1 FROM live.incarnations
WHERE id = (SELECT id FROM main.incarnations WHERE id <> ? ORDER BY ordinal DESC LIMIT 1))`
	forgetPlaces = `DELETE FROM sync_places`
	forgetHeld   = `DELETE FROM sync_held`

	forgetIndexes = `DELETE FROM index_cursors`
	forgetSpared  = `DELETE FROM sync_spared`
	readAgain     = `UPDATE sync_chunks SET again = 1 WHERE again = 0`
)

// forgetPlaces makes the agent export everything again unless the live agent has
// lived through the last history of the file: then this agent has exported up to
// where the file says, and to the folders of this machine. Three kinds of file may
// name folders that have nothing in them here: a file of another agent, one that
// becomes a new agent, and one whose live file cannot be read. The agent writes no
// record twice to a folder: the first export reads what the folder has. Nor does such
// a folder decide anything before the agent has read its chunks once more.
func (a *adoption) forgetPlaces() error {
	if a.ask.Live != "" {
		if err := a.Row(isGrownFrom, a.Current.Incarnation).Scan(&a.grown); err != nil || a.grown {
			return err
		}
	}
	return a.ExecAll(forgetPlaces, forgetHeld, forgetSpared, readAgain)
}

const parkLoops = `UPDATE loops SET parked = 1 WHERE parked = 0`

// parkLoops keeps a caller that polls for loops from going on where the snapshot
// was: what a loop did since has happened.
func (a *adoption) parkLoops() (err error) {
	a.report.ParkedLoops, err = a.Exec(parkLoops)
	return err
}

const (
	takeCursors = `INSERT INTO journal_cursors SELECT * FROM live.journal_cursors WHERE true
ON CONFLICT (journal) DO UPDATE SET host = excluded.host, session_id = excluded.session_id, seq = excluded.seq, last_at = excluded.last_at,
 pid = excluded.pid, process_start = excluded.process_start, boot = excluded.boot, namespace = excluded.namespace
WHERE excluded.seq > journal_cursors.seq`
	raiseCursor = `INSERT INTO journal_cursors (journal, host, session_id, seq, last_at, pid, process_start, boot, namespace)
VALUES (?, '', '', ?, 0, 0, 0, '', '') ON CONFLICT (journal) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > journal_cursors.seq`
)

// takeCursors takes over how far the journal was drained into the live file:
// what is in neither file because of the restore was drained once, and is not
// drained again. Where captured entries were drained into this file already,
// the larger of both counts.
func (a *adoption) takeCursors() (err error) {
	a.report.Cursors, err = a.Exec(takeCursors)
	return err
}

// raiseCursors moves cursors to where the caller says.
func (a *adoption) raiseCursors() error {
	for journal, seq := range a.ask.Cursors {
		n, err := a.Exec(raiseCursor, journal, seq)
		if err != nil {
			return fmt.Errorf("raise cursor: %w", err)
		}
		a.report.Cursors += n
	}
	return nil
}
