// Package folder carries an agent between a PostgreSQL database and a folder that is like the one of a generation in a home:
// memory.db and control.db, the notes with their history in memdir, the documents of runtime state in state, the files of the
// vault in state/vault.
//
// [Write] makes the folder of the live generation, all of one instant, or brings one that it made before up to date. [Take] makes the
// folder of an agent that leaves the database. [Read] says what [mirror.Import] needs to make a generation of a folder.
package folder

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/store/rowfile"
)

// Names in a folder.
const (
	memoryName  = "memory.db"
	controlName = "control.db"
	notesName   = "memdir"
	stateName   = "state"
	vaultName   = "vault"  // in the state
	sealName    = "MIRROR" // what the folder held when it was last written
	suffix      = ".json"
)

// Options say how a folder is written and read.
type Options struct {
	Git  string // the program; "": the one in PATH
	Temp string // an existing folder for temporary files; "": that of the system
	// Every is after how many times [Write] compares all rows again; 1: always, 0: 10. Between them it reads and compares those that were
	// written since the last time, and counts the others.
	Every int
}

// every is the default of [Options.Every].
const every = 10

func (o Options) git(dir string) gitobj.Options {
	return gitobj.Options{Dir: dir, Git: o.Git, Temp: o.Temp}
}

// Written says what was written.
type Written struct {
	mirror.Exported
	// Anew says why files were made of all rows; "" where those of before were brought up to date.
	Anew string
	// AllCompared is the instant of which all rows were last compared with the database: that of the rows, unless only those that are new were
	// compared; see [mirror.Changes].
	AllCompared amber.Time
	// NoHistory says why the notes are there without their history; "" where they have it.
	NoHistory string
	Objects   int // of the history of the notes; 0 where it was there already
}

// Write makes a folder of the live generation of an agent. It updates the parts of the folder that are of an earlier
// call for the same generation, and removes anything else in their place. Writers go on meanwhile.
// [mirror.Exported.Compared] says what Write has compared when it returns: all rows the first time, and then as
// [Options.Every] says. No other process may use the folder meanwhile. Errors: not_found; damaged for notes that cannot
// be read; those of the database and the disk.
func Write(ctx context.Context, a mirror.Agent, dir string, o Options) (w Written, err error) {
	if err := fsx.MkdirAll(fsx.OS(), dir, 0o700); err != nil {
		return w, failed(dir, err)
	}
	_, current, err := a.Server.Live(ctx, a.Tenant, a.ID)
	if err != nil {
		return w, err
	}
	last, why := unsealed(ctx, dir, current.Incarnation, o)
	if ctx.Err() != nil {
		return w, failed(dir, ctx.Err())
	}
	// As long as the folder has no seal, no later call goes on from it.
	if err := remove(dir, sealName); err != nil {
		return w, err
	}
	if why == "" {
		w, err = write(ctx, a, dir, o, mirror.ExportOptions{Update: true, Since: last.since(dir, o)})
		if !errors.Is(err, rowfile.ErrOutdated) {
			return w, finish(ctx, dir, &w, last, err)
		}
		why = err.Error()
	}
	if err := remove(dir, memoryName, controlName, notesName, stateName); err != nil {
		return w, err
	}
	w, err = write(ctx, a, dir, o, mirror.ExportOptions{})
	w.Anew = why
	return w, finish(ctx, dir, &w, seal{}, err)
}

// Take writes an agent that leaves the database, or has left it, into the folder of a new generation, see
// [postgres.Server.BeginDeparture]. Files of the state that are neither documents nor of the vault stay. Errors: damaged for notes and
// documents that are not what the database says of them; unsupported without git; those of the database and the disk.
func Take(ctx context.Context, a mirror.Agent, dir string, o Options) (Written, error) {
	return write(ctx, a, dir, o, mirror.ExportOptions{Frozen: true})
}

// finish seals a folder that was written.
func finish(ctx context.Context, dir string, w *Written, last seal, err error) error {
	if err != nil {
		return err
	}
	s := seal{Incarnation: w.Current.Incarnation, Instant: w.Instant, AllCompared: w.At}
	if w.Compared == mirror.Changes {
		s.AllCompared, s.Times = last.AllCompared, last.Times+1
	}
	w.AllCompared = s.AllCompared
	return s.put(ctx, dir, last)
}

