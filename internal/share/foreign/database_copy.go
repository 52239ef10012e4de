package foreign

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlpages"
)

const (
	// logSuffix ends the name of the write-ahead log of a database: what its program committed last is there alone.
	logSuffix = "-wal"
	// journalSuffix ends the name of a rollback journal. It is never played back: it holds half a change, and may name another
	// file, which SQLite deletes.
	journalSuffix = "-journal"
)

// copyTries is how often a database is copied whose program begins its log anew meanwhile.
const copyTries = 3

// still returns where a database lies that no program changes by its log: the file itself where it has no log, otherwise
// a copy of both in one.
func (t *Tree) still(f File) (string, error) {
	if copied, ok := t.stills[f.Name]; ok {
		return copied, nil
	}
	if log, err := t.openLog(f); err != nil {
		return "", err
	} else if log == nil {
		return t.Local(f)
	} else if err := log.Close(); err != nil {
		return "", err
	}
	copied, err := t.copyDatabase(f)
	if err != nil {
		return "", err
	}
	if t.stills == nil {
		t.stills = map[string]string{}
	}
	t.stills[f.Name] = copied
	return copied, nil
}

// openLog opens the log of a database; nil where there is none.
func (t *Tree) openLog(f File) (*os.File, error) {
	real := f.real + logSuffix
	if beside, ok := t.File(f.Name + logSuffix); ok {
		var err error
		if real, err = t.Local(beside); err != nil {
			return nil, err
		}
	} else if !t.single || t.sent {
		return nil, nil
	}
	info, err := os.Lstat(real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, amber.Errorf(amber.KindInvalid, "open database", "", "the file with %q behind its name is not a regular file", logSuffix)
	case info.Size() == 0:
		return nil, nil
	}
	return os.Open(real)
}

// copyDatabase copies a database as it was at one instant, with what its log has committed. While its program goes on, it
// may write into the database what is in the log, which the copy has from there. Only a log that begins anew may have left behind pages
// that the copy lacks, and then it is made again.
func (t *Tree) copyDatabase(f File) (string, error) {
	for range copyTries {
		before, err := t.stateOf(f)
		if err != nil {
			return "", err
		}
		copied, err := t.copyOnce(f)
		if err != nil {
			return "", err
		}
		after, err := t.stateOf(f)
		if err != nil || before == after {
			return copied, err
		}
		if err := os.Remove(copied); err != nil {
			return "", err
		}
	}
	return "", amber.Errorf(amber.KindBusy, "copy database", f.Name, "a program wrote to it during each of %d copies", copyTries).
		WithHint("close the program, then import again")
}

// state is what stays the same while a copy is whole: the beginning of the log or, without one, the file.
type state struct {
	log  [sqlpages.LogHeaderBytes]byte
	size int64
	at   int64
}

func (t *Tree) stateOf(f File) (s state, err error) {
	log, err := t.openLog(f)
	if err != nil {
		return s, err
	}
	if log != nil {
		_, err = io.ReadFull(log, s.log[:])
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil // no program has begun it
		}
		return s, errors.Join(err, log.Close())
	}
	if f.InZip() {
		return s, nil
	}
	info, err := os.Stat(f.real)
	if err == nil {
		s.size, s.at = info.Size(), info.ModTime().UnixNano()
	}
	return s, err
}

// copyOnce copies a database and then applies its log.
func (t *Tree) copyOnce(f File) (copied string, err error) {
	in, err := f.Raw()
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := t.temp("database-*")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	size, err := io.Copy(out, io.LimitReader(t.rationed(in), MaxUnpacked+1))
	if err == nil && size > MaxUnpacked {
		err = amber.Errorf(amber.KindInvalid, "copy database", f.Name, "database has more than %d bytes, the limit", int64(MaxUnpacked))
	}
	if err != nil {
		return "", err
	}
	log, err := t.openLog(f)
	if err != nil || log == nil {
		return out.Name(), err
	}
	_, err = sqlpages.ApplyLog(out, size, log)
	if err = errors.Join(err, log.Close()); err != nil {
		return "", fmt.Errorf("the log %s: %w", f.Name+logSuffix, err)
	}
	return out.Name(), nil
}

// tellJournals reports rollback journals. Without its journal a database may hold half a change.
func (t *Tree) tellJournals() {
	for _, f := range t.files {
		name := f.Name + journalSuffix
		j, ok := t.File(name)
		if !ok && t.single && !t.sent {
			j, ok = File{Name: name, open: openReal(f.real + journalSuffix)}, isRegular(f.real+journalSuffix)
		}
		if head := j.headIf(ok); len(head) > 0 && head[0] != 0 && f.IsDatabase() {
			t.skip(name, "is the journal of an unfinished change, which is not played back: let its program open the database, then import again")
		}
	}
}

// headIf returns the first byte of a file that is there. A journal that begins with zero is over.
func (f File) headIf(there bool) []byte {
	if !there {
		return nil
	}
	r, err := f.Raw()
	if err != nil {
		return nil
	}
	defer r.Close()
	head := make([]byte, 1)
	n, _ := io.ReadFull(r, head)
	return head[:n]
}

func isRegular(real string) bool {
	info, err := os.Lstat(real)
	return err == nil && info.Mode().IsRegular()
}
