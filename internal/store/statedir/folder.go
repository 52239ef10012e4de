package statedir

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/store/home"
)

const (
	folderName = "state" // below the generation
	suffix     = ".json"
	// maxFile bounds a file: other systems write documents with white space.
	maxFile = 4 * amber.MaxDocumentBytes
)

// folder is the runtime state in one generation.
type folder struct {
	fs  fsx.FS
	dir string
}

func (d *Dir) folder(c home.Current) folder {
	return folder{fs: d.fs, dir: filepath.Join(d.agent.GenDir(c), folderName)}
}

func (f folder) path(name string) string { return filepath.Join(f.dir, name+suffix) }

// exists reports whether the folder is there. A link or a file in its place is
// damage: documents behind it would be outside of the agent.
func (f folder) exists(op string) (bool, error) {
	info, err := f.fs.Lstat(f.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, disk(op, folderName, err)
	case !info.IsDir():
		return false, damaged(op, folderName, "state is not a folder")
	}
	return true, nil
}

// get reads one document. Errors: not_found, damaged.
func (f folder) get(op, name string) (amber.Document, error) {
	there, err := f.exists(op)
	if err != nil {
		return amber.Document{}, err
	}
	if !there {
		return amber.Document{}, notFound(op, name)
	}
	b, err := fsx.ReadFile(f.fs, f.path(name), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return amber.Document{}, notFound(op, name)
	}
	if err != nil {
		return amber.Document{}, disk(op, name, err)
	}
	doc, err := amber.NewDocument(name, b)
	if err != nil {
		return amber.Document{}, damaged(op, name, "the file is not a document: "+reason(err))
	}
	return doc, nil
}

// names returns the names of all documents, sorted. It leaves out entries that are no documents,
// such as the folder of a vault.
func (f folder) names(op string) ([]string, error) {
	there, err := f.exists(op)
	if err != nil || !there {
		return nil, err
	}
	entries, err := f.fs.ReadDir(f.dir)
	if err != nil {
		return nil, disk(op, folderName, err)
	}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if ok && !e.IsDir() && amber.CheckDocumentName(name) == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// list returns every document without its text.
func (f folder) list(ctx context.Context, op string) ([]amber.Document, error) {
	names, err := f.names(op)
	if err != nil {
		return nil, err
	}
	list := []amber.Document{}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, &amber.Error{Op: op, Kind: amber.KindUnreachable, Err: err}
		}
		doc, err := f.get(op, name)
		switch amber.KindOf(err) {
		case "":
			doc.Document = nil
		case amber.KindNotFound: // deleted meanwhile
			continue
		case amber.KindDamaged:
			doc = amber.Document{Name: name, Damage: reason(err)}
		default:
			return nil, err
		}
		list = append(list, doc)
	}
	return list, nil
}

// put stores a document and returns when it is durable. The caller has the turn.
func (f folder) put(w amber.DocumentWrite) error {
	const op = "write document"
	stored, err := f.get(op, w.Name)
	switch kind := amber.KindOf(err); {
	case kind == amber.KindDamaged && w.IfAbsent:
		stored.Revision = "damaged" // something is there
	case kind == amber.KindDamaged && w.IfRevision == "", kind == amber.KindNotFound:
	case err != nil:
		return err
	}
	names, err := f.names(op)
	if err != nil {
		return err
	}
	if err := w.Allow(stored.Revision, len(names)); err != nil {
		return f.settled(op, w.Name, err)
	}
	if err := fsx.MkdirAll(f.fs, f.dir, 0o700); err != nil {
		return disk(op, folderName, err)
	}
	// Killed writers leave temporary files. No other process writes here now.
	if _, err := fsx.SweepTemp(f.fs, f.dir); err != nil {
		return disk(op, folderName, err)
	}
	return disk(op, w.Name, fsx.Replace(f.fs, f.path(w.Name), 0o600, w.Document))
}

// settled returns why a change was not made. Before that it makes the document durable that was
// found in its place: the process that wrote it may have died before it did so, and the caller
// builds on the answer.
func (f folder) settled(op, name string, why error) error {
	if there, err := f.exists(op); err != nil || !there {
		return errors.Join(why, err)
	}
	if err := f.fs.SyncDir(f.dir); err != nil {
		return disk(op, name, err)
	}
	return why
}

// remove removes a document and returns when that is durable. The caller has the
// turn.
func (f folder) remove(name, ifRevision string) error {
	const op = "delete document"
	doc, err := f.get(op, name)
	kind := amber.KindOf(err)
	if err != nil && kind != amber.KindDamaged && kind != amber.KindNotFound {
		return err
	}
	if kind == amber.KindDamaged && ifRevision != "" {
		return err
	}
	if why := amber.AllowDelete(name, ifRevision, doc.Revision); why != nil {
		return f.settled(op, name, why)
	}
	if kind == amber.KindNotFound {
		return f.settled(op, name, err)
	}
	if info, err := f.fs.Lstat(f.path(name)); err == nil && info.IsDir() {
		return damaged(op, name, "a folder lies in the place of the document")
	}
	if err := f.fs.Remove(f.path(name)); err != nil {
		return disk(op, name, err)
	}
	return disk(op, name, f.fs.SyncDir(f.dir))
}
