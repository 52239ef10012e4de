package rowfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/store/home"
)

// Writer fills a new file. It is for one goroutine at a time.
type Writer struct {
	path string
	pool *sqlconn.Pool
	conn *sqlconn.Conn
	back []string // makes the triggers and indexes again
}

// wait is for other programs on the file, of which there are none.
const wait = 10 * time.Second

const (
	opWrite = "make database"
	// selectAside are the triggers, whose work is done in the rows already, and the indexes,
	// which are made faster once all rows are there.
	selectAside = `SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'index') AND sql IS NOT NULL ORDER BY type, name`
)

// none is the incarnation that a new file begins with, until its row goes.
const none = "00000000-0000-7000-8000-000000000000"

// Create makes an empty file of the newest schema in a folder where no file of that
// name is: not one row is in it. It is ready when it was closed with [Writer.Finish].
func Create(ctx context.Context, dir, file string) (*Writer, error) {
	s, err := schemaOf(file)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, file)
	if _, err := os.Lstat(path); err == nil {
		return nil, amber.Errorf(amber.KindConflict, opWrite, path, "the file exists already")
	}
	if err := s.Build(ctx, path, home.Current{Incarnation: none}); err != nil {
		return nil, err
	}
	w := &Writer{path: path}
	if err := w.open(ctx, file); err != nil {
		return nil, errors.Join(sqlconn.Wrap(opWrite, path, err), w.Abandon())
	}
	return w, nil
}

func (w *Writer) open(ctx context.Context, file string) (err error) {
	if w.pool, err = sqlfile.OpenPool(w.path, sqlfile.Write, wait, 1); err != nil {
		return err
	}
	if w.conn, err = w.pool.Get(ctx); err != nil {
		return err
	}
	// No other process has the file open, and an unfinished file is thrown away. So nothing has to be
	// undone or survive until the end.
	for _, pragma := range []string{"PRAGMA foreign_keys=off", "PRAGMA journal_mode=off", "PRAGMA synchronous=off"} {
		if _, err := w.conn.SQL.ExecContext(ctx, pragma); err != nil {
			return err
		}
	}
	if _, err := w.conn.SQL.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	var drop []string
	err = w.conn.Each(ctx, selectAside, nil, func(r sqlconn.Row) error {
		var kind, name, text string
		err := r.Scan(&kind, &name, &text)
		drop, w.back = append(drop, fmt.Sprintf("DROP %s %q", kind, name)), append(w.back, text)
		return err
	})
	if err != nil {
		return err
	}
	files, err := Files()
	if err != nil {
		return err
	}
	for _, f := range files {
		for _, t := range f.Tables {
			if f.Name == file {
				drop = append(drop, fmt.Sprintf("DELETE FROM %q", t.Name)) // what a new file begins with
			}
		}
	}
	for _, q := range drop {
		if _, err := w.conn.SQL.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// The most that one statement inserts.
const (
	maxValues = 500
	maxBytes  = 4 << 20
)

// Insert adds the rows that next returns, until it returns nil, and tells how many. The values of a row are in the order
// of the columns. They are used after next was called again, so next does not change them.
func (w *Writer) Insert(ctx context.Context, t Table, next func() ([]any, error)) (n int64, err error) {
	width := len(t.Columns)
	most := max(1, maxValues/width)
	var args []any
	bytes := 0
	flush := func() error {
		rows := len(args) / width
		if rows < most {
			rows = 1 // a statement for every number of rows would be kept
		}
		for values := range slices.Chunk(args, rows*width) {
			if _, err := w.conn.Exec(ctx, insert(t, rows), values...); err != nil {
				return sqlconn.Wrap(opWrite, t.Name, err)
			}
		}
		args, bytes = args[:0], 0
		return nil
	}
	for {
		row, err := next()
		if err != nil {
			return n, err
		}
		if row == nil {
			return n, flush()
		}
		args = append(args, row...)
		bytes += size(row)
		n++
		if len(args) == most*width || bytes >= maxBytes {
			if err := flush(); err != nil {
				return n, err
			}
		}
	}
}

func size(row []any) (bytes int) {
	for _, v := range row {
		switch v := v.(type) {
		case string:
			bytes += len(v)
		case []byte:
			bytes += len(v)
		}
	}
	return bytes
}

func insert(t Table, rows int) string {
	one := "(" + strings.Repeat("?, ", len(t.Columns)-1) + "?)"
	return fmt.Sprintf(`INSERT INTO %q (%s) VALUES %s%s`, t.Name, quoted(t.Names()), strings.Repeat(one+", ", rows-1), one)
}

func quoted(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }

// Finish makes the file what every other one is, closes it and makes it durable. After an error
// it is thrown away with [Writer.Abandon].
func (w *Writer) Finish(ctx context.Context) error {
	for _, q := range append(w.back, "COMMIT", "PRAGMA journal_mode=wal") {
		if _, err := w.conn.SQL.ExecContext(ctx, q); err != nil {
			return sqlconn.Wrap(opWrite, w.path, err)
		}
	}
	if err := w.close(); err != nil {
		return sqlconn.Wrap(opWrite, w.path, err)
	}
	if _, err := fsx.SyncFile(fsx.OS(), w.path); err != nil {
		return &amber.Error{Op: opWrite, Kind: amber.KindInternal, ID: w.path, Err: err, Hint: "check that the disk works and has room"}
	}
	return nil
}

func (w *Writer) close() (err error) {
	if w.conn != nil {
		w.pool.Put(w.conn)
		w.conn = nil
	}
	if w.pool != nil {
		err, w.pool = w.pool.Close(), nil
	}
	return err
}

// Abandon closes the file and removes it.
func (w *Writer) Abandon() error {
	err := w.close()
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		err = errors.Join(err, fsx.Remove(fsx.OS(), w.path+suffix))
	}
	return err
}
