package notes

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// ReadNote returns one note as its file holds it. Its commit is the last one that changed it, and "" when
// the file holds something newer. Errors: not_found, invalid; damaged when the file is no text, is too large, or when the repository
// must not be used; conflict when it is no regular file.
func (d *Dir) ReadNote(ctx context.Context, name string) (amber.Note, error) {
	name, err := amber.CheckNoteName(name)
	if err != nil {
		return amber.Note{}, err
	}
	var note amber.Note
	err = d.read(ctx, func(r *repo) error {
		name = notefile.Spelled(r, name)
		file, err := notefile.Find(r, name)
		if err != nil {
			return err
		}
		if file == nil {
			return notefile.NotFound()
		}
		h, err := r.history()
		if err == nil {
			note, err = r.note(ctx, h, name)
		}
		return err
	})
	return note, wrap("read note", name, err)
}

// note returns the note with its commit.
func (r *repo) note(ctx context.Context, h *notefile.History, name string) (amber.Note, error) {
	note, err := r.load(name)
	if err != nil {
		return amber.Note{}, err
	}
	last, found, err := h.Last(ctx, name)
	if err != nil {
		return amber.Note{}, err
	}
	if found && last.File.OID == gitobj.BlobID([]byte(note.Content)) {
		note.Commit, note.NoteBy = last.OID, notefile.By(last.By)
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

// ListNotes returns every note by name, without content and without commit. A note is listed
// whatever its file holds. Errors: quota when the folder holds more than 100 000 files and folders.
func (d *Dir) ListNotes(ctx context.Context) ([]amber.Note, error) {
	var list []amber.Note
	err := d.read(ctx, func(r *repo) error {
		w := walk{fsys: r.fsys, dir: r.dir, most: notefile.MaxEntries}
		err := w.folder(ctx, "")
		for file, info := range w.files {
			name, _ := notefile.NameOf(file)
			list = append(list, amber.Note{Name: name, Bytes: info.Size(), UpdatedAt: amber.At(info.ModTime())})
		}
		return err
	})
	if err != nil {
		return nil, wrap("list notes", "", err)
	}
	slices.SortFunc(list, func(a, b amber.Note) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// LoadNotes calls fn with every note by name and with its text, without commit: one walk and one look at each file,
// however many there are. For a note whose file holds no text it calls fn with the name and an error
// of kind damaged. Errors: those of fn and of [Dir.ListNotes].
func (d *Dir) LoadNotes(ctx context.Context, fn func(amber.Note, error) error) error {
	notes, err := d.ListNotes(ctx)
	if err != nil {
		return err
	}
	return d.read(ctx, func(r *repo) error {
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
