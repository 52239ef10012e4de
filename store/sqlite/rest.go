package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// Forget implements [sqlcore.Database]: secure delete has overwritten what the
// transaction freed, and emptying the write-ahead log removes the copies it holds.
func (d *database) Forget(ctx context.Context) (remaining []string, err error) {
	emptied, err := d.emptyLog(ctx)
	if err == nil && !emptied {
		remaining = []string{"write-ahead log, until its readers are done"}
	}
	return remaining, err
}

// emptyLog copies the write-ahead log into the database and cuts it to zero.
// A reader on an old view, in this process or another, holds it up for as
// long as it reads; emptyLog tries for about a second, lets writers in between
// and reports whether the log is empty in the end.
func (d *database) emptyLog(ctx context.Context) (emptied bool, err error) {
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		err = d.direct(ctx, func(c *sqlconn.Conn) (err error) {
			emptied, err = emptyLog(ctx, c, d.o.BusyTimeout)
			return err
		})
		if err != nil || emptied || wait > time.Second {
			return emptied, sqlconn.Wrap("empty the write-ahead log", d.schema.File, err)
		}
		select {
		case <-ctx.Done():
			return false, sqlconn.Wrap("empty the write-ahead log", d.schema.File, ctx.Err())
		case <-time.After(wait):
		}
	}
}

// emptyLog tries once and does not wait for readers: writers would have to wait
// meanwhile.
func emptyLog(ctx context.Context, c *sqlconn.Conn, busyTimeout time.Duration) (emptied bool, err error) {
	if _, err := c.SQL.ExecContext(ctx, "PRAGMA busy_timeout=0"); err != nil {
		return false, err
	}
	defer func() {
		restore := fmt.Sprintf("PRAGMA busy_timeout=%d", busyTimeout.Milliseconds())
		_, rerr := c.SQL.ExecContext(context.WithoutCancel(ctx), restore)
		err = errors.Join(err, rerr)
	}()
	var busy, frames, done int
	err = c.SQL.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &done)
	return err == nil && busy == 0, err
}

// LogSize is how many bytes the write-ahead logs of both databases have.
func (s *Store) LogSize() (size int64) {
	for _, d := range []*database{s.memory, s.control} {
		size += d.logSize()
	}
	return size
}

func (d *database) logSize() int64 {
	c, err := d.ground.Current()
	if err != nil {
		return 0
	}
	info, err := os.Stat(filepath.Join(d.ground.GenDir(c), d.schema.File+"-wal"))
	if err != nil {
		return 0
	}
	return info.Size()
}

// Rest copies the write-ahead logs into the databases and cuts them to zero, for a process that
// has nothing to write and stays: the files are as they are when the last connection is closed.
// It tries once: where others read or write, a log stays as it is.
func (s *Store) Rest(ctx context.Context) error {
	for _, d := range []*database{s.memory, s.control} {
		if d.logSize() == 0 {
			continue
		}
		err := d.direct(ctx, func(c *sqlconn.Conn) error {
			_, err := emptyLog(ctx, c, s.o.BusyTimeout)
			return err
		})
		if err != nil {
			return sqlconn.Wrap("empty the write-ahead log", d.schema.File, err)
		}
	}
	return nil
}
