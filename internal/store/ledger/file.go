package ledger

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// file is the engine of a home: one SQLite file.
type file struct {
	path    string
	o       Options
	schema  sqlconn.Schema
	writer  *sqlconn.Pool
	readers *sqlconn.Pool

	head     head     // the known end of the audit log
	presence presence // by which others know that answers are still to come
}

var _ engine = (*file)(nil)

func (f *file) name() string { return f.path }

func (f *file) wrap(op, id string, err error) error { return sqlconn.Wrap(op, id, err) }

// settle checks the file and brings it to the newest schema.
func (f *file) settle(ctx context.Context, shapes func() ([]sqlconn.Shape, error)) error {
	all, err := shapes()
	if err != nil {
		return sqlconn.Wrap("open database", f.path, err)
	}
	err = f.checkSchema(ctx, all)
	if !errors.Is(err, sqlconn.ErrOlder) || f.o.Look {
		return err
	}
	if err := f.schema.Migrate(ctx, f.writer.DB); err != nil {
		return sqlconn.Wrap("migrate", f.path, err)
	}
	return f.checkSchema(ctx, all)
}

// update runs fn in a write transaction: BEGIN IMMEDIATE, the schema version, fn,
// COMMIT. There is one lock, and it has that.
func (f *file) update(ctx context.Context, op, id string, _ lock, fn func(*tx) error) error {
	return sqlconn.Wrap(op, id, f.run(ctx, f.writer, "BEGIN IMMEDIATE", f.atVersion(fn)))
}

func (f *file) view(ctx context.Context, op, id string, fn func(*tx) error) error {
	return sqlconn.Wrap(op, id, f.run(ctx, f.readers, "BEGIN", f.atVersion(fn)))
}

// atVersion runs fn where the schema is the one this Amber knows: another
// process may have migrated the file since it was opened.
func (f *file) atVersion(fn func(*tx) error) func(*tx, *sqlconn.Conn) error {
	return func(t *tx, _ *sqlconn.Conn) error {
		if err := f.schema.JudgeRow(t.row(sqlconn.SelectVersion), f.path); err != nil {
			return err
		}
		return fn(t)
	}
}

// run runs fn in a transaction on a connection of the pool.
func (f *file) run(ctx context.Context, p *sqlconn.Pool, begin string, fn func(*tx, *sqlconn.Conn) error) error {
	conn, err := p.Get(ctx)
	if err != nil {
		return err
	}
	defer p.Put(conn)
	return conn.Transact(ctx, begin, func() error {
		return fn(&tx{ctx: ctx, conn: conn, now: amber.At(f.o.Clock())}, conn)
	})
}

// chained has nothing to note: the head file is for what is durable.
func (f *file) chained(*tx, mark, mark) error { return nil }

func (f *file) wrote(ctx context.Context, seq int64) {
	if f.head.wrote(seq, f.o.Clock()) {
		_ = f.noteHead(ctx) // the entries are durable; close tries again and tells
	}
}

// prepare reads the head before the view: what it names is in every view that begins
// later.
func (f *file) prepare(v *verifier) error { return v.begin(f.o.Head) }

// inspect lets SQLite look at the pages and indexes of the log.
func (f *file) inspect(t *tx, v *verifier) error {
	err := t.integrity("PRAGMA integrity_check(audit)", func(problem string) error {
		v.damage("the database says: %s", problem)
		return nil
	})
	if err == nil {
		v.checked("the pages and indexes the log lies in")
	}
	return err
}

// conclude compares the log with the head file, and notes the head anew where all is well.
func (f *file) conclude(ctx context.Context, v *verifier) {
	v.compare()
	if v.report.OK() && f.o.Head != "" {
		if err := f.noteHead(ctx); err != nil {
			v.notChecked("the end of the log could not be noted: %v", err)
		}
	}
}

func (f *file) show(ctx context.Context) (string, error) { return f.presence.show(ctx) }

func (f *file) shared() bool { return false }

func (f *file) holder() string { return f.presence.id }

func (f *file) gone(_ *tx, id string) (bool, error) { return f.presence.gone(id) }

// forgotten brings the write-ahead log into the database and truncates it.
func (f *file) forgotten(ctx context.Context, op string) error {
	c, err := f.writer.Get(ctx)
	if err != nil {
		return sqlconn.Wrap(op, "", err)
	}
	defer f.writer.Put(c)
	var busy, frames, moved int
	if err := c.Row(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
		return sqlconn.Wrap(op, "", err)
	}
	if busy != 0 {
		return amber.Errorf(amber.KindBusy, op, "", "another process reads the database, so %d pages stay in its write-ahead log", frames)
	}
	return nil
}

// check lets SQLite look at every page and index of the file.
func (f *file) check(ctx context.Context) error {
	const op = "check database"
	return f.view(ctx, op, f.path, func(t *tx) error {
		return t.integrity("PRAGMA integrity_check(10)", func(problem string) error {
			return damaged(op, f.path, problem)
		})
	})
}

// integrity calls fn for everything a check of SQLite has found.
func (t *tx) integrity(check string, fn func(problem string) error) error {
	return t.each(check, nil, func(s scanner) error {
		var text string
		if err := s.Scan(&text); err != nil {
			return err
		}
		if text == "ok" {
			return nil
		}
		return fn(text)
	})
}

// close notes the end of the audit log and lets go of everything.
func (f *file) close() error {
	var errs []error
	if f.head.due() {
		errs = append(errs, f.noteHead(context.Background()))
	}
	return errors.Join(append(errs, f.presence.end(), f.writer.Close(), f.readers.Close())...)
}