// failed is for what the disk or the context did.
func failed(path string, err error) error {
	if e := (*amber.Error)(nil); err == nil || errors.As(err, &e) {
		return err
	}
	return &amber.Error{Op: "write folder", Kind: amber.KindOf(err), ID: path, Err: err}
}

// remove removes files with their journals, and folders.
func remove(dir string, names ...string) error {
	for _, name := range names {
		for _, more := range []string{"", "-wal", "-shm", "-journal"} {
			if err := fsx.RemoveAll(fsx.OS(), filepath.Join(dir, name+more)); err != nil {
				return failed(dir, err)
			}
		}
	}
	return nil
}

// write writes everything of one instant.
func write(ctx context.Context, a mirror.Agent, dir string, o Options, e mirror.ExportOptions) (w Written, err error) {
	seen := map[string]bool{}
	state := filepath.Join(dir, stateName)
	e.Document = func(d mirror.Document) error {
		seen[d.Name+suffix] = true
		return writeFile(state, d.Name+suffix, d.JSON)
	}
	e.VaultFile = func(f mirror.VaultFile) error {
		at := filepath.Join(vaultName, mirror.VaultPlace(f.Place))
		seen[vaultName], seen[filepath.Dir(at)], seen[at] = true, true, true
		return writeFile(filepath.Join(state, filepath.Dir(at)), f.Place, f.Bytes)
	}
	e.Within = func(ctx context.Context, c *pgdb.Conn) error {
		return w.notes(ctx, postgres.NotesIn(ctx, c), filepath.Join(dir, notesName), o, e.Frozen)
	}
	w.Exported, err = mirror.Export(ctx, a, dir, e)
	if err != nil || e.Frozen {
		return w, failed(dir, err)
	}
	return w, prune(state, "", seen)
}

// prune removes what was not seen of a folder and of those in it.
func prune(root, dir string, seen map[string]bool) error {
	at := filepath.Join(root, dir)
	entries, err := fsx.OS().ReadDir(at)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed(at, err)
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case !seen[name]:
			err = fsx.RemoveAll(fsx.OS(), filepath.Join(root, name))
		case e.IsDir():
			err = prune(root, name, seen)
		default:
			continue
		}
		if err != nil {
			return failed(at, err)
		}
	}
	return nil
}

// writeFile writes a file, unless it says the same.
func writeFile(dir, name string, content []byte) error {
	path := filepath.Join(dir, name)
	if b, err := fsx.ReadFile(fsx.OS(), path, int64(len(content))+1); err == nil && string(b) == string(content) {
		return nil
	}
	err := fsx.MkdirAll(fsx.OS(), dir, 0o700)
	if err == nil {
		err = fsx.RemoveAll(fsx.OS(), path)
	}
	if err == nil {
		err = fsx.BuildOf(fsx.OS(), path, 0o600, content)
	}
	return failed(path, err)
}

// notes makes the repository of the notes and their files, unless they are there already. Without git the files alone are enough, but
// for notes that have to be whole.
func (w *Written) notes(ctx context.Context, rows postgres.NoteRows, dir string, o Options, whole bool) error {
	refs, err := rows.Refs()
	if err != nil {
		return err
	}
	there, found, err := gitobj.ReadRefs(fsx.OS(), dir)
	if err == nil && found && there.Equal(refs) {
		return nil
	}
	if err := fsx.RemoveAll(fsx.OS(), dir); err != nil || len(refs.Refs) == 0 {
		return failed(dir, err)
	}
	if err := fsx.MkdirAll(fsx.OS(), dir, 0o700); err != nil {
		return failed(dir, err)
	}
	err = gitobj.Build(ctx, o.git(dir), dir, refs, func(yield func(string, []byte) error) error {
		return rows.Objects(func(oid string, raw []byte) error {
			w.Objects++
			return yield(oid, raw)
		})
	})
	if amber.KindOf(err) == amber.KindUnsupported && !whole { // there is no git
		w.NoHistory = err.Error()
		return rows.Checkout(dir)
	}
	if err == nil {
		there, _, err = gitobj.ReadRefs(fsx.OS(), dir)
	}
	if err != nil {
		return err
	}
	if !there.Equal(refs) {
		return amber.Errorf(amber.KindInternal, "write folder", dir, "the repository of the notes that was written has other references than the database")
	}
	return rows.Checkout(dir)
}
