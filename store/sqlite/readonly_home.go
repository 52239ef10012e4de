package sqlite

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/store/home"
)

// A home that cannot be written, because its file system is mounted read-only or
// because it belongs to another user, can be read. SQLite needs a shared-memory file
// beside a database in WAL mode, so the store opens such a database as one that no
// process changes; after each read it checks that the files are as they were. Where a
// write-ahead log holds changes, the store copies both files, since SQLite would leave
// the log out.

// readOnlyHome is the error of a write to a home that is read-only.
func readOnlyHome(op, id, dir string) error {
	return amber.Errorf(amber.KindRefused, op, id, "the folder %s is read-only: memory can be read and not changed", dir).
		WithHint("make the folder writable, or choose another with --home")
}

// stamp is what a file looks like from outside; zero for one that is not there.
type stamp struct {
	size int64
	at   time.Time
}

func stampOf(path string) (s stamp, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return s, err
	}
	return stamp{info.Size(), info.ModTime()}, nil
}

// resting is a database that the store assumes no process to change.
type resting struct {
	path    string
	db, wal stamp
}

func lookAtRest(path string) (s resting, err error) {
	s.path = path
	var derr, werr error
	s.db, derr = stampOf(path)
	s.wal, werr = stampOf(path + "-wal")
	if s.wal.size == 0 { // it comes and goes with the programs that open the database
		s.wal = stamp{}
	}
	return s, errors.Join(derr, werr)
}

// check returns an error of kind busy if the database has changed.
func (s *resting) check() error {
	if s == nil {
		return nil
	}
	now, err := lookAtRest(s.path)
	if err == nil && now != *s {
		err = amber.Errorf(amber.KindBusy, "read database", s.path, "the file changed during the read; its folder is read-only for this process")
	}
	return err
}

// openResting opens the database of a folder that cannot be written.
func (d *database) openResting(c home.Current, path string) (*handles, error) {
	s, err := lookAtRest(path)
	if err != nil {
		return nil, sqlconn.Wrap("open database", path, err)
	}
	h := &handles{current: c, resting: &s}
	where := sqlconn.FileURI(path, restingDSN(d.o.BusyTimeout))
	if s.wal.size > 0 {
		dir, err := copyResting(s)
		if err != nil {
			return nil, sqlconn.Wrap("open database", path, err)
		}
		h.resting, h.copied = nil, dir
		where = sqlfile.Dsn(filepath.Join(dir, filepath.Base(path)), sqlfile.Read, d.o.BusyTimeout)
	}
	if h.readers, err = sqlconn.Open(where, d.o.Readers); err != nil {
		return nil, errors.Join(sqlconn.Wrap("open database", path, err), h.close())
	}
	return h, nil
}

// restingDSN opens a file without locks and without anything beside it.
func restingDSN(busy time.Duration) url.Values {
	q := url.Values{"mode": {"ro"}, "immutable": {"1"}, "_dqs": {"0"}}
	for _, p := range sqlfile.Pragmas(sqlfile.Read, busy) {
		q.Add("_pragma", p)
	}
	return q
}

// copyResting copies a database and its log to a folder of this process, again
// when another process changes them meanwhile.
func copyResting(s resting) (dir string, err error) {
	const tries = 5
	for range tries {
		if dir, err = os.MkdirTemp("", "amber-readonly-"); err != nil {
			return "", err
		}
		to := filepath.Join(dir, filepath.Base(s.path))
		err = errors.Join(sqlfile.Copy(s.path, to), sqlfile.Copy(s.path+"-wal", to+"-wal"))
		if now, serr := lookAtRest(s.path); err == nil && serr == nil && now == s {
			return dir, nil
		} else if serr == nil {
			s = now
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return "", errors.Join(err, amber.Errorf(amber.KindBusy, "read database", s.path, "the file changed during each of %d attempts to copy it", tries))
}

// readOnly reports whether the folder of the live generation cannot be written.
func (d *database) readOnly() (dir string, is bool) {
	c, err := d.ground.Current()
	if err != nil {
		return "", false
	}
	dir = d.ground.GenDir(c)
	return dir, d.frozen(dir)
}

// frozen reports whether a folder cannot be written.
func (d *database) frozen(dir string) bool { return d.o.ReadOnly != nil && d.o.ReadOnly(dir) }

// ReadOnly reports whether the databases can be read and not written.
func (s *Store) ReadOnly() bool {
	_, is := s.memory.readOnly()
	return is
}
