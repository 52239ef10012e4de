package sqlrows

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/store/home"
)

func ScanText(s scanner) (text string, err error) {
	err = s.Scan(&text)
	return text, err
}

// Conn is what a transaction runs its statements on. They are written for SQLite;
// another engine translates them.
type Conn interface {
	// Exec runs a statement that returns no rows and reports how many it changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Later runs a statement that returns no rows, before the next one that does or
	// Flush. Its error may be told there.
	Later(ctx context.Context, query string, args ...any) error
	// Flush returns when every statement has run.
	Flush(ctx context.Context) error
	// Row runs a query of one row.
	Row(ctx context.Context, query string, args ...any) Row
	// Each runs a query and calls fn for every row. Fn runs no query.
	Each(ctx context.Context, query string, args []any, fn func(Row) error) error
	// Several runs queries, together where the engine can, and calls fn for every row, with the
	// number of its query. Fn runs no query.
	Several(ctx context.Context, queries []string, args [][]any, fn func(n int, r Row) error) error
}

// Row is what a query found.
type Row = interface{ Scan(dest ...any) error }

// Tx is one transaction. Its time is fixed when it begins.
type Tx struct {
	Ctx     context.Context
	Conn    Conn
	Random  io.Reader
	Told    func(amber.SetAside) // is called for rows that were left out; may be nil
	Current home.Current
	Now     amber.Time
	Stamp   amber.Stamp // the last one given out, to an entry of the change log or a version
	Logged  amber.Stamp // of the last entry that this transaction logged; 0 for none
	Seq     int64       // of the last entry; grows with each
	// FirstSeq is seq when the transaction began.
	FirstSeq int64
	Index    *search.Cache    // what the index holds, for readers; may be nil
	Aside    []amber.SetAside // rows that could not be read and were left out
	// Schema is that of a memory.db which may be of an older one; 0 is the newest.
	Schema int64
	// Far says that each question takes a way over a network, so that several are better asked at once.
	Far bool
	// ahead is what was read of the index by a transaction that brings something into it; nil: nothing.
	ahead *ahead
	memo  *memo // what was asked for several callers; nil: nothing
	// Overwrite makes what deleted rows have left behind unreadable, as far as the
	// engine can. Only a transaction that erases needs it.
	Overwrite func(*Tx) error
}

// Exec runs a statement that returns no rows and reports how many it changed.
func (t *Tx) Exec(query string, args ...any) (int64, error) {
	t.memo.write(query, args)
	return t.Conn.Exec(t.Ctx, query, args...)
}

// Do runs a statement that returns no rows. An engine may run it with the next one, so
// its error may be told then: a transaction with such an error comes to nothing.
func (t *Tx) Do(query string, args ...any) error {
	t.memo.write(query, args)
	return t.Conn.Later(t.Ctx, query, args...)
}

// Row runs a query of one row.
func (t *Tx) Row(query string, args ...any) scanner {
	t.memo.ask()
	return strictRow{t.Conn.Row(t.Ctx, t.known(query), args...)}
}

// Each runs a query and calls fn for every row. Fn runs no query.
func (t *Tx) Each(query string, args []any, fn func(scanner) error) error {
	t.memo.ask()
	return t.Conn.Each(t.Ctx, t.known(query), args, func(s scanner) error { return fn(strictRow{s}) })
}

// isBefore reports whether the file is of an older schema than the one that brought something.
func (t *Tx) isBefore(since int64) bool { return t.Schema != 0 && t.Schema < since }

// several runs queries of what the file has: see [Conn].
func (t *Tx) several(queries []string, args [][]any, fn func(n int, r Row) error) error {
	if t.Schema != 0 {
		queries = slices.Clone(queries)
		for i, q := range queries {
			queries[i] = t.known(q)
		}
	}
	return t.Conn.Several(t.Ctx, queries, args, fn)
}

// All collects what scan makes of every row. The list is never nil.
func All[T any](t *Tx, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	out := []T{}
	err := t.Each(query, args, func(s scanner) error {
		v, err := scan(s)
		out = append(out, v)
		return err
	})
	return out, err
}

// scanner is a row.
type scanner = Row

// NewID mints a UUIDv7 at the transaction's time.
func (t *Tx) NewID() (string, error) { return amber.NewUUID(t.Now.Time(), t.Random) }

// NotFound answers for a record that is not there.
func NotFound(op, id string) error {
	return amber.Errorf(amber.KindNotFound, op, id, "the record does not exist")
}

// Absent reports whether a query found no row.
func Absent(err error) bool { return errors.Is(err, sql.ErrNoRows) }

// Damaged is an error about a row that does not hold what it must.
func Damaged(op, id string, err error) error {
	return &amber.Error{Op: op, Kind: amber.KindDamaged, ID: id, Err: err, Hint: "amber doctor"}
}

// FirstColumn is a row whose first column goes into a value of its own.
type FirstColumn struct {
	Row
	Into any
}

func (r FirstColumn) Scan(dest ...any) error {
	return r.Row.Scan(append([]any{r.Into}, dest...)...)
}

// ExecAll runs statements one after the other.
func (t *Tx) ExecAll(queries ...string) error {
	for _, q := range queries {
		if err := t.Do(q); err != nil {
			return err
		}
	}
	return nil
}

// Scrub removes what deleted records have left in the index, and in the file. It
// comes after everything that deletes in its transaction.
func (t *Tx) Scrub() error {
	if _, err := t.IndexDirty(Indexing{Erase: true}); err != nil {
		return err
	}
	if t.Overwrite == nil {
		return amber.Errorf(amber.KindInternal, "erase", "", "this transaction cannot overwrite what it deletes")
	}
	return t.Overwrite(t)
}
