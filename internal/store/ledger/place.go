package ledger

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// place makes sure that there is a regular file, and makes a new database where
// there never was one.
func place(ctx context.Context, path string, o Options, s sqlconn.Schema) error {
	const op = "open database"
	dir := filepath.Dir(path)
	if name, network := o.NetworkFS(dir); network {
		return amber.Errorf(amber.KindRefused, op, dir, "%s is a network file system; its locks do not keep a write-ahead log safe", name).
			WithHint("choose a local folder with --home")
	}
	there, err := isFile(path)
	if err != nil {
		return err
	}
	if there {
		return settleName(dir, o)
	}
	if trace, err := traces(path, o); err != nil {
		return err
	} else if trace != "" {
		// A process that makes a database makes the file first.
		if there, err := isFile(path); err != nil || there {
			return err
		}
		return amber.Errorf(amber.KindDamaged, op, path, "the database is missing, but %s exists", trace).
			WithHint("put the database back from a backup; to begin without tokens and audit log, remove " + trace)
	}
	if o.Look {
		return amber.Errorf(amber.KindNotFound, op, path, "the database does not exist yet")
	}
	image, err := s.Image(ctx, func(*sql.Conn) error { return nil })
	if err != nil {
		return sqlconn.Wrap("make database", "", err)
	}
	err = fsx.CreateNew(fsx.OS(), path, 0o600, image)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return settleName(dir, o)
	}
	return diskerr.Own("make database", path, err)
}

// settleName makes the name of a file durable: another process may have made the file a moment ago.
func settleName(dir string, o Options) error {
	if o.Look {
		return nil
	}
	return diskerr.Own("open database", dir, fsx.OS().SyncDir(dir))
}

// traces returns what a database has left that is gone, "" when there is none.
// A log of another file must never lie beside a new one: SQLite would read it.
func traces(path string, o Options) (string, error) {
	for _, name := range []string{path + "-wal", o.Head} {
		if name == "" {
			continue
		}
		_, err := fsx.OS().Lstat(name)
		if err == nil {
			return name, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", diskerr.Own("open database", name, err)
		}
	}
	return "", nil
}

// isFile reports whether path is there, and refuses what must not be handed to
// SQLite: a link, a pipe.
func isFile(path string) (bool, error) {
	info, err := fsx.OS().Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, diskerr.Own("open database", path, err)
	case !info.Mode().IsRegular():
		return false, damaged("open database", path, "database is not a regular file")
	}
	return true, nil
}
