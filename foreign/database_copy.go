package foreign

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/sqlconn"
)

// A database has up to three files; the journal or the log may hold what is not in the first one yet.
var databaseSuffixes = []string{"", "-wal", "-journal"}

const databaseHeader = 100

// checkDatabase looks whether a file can be a database at all, by its header. The error is of kind damaged.
func checkDatabase(name, real string) error {
	fail := func(why string, args ...any) error {
		return amber.Errorf(amber.KindDamaged, "open database", name, why, args...)
	}
	f, err := os.Open(real)
	if err != nil {
		return fail("%w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fail("%w", err)
	}
	head := make([]byte, databaseHeader)
	if _, err := io.ReadFull(f, head); err != nil || string(head[:len(databaseMagic)]) != databaseMagic {
		return fail("the file does not begin as a SQLite database does")
	}
	size := int64(binary.BigEndian.Uint16(head[16:]))
	if size == 1 {
		size = 1 << 16
	}
	switch {
	case size < 512 || size&(size-1) != 0:
		return fail("page size in the header is %d, want a power of two from 512 to 65536", size)
	case info.Size() < size:
		return fail("the file has %d bytes, want at least one page of %d", info.Size(), size)
	}
	return nil
}

// besides reports whether a journal or a log lies beside a database.
func besides(real string) bool {
	for _, suffix := range databaseSuffixes[1:] {
		if info, err := os.Stat(real + suffix); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

// copyHelps reports whether a database that could not be opened may be opened in a copy: because a journal waits, or because its
// folder cannot be written. What is damaged is damaged in a copy, too.
func copyHelps(err error, besides bool) bool {
	return besides || amber.KindOf(sqlconn.Wrap("open database", "", err)) != amber.KindDamaged
}

// checkCopy bounds the files of a database that are to be copied, all together. The error is of kind invalid.
func checkCopy(real string, most int64) error {
	total := int64(0)
	for _, suffix := range databaseSuffixes {
		info, err := os.Stat(real + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist) && suffix != "":
			continue
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return amber.Errorf(amber.KindInvalid, "copy database", "", "the file with %q behind its name is not a regular file", suffix)
		}
		if total += info.Size(); total > most {
			return amber.Errorf(amber.KindInvalid, "copy database", "", "database and log have more than %d bytes, the limit", most)
		}
	}
	return nil
}

// copyDatabase copies a database with the files beside it.
func (t *Tree) copyDatabase(real string) (copied string, err error) {
	if err := checkCopy(real, MaxUnpacked); err != nil {
		return "", err
	}
	for _, suffix := range databaseSuffixes {
		in, err := os.Open(real + suffix)
		if err != nil && suffix != "" {
			continue
		}
		if err != nil {
			return "", err
		}
		out, err := t.copyOf(copied, suffix)
		if err != nil {
			return "", errors.Join(err, in.Close())
		}
		if suffix == "" {
			copied = out.Name()
		}
		if err := errors.Join(t.copyAll(out, in), in.Close(), out.Close()); err != nil {
			return "", err
		}
	}
	return copied, nil
}

// copyOf makes the file for a copy: of the database itself, or beside that.
func (t *Tree) copyOf(copied, suffix string) (fsx.File, error) {
	if suffix == "" {
		return t.temp("database-*")
	}
	return fsx.OS().OpenFile(copied+suffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// copyAll copies a file as long as it is now: its program may go on writing to it.
func (t *Tree) copyAll(out io.Writer, in *os.File) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(t.rationed(in), info.Size()))
	return err
}
