package rowfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlfile"
)

// ErrOutdated is in the error about a file that cannot be brought up to date and has to be made anew: it is
// missing, not one of Amber's, damaged, of another schema, or differs in too much.
var ErrOutdated = errors.New("the file has to be made anew")

const (
	opUpdate = "update database"
	// maxChanged is how many bytes of rows of one table are kept until they are written. A file
	// that differs in more is made anew, which is faster.
	maxChanged = 64 << 20
)

// Updater makes a file that was written before hold other rows. Rows that stay are not written again, so their
// pages stay as they are. It is for one goroutine at a time.
type Updater struct {
	path string
	pool *sqlconn.Pool
	conn *sqlconn.Conn
}

// Update opens a file of the newest schema that no other process uses. Nothing of it has changed before
// [Updater.Finish]. Errors: [ErrOutdated].
func Update(ctx context.Context, dir, file string) (*Updater, error) {
	s, err := schemaOf(file)
	if err != nil {
		return nil, err
	}
	u := &Updater{path: filepath.Join(dir, file)}
	if err := u.open(ctx, s); err != nil {
		return nil, errors.Join(outdated(u.path, err), u.Abandon())
	}
	return u, nil
}

// outdated says why a file has to be made anew. The end of a context is not a matter of the file.
func outdated(path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &amber.Error{Op: opUpdate, Kind: amber.KindConflict, ID: path, Err: errors.Join(ErrOutdated, err)}
}

func (u *Updater) open(ctx context.Context, s sqlfile.Schema) (err error) {
	if err := sqlfile.CheckFile(u.path); err != nil {
		return err
	}
	if u.pool, err = sqlfile.OpenPool(u.path, sqlfile.Write, wait, 1); err != nil {
		return err
	}
	if err := s.Check(ctx, u.pool.DB, u.path); err != nil {
		return err
	}
	if u.conn, err = u.pool.Get(ctx); err != nil {
		return err
	}
	// The rows come from a place where all references hold, in an order in which they may not for a while.
	for _, q := range []string{"PRAGMA foreign_keys=off", "PRAGMA synchronous=off", "BEGIN IMMEDIATE"} {
		if _, err := u.conn.SQL.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// changes are what differs between a table and the rows it is to have.
type changes struct {
	gone  [][]any // keys of rows that are not to be there, or not like this
	come  [][]any
	bytes int
}

func (c *changes) note(row []any) error {
	if c.bytes += size(row) + 16*len(row); c.bytes > maxChanged {
		return fmt.Errorf("more than %d bytes of rows differ", maxChanged)
	}
	return nil
}

// Replace makes a table hold the rows that next returns until it returns nil, in the order of the key, and tells how
// many rows were written or deleted. Tables that triggers write come last. Next does not change a row that it has
// returned. Errors: those of next; [ErrOutdated].
func (u *Updater) Replace(ctx context.Context, t Table, next func() ([]any, error)) (changed int64, err error) {
	c, err := u.compare(ctx, t, next)
	if err != nil {
		return 0, err
	}
	if err := u.apply(ctx, t, c); err != nil {
		return 0, outdated(t.Name, err)
	}
	return int64(max(len(c.gone), len(c.come))), nil
}

// compare goes through the rows of both sides. Both come in the order of the key.
func (u *Updater) compare(ctx context.Context, t Table, next func() ([]any, error)) (c changes, err error) {
	key := keyOf(t)
	var source error // of next, which has nothing to do with the file
	row, source := next()
	take := func() error {
		if err := c.note(row); err != nil {
			return err
		}
		c.come = append(c.come, row)
		row, source = next()
		return source
	}
	if source != nil {
		return c, source
	}
	scan := t.scan()
	q := fmt.Sprintf(`SELECT %s FROM %q ORDER BY %s`, quoted(t.Names()), t.Name, quoted(t.Key))
	err = u.conn.Each(ctx, q, nil, func(s sqlconn.Row) error {
		there, err := scan(s)
		if err != nil {
			return err
		}
		if why := t.wrong(there); why != "" {
			return errors.New(why)
		}
		for row != nil && compareKeys(key, row, there) < 0 {
			if err := take(); err != nil {
				return err
			}
		}
		if row != nil && compareKeys(key, row, there) == 0 {
			if equal(row, there) {
				row, source = next()
				return source
			}
			c.gone = append(c.gone, pick(key, there))
			return take()
		}
		c.gone = append(c.gone, pick(key, there))
		return c.note(c.gone[len(c.gone)-1])
	})
	for err == nil && row != nil {
		err = take()
	}
	if source != nil {
		return c, source
	}
	return c, outdated(t.Name, err)
}

// keyOf are the places of the columns of the key.
func keyOf(t Table) (places []int) {
	for _, name := range t.Key {
		for i, c := range t.Columns {
			if c.Name == name {
				places = append(places, i)
			}
		}
	}
	return places
}

func pick(places []int, row []any) (values []any) {
	for _, i := range places {
		values = append(values, row[i])
	}
	return values
}

// compareKeys orders two rows by their keys, as both databases do: numbers by size, texts and bytes byte by byte.
func compareKeys(places []int, a, b []any) int {
	for _, i := range places {
		var n int
		switch x := a[i].(type) {
		case int64:
			y, _ := b[i].(int64)
			n = cmp.Compare(x, y)
		case string:
			y, _ := b[i].(string)
			n = strings.Compare(x, y)
		case []byte:
			y, _ := b[i].([]byte)
			n = bytes.Compare(x, y)
		}
		if n != 0 {
			return n
		}
	}
	return 0
}

func equal(a, b []any) bool {
	for i := range a {
		if x, ok := a[i].([]byte); ok {
			if y, ok := b[i].([]byte); !ok || !bytes.Equal(x, y) {
				return false
			}
			continue
		}
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// apply deletes before it inserts: so no two rows have what only one may have.
func (u *Updater) apply(ctx context.Context, t Table, c changes) error {
	remove := fmt.Sprintf(`DELETE FROM %q WHERE %s`, t.Name, byKey(t))
	for _, key := range c.gone {
		if _, err := u.conn.Exec(ctx, remove, key...); err != nil {
			return err
		}
	}
	for _, row := range c.come {
		if _, err := u.conn.Exec(ctx, insert(t, 1), row...); err != nil {
			return err
		}
	}
	return nil
}

// Finish keeps the changes and closes the file. Errors: [ErrOutdated].
func (u *Updater) Finish(ctx context.Context) error {
	if _, err := u.conn.SQL.ExecContext(ctx, "COMMIT"); err != nil {
		return errors.Join(outdated(u.path, err), u.Abandon())
	}
	err := u.close()
	if err == nil {
		_, err = fsx.SyncFile(fsx.OS(), u.path)
	}
	return outdated(u.path, err)
}

// Abandon closes the file, which is as it was.
func (u *Updater) Abandon() error {
	if u.conn != nil {
		// If this rollback fails, the next process that opens the file undoes the changes.
		_, _ = u.conn.SQL.ExecContext(context.Background(), "ROLLBACK")
	}
	return u.close()
}

func (u *Updater) close() (err error) {
	if u.conn != nil {
		u.pool.Put(u.conn)
		u.conn = nil
	}
	if u.pool != nil {
		err, u.pool = u.pool.Close(), nil
	}
	return err
}
