// Package folder carries an agent between a PostgreSQL database and a folder that is like the one of a generation in a home:
// memory.db and control.db, the notes with their history in memdir, the documents of runtime state in state, the files of the
// vault in state/vault.
//
// [Write] makes the folder of the live generation, all of one instant, or brings one that it made before up to date. [Read] says
// what [mirror.Import] needs to make a generation of a folder.
package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/gitobj"
	"github.com/amber-memory/amber/internal/pgdb"
	"github.com/amber-memory/amber/store/postgres"
	"github.com/amber-memory/amber/store/postgres/mirror"
	"github.com/amber-memory/amber/store/sqlite/rowfile"
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
}

func (o Options) git(dir string) gitobj.Options {
	return gitobj.Options{Dir: dir, Git: o.Git, Temp: o.Temp}
}

// Written says what was written.
type Written struct {
	mirror.Exported
	// Anew says why files were made of all rows; "" where those of before were brought up to date.
	Anew string
	// NoHistory says why the notes are there without their history; "" where they have it.
	NoHistory string
}

// seal is what a folder held when it was written. A folder that was changed since is made anew.
type seal struct {
	Format      int               `json:"format"`
	Incarnation string            `json:"incarnation"`
	Digests     map[string]string `json:"digests"` // of its parts
}

const sealFormat = 1

// Write makes a folder of the live generation of an agent. What the folder holds of an earlier call for the same generation is
// brought up to date; anything else in its place is removed. Writers go on meanwhile. All rows were compared when it returns. Nobody else
// uses the folder. Errors: not_found; damaged for notes that cannot be read; those of the database and the disk.
func Write(ctx context.Context, a mirror.Agent, dir string, o Options) (w Written, err error) {
	if err := fsx.MkdirAll(fsx.OS(), dir, 0o700); err != nil {
		return w, failed(dir, err)
	}
	_, current, err := a.Server.Live(ctx, a.Tenant, a.ID)
	if err != nil {
		return w, err
	}
	w.Anew = unsealed(ctx, dir, current.Incarnation)
	if ctx.Err() != nil {
		return w, failed(dir, ctx.Err())
	}
	// As long as there is no seal the folder is one that nobody goes on from.
	if err := remove(dir, sealName); err != nil {
		return w, err
	}
	why := w.Anew
	if why == "" {
		w, err = write(ctx, a, dir, o, true)
		if !errors.Is(err, rowfile.ErrOutdated) {
			return w, finish(ctx, dir, &w, err)
		}
		why = err.Error()
	}
	if err := remove(dir, memoryName, controlName, notesName, stateName); err != nil {
		return w, err
	}
	w, err = write(ctx, a, dir, o, false)
	w.Anew = why
	return w, finish(ctx, dir, &w, err)
}

