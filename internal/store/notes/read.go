package notes

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// ReadNote returns one note as its file holds it. Its commit is the last one that changed it, and "" when
// the file holds something newer, or when there is no git to ask. Errors: not_found, invalid; damaged when the
// file is no text, is too large, or when the repository must not be used; conflict when it is no regular
// file; unreachable when git hangs.
func (d *Dir) ReadNote(ctx context.Context, name string) (amber.Note, error) {
	name, err := amber.CheckNoteName(name)
	if err != nil {
		return amber.Note{}, err
	}
	var note amber.Note
	err = d.guard.Read(ctx, func(dir string) error {
		r := d.repoAt(dir)
		name = notefile.Spelled(r, name)
		file, err := notefile.Find(r, name)
		if err != nil {
			return err
		}
		if file == nil {
			return notefile.NotFound()
		}
		note, err = r.note(ctx, name)
		return err
	})
	return note, wrap("read note", name, err)
}

// note returns the note with its commit.
func (r *repo) note(ctx context.Context, name string) (amber.Note, error) {
	note, err := r.load(name)
	if err != nil {
		return amber.Note{}, err
	}
	last, err := r.history(ctx, name, 1)
	if amber.KindOf(err) == amber.KindUnsupported {
		return note, nil // the text needs no git
	}
	if err != nil {
		return amber.Note{}, err
	}
	if len(last) == 1 && last[0].blob == gitobj.BlobID([]byte(note.Content)) {
		note.Commit, note.NoteBy = last[0].Commit, last[0].NoteBy
	}
	return note, nil
}

// load returns the note as the file holds it, without a commit.
func (r *repo) load(name string) (amber.Note, error) {
	info, err := r.fsys.Lstat(r.filePath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return amber.Note{}, notefile.NotFound()
	}
	if err != nil {
		return amber.Note{}, err
	}
	content, err := fsx.ReadFile(r.fsys, r.filePath(name), amber.MaxContentBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return amber.Note{}, notefile.NotFound()
	case errors.Is(err, fsx.ErrTooLarge):
		return amber.Note{}, notefile.TooLarge()
	case err != nil:
		return amber.Note{}, err
	}
	if err := notefile.CheckText(content); err != nil {
		return amber.Note{}, err
	}
	return amber.Note{
		Name:      name,
		Content:   string(content),
		Bytes:     int64(len(content)),
		UpdatedAt: amber.At(info.ModTime()),
	}, nil
}

// ListNotes returns every note by name, without content and without commit. It needs no git. A note is listed
// whatever its file holds. Errors: quota when the folder holds more than 100 000 files and folders.
func (d *Dir) ListNotes(ctx context.Context) ([]amber.Note, error) {
	var w walk
	err := d.guard.Read(ctx, func(dir string) error {
		w = walk{fsys: d.fsys, dir: dir}
		return w.folder(ctx, "")
	})
	if err != nil {
		return nil, wrap("list notes", "", err)
	}
	slices.SortFunc(w.notes, func(a, b amber.Note) int { return strings.Compare(a.Name, b.Name) })
	return w.notes, nil
}

// LoadNotes calls fn with every note by name and with its text, without commit: one walk and one look at each file,
// however many there are. It needs no git. For a note whose file holds no text it calls fn with the name and an error
// of kind damaged. Errors: those of fn and of [Dir.ListNotes].
func (d *Dir) LoadNotes(ctx context.Context, fn func(amber.Note, error) error) error {
	notes, err := d.ListNotes(ctx)
	if err != nil {
		return err
	}
	return d.guard.Read(ctx, func(dir string) error {
		r := d.repoAt(dir)
		for _, n := range notes {
			if err := ctx.Err(); err != nil {
				return err
			}
			note, err := r.load(n.Name)
			switch amber.KindOf(err) {
			case amber.KindNotFound: // deleted since
				continue
			case "":
			case amber.KindDamaged:
				note, err = n, wrap("read note", n.Name, err)
			default:
				return wrap("read note", n.Name, err)
			}
			if err := fn(note, err); err != nil {
				return err
			}
		}
		return nil
	})
}

// walk collects the notes of a folder.
type walk struct {
	fsys  fsx.FS
	dir   string
	seen  int
	notes []amber.Note
}

// folder goes through the folder at a slash-separated path. Names bound how deep it goes.
func (w *walk) folder(ctx context.Context, rel string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := w.fsys.ReadDir(filepath.Join(w.dir, filepath.FromSlash(rel)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if w.seen += len(entries); w.seen > notefile.MaxEntries {
		return notefile.TooMany()
	}
	for _, e := range entries {
		if err := w.visit(ctx, path.Join(rel, e.Name()), e); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) visit(ctx context.Context, rel string, e fs.DirEntry) error {
	if e.IsDir() {
		if _, err := amber.CheckNoteName(rel + "/x"); err != nil {
			return nil
		}
		return w.folder(ctx, rel)
	}
	name, isNote := notefile.NameOf(rel)
	if !isNote || !e.Type().IsRegular() {
		return nil
	}
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted since the folder was read
	}
	if err != nil {
		return err
	}
	w.notes = append(w.notes, amber.Note{Name: name, Bytes: info.Size(), UpdatedAt: amber.At(info.ModTime())})
	return nil
}
