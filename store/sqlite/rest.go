package sqlite

import (
	"context"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber/internal/sqlconn"
)

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