// finish seals a folder that was written.
func finish(ctx context.Context, dir string, w *Written, err error) error {
	if err != nil {
		return err
	}
	return Seal(ctx, dir, w.Current.Incarnation)
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
func write(ctx context.Context, a mirror.Agent, dir string, o Options, update bool) (w Written, err error) {
	seen := map[string]bool{}
	state := filepath.Join(dir, stateName)
	w.Exported, err = mirror.Export(ctx, a, dir, mirror.ExportOptions{
		Update: update, Compare: mirror.Rows,
		Document: func(d mirror.Document) error {
			seen[d.Name+suffix] = true
			return writeDocument(state, d)
		},
		VaultFile: func(f mirror.VaultFile) error {
			at := filepath.Join(vaultName, mirror.VaultPlace(f.Place))
			seen[vaultName], seen[filepath.Dir(at)], seen[at] = true, true, true
			return writeFile(filepath.Join(state, filepath.Dir(at)), f.Place, f.Bytes)
		},
		Within: func(ctx context.Context, c *pgdb.Conn) (err error) {
			w.NoHistory, err = writeNotes(ctx, postgres.NotesIn(ctx, c), filepath.Join(dir, notesName), o)
			return err
		},
	})
	if err != nil {
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

// writeDocument writes a document, unless the file says the same.
func writeDocument(dir string, d mirror.Document) error {
	return writeFile(dir, d.Name+suffix, d.JSON)
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
		err = build(path, content)
	}
	return failed(path, err)
}

func build(path string, content []byte) error {
	f, err := fsx.Build(fsx.OS(), path, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// writeNotes makes the repository and the files of the notes, unless they are there already.
func writeNotes(ctx context.Context, rows postgres.NoteRows, dir string, o Options) (noHistory string, err error) {
	refs, err := rows.Refs()
	if err != nil {
		return "", err
	}
	there, found, err := gitobj.ReadRefs(fsx.OS(), dir)
	if err == nil && found && there.Equal(refs) {
		return "", nil
	}
	if err := fsx.RemoveAll(fsx.OS(), dir); err != nil || len(refs.Refs) == 0 {
		return "", failed(dir, err)
	}
	if err := fsx.MkdirAll(fsx.OS(), dir, 0o700); err != nil {
		return "", failed(dir, err)
	}
	switch err := gitobj.Build(ctx, o.git(dir), dir, refs, rows.Objects); {
	case amber.KindOf(err) == amber.KindUnsupported: // there is no git
		noHistory = err.Error()
	case err != nil:
		return "", err
	}
	return noHistory, rows.Checkout(dir)
}

// Seal notes what a folder holds, so that [Write] goes on from it. It is for a folder whose generation has become the live one.
func Seal(ctx context.Context, dir, incarnation string) error {
	s := seal{Format: sealFormat, Incarnation: incarnation}
	var err error
	if s.Digests, err = digests(ctx, dir); err != nil {
		return failed(dir, err)
	}
	b, err := json.Marshal(s)
	if err == nil {
		err = fsx.Replace(fsx.OS(), filepath.Join(dir, sealName), 0o600, b)
	}
	return failed(dir, err)
}

// unsealed says why a folder is not what was written there; "" when it is.
func unsealed(ctx context.Context, dir, incarnation string) string {
	b, err := fsx.ReadFile(fsx.OS(), filepath.Join(dir, sealName), 1<<20)
	if err != nil {
		return "there is no copy of the agent, or one that was not finished"
	}
	var s seal
	switch {
	case json.Unmarshal(b, &s) != nil || s.Format != sealFormat:
		return "the copy of the agent is of another version of Amber"
	case s.Incarnation != incarnation:
		return "the copy is of another generation of the agent"
	}
	is, err := digests(ctx, dir)
	if err != nil {
		return "the copy of the agent cannot be read: " + err.Error()
	}
	for _, name := range []string{memoryName, controlName, notesName, stateName} {
		if is[name] != s.Digests[name] {
			return fmt.Sprintf("%s in the copy of the agent is not what was written", name)
		}
	}
	return ""
}

// digests are those of the parts of a folder: files by their content, folders by the names and content of what is in them.
func digests(ctx context.Context, dir string) (map[string]string, error) {
	all := map[string]string{}
	for _, name := range []string{memoryName, controlName, notesName, stateName} {
		h := sha256.New()
		root := filepath.Join(dir, name)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && path == root {
				return nil
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			rel = filepath.ToSlash(rel)
			if !counts(rel) {
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			if d.IsDir() {
				return nil
			}
			fmt.Fprintf(h, "%d %s %d\n", len(rel), rel, d.Type())
			if !d.Type().IsRegular() {
				return nil
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			n, err := io.Copy(h, f)
			fmt.Fprintf(h, "%d\n", n)
			return err
		})
		if err != nil {
			return nil, err
		}
		all[name] = hex.EncodeToString(h.Sum(nil))
	}
	return all, nil
}

// counts reports whether a path is part of a digest: of a repository only its objects are, whose refs are compared with the database. Locks and
// pins come and go there.
func counts(rel string) bool {
	return rel == ".git" || !strings.HasPrefix(rel, ".git/") || rel == ".git/objects" || strings.HasPrefix(rel, ".git/objects/")
}
