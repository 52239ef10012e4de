package notes

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// WriteNote stores the text of a note and returns once the commit is durable. Equal content makes no
// commit. Errors: invalid; conflict when the folder has an entry that is not a note under that name,
// or a note under another spelling of it, or when another program moves the branch meanwhile; damaged when the repository must not
// be used; unreachable when ctx ends. After an error the note has the old content or the new; the write may be repeated.
func (d *Dir) WriteNote(ctx context.Context, w amber.NoteWrite) (amber.Note, error) {
	name, err := amber.CheckNoteName(w.Name)
	if err != nil {
		return amber.Note{}, err
	}
	if err := amber.CheckNoteContent(w.Content); err != nil {
		return amber.Note{}, err
	}
	var note amber.Note
	err = d.write(ctx, func(r *repo) error {
		st, err := r.open(ctx)
		if err != nil {
			return err
		}
		name = notefile.Spelled(r, name)
		note, err = r.writeNote(ctx, st, name, []byte(w.Content), w.NoteBy.Stored())
		r.saveIndex(&st.index)
		return err
	})
	return note, wrap("write note", name, err)
}

func (r *repo) writeNote(ctx context.Context, st *status, name string, content []byte, by amber.NoteBy) (amber.Note, error) {
	old, exists, err := r.current(name)
	if err != nil {
		return amber.Note{}, err
	}
	if err := r.recover(ctx, st); err != nil {
		return amber.Note{}, err
	}
	if exists && bytes.Equal(old, content) {
		return r.note(ctx, st.History, name)
	}
	c := change{name: name, blob: gitobj.NewBlob(content)}
	next, err := r.commit(st, notefile.Message(by, notefile.OpWrite, name), []change{c}, func() error { return r.replaceFile(name, content) })
	if err != nil {
		return amber.Note{}, err
	}
	note, err := r.load(name)
	note.Commit, note.NoteBy = next.OID, by
	return note, err
}

func (r *repo) replaceFile(name string, content []byte) error {
	file := r.filePath(name)
	if err := fsx.MkdirAll(r.fsys, filepath.Dir(file), dirPerm); err != nil {
		return err
	}
	return fsx.Replace(r.fsys, file, filePerm, content)
}

// DeleteNote removes a note and returns once that commit is durable; the history stays. Errors: not_found,
// and those of [Dir.WriteNote].
func (d *Dir) DeleteNote(ctx context.Context, name string, by amber.NoteBy) error {
	name, err := amber.CheckNoteName(name)
	if err != nil {
		return err
	}
	err = d.write(ctx, func(r *repo) error {
		name = notefile.Spelled(r, name)
		if err := r.vetDelete(name); err != nil {
			return err
		}
		st, err := r.open(ctx)
		if err != nil {
			return err
		}
		err = r.deleteNote(ctx, st, name, by.Stored())
		r.saveIndex(&st.index)
		return err
	})
	return wrap("delete note", name, err)
}

// vetDelete keeps a delete of nothing from making a repository.
func (r *repo) vetDelete(name string) error {
	ready, err := r.vet()
	if ready || err != nil {
		return err
	}
	file, err := notefile.Find(r, name)
	if err == nil && file == nil {
		err = notefile.NotFound()
	}
	return err
}

func (r *repo) deleteNote(ctx context.Context, st *status, name string, by amber.NoteBy) error {
	_, exists, err := r.current(name)
	if err != nil && !errors.Is(err, notefile.ErrSpelling) {
		return err
	}
	if !exists {
		if st.files[name+notefile.Suffix].OID == "" {
			return notefile.NotFound()
		}
		// A person or another program removed the file: that is this very delete, not one to recover before it.
		delete(st.files, name+notefile.Suffix)
	}
	if err := r.recover(ctx, st); err != nil {
		return err
	}
	_, err = r.commit(st, notefile.Message(by, notefile.OpDelete, name), []change{{name: name}}, func() error { return r.remove(name) })
	return err
}

// remove removes the file of a note, and the folders that are empty then.
func (r *repo) remove(name string) error {
	if err := fsx.Remove(r.fsys, r.filePath(name)); err != nil {
		return err
	}
	dir := filepath.Dir(r.filePath(name))
	for elem := path.Dir(name); elem != "."; elem = path.Dir(elem) {
		if err := r.fsys.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			break // it holds something else
		}
		dir = filepath.Dir(dir)
	}
	return r.fsys.SyncDir(dir)
}

// current returns what the file of a note holds and whether there is one. Unlike repo.content it refuses,
// with kind conflict, whatever a write under this name would destroy or confuse.
func (r *repo) current(name string) (content []byte, exists bool, err error) {
	file, err := notefile.Locate(r, name)
	if err != nil || file == nil {
		return nil, false, err
	}
	content, exists, err = r.content(name)
	if errors.Is(err, errNoNote) {
		err = notefile.InTheWay(name+notefile.Suffix, "is too large to be a note and was never committed")
	}
	return content, exists, err
}
