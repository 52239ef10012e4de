package postgres

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectCopied    = `SELECT blob, commit_id, at FROM notes WHERE name = ?`
	selectAllCopied = `SELECT name, blob, commit_id, at, octet_length(content) FROM notes`
)

// Notes are the notes of an agent: git's objects as rows, and a branch that moves with each change. Ids are those that package notes
// gives the same texts at the same times. A change, its copy, the index over it and its entries in the change log are one transaction, so a
// note is found as soon as it is written, and all who listen hear of it. No git program is needed but for [Notes.Export]. It is safe for
// concurrent use.
type Notes struct{ d *database }

var (
	_ amber.Notes   = (*Notes)(nil)
	_ amber.NoteLog = (*Notes)(nil)
)

// Notes returns the notes of the agent.
func (s *Store) Notes() *Notes { return &Notes{s.memory} }

// view runs fn in a read transaction. Fn may change the name.
func (n *Notes) view(ctx context.Context, op string, name *string, fn func(*noteRepo) error) error {
	return n.d.View(ctx, op, *name, func(t *tx) error { return inNotes(op, name, t, fn) })
}

// update does so in a write transaction.
func (n *Notes) update(ctx context.Context, op string, name *string, fn func(*noteRepo) error) error {
	return n.d.Update(ctx, op, *name, func(t *tx) error { return inNotes(op, name, t, fn) })
}

func inNotes(op string, name *string, t *tx, fn func(*noteRepo) error) error {
	r, err := openNotes(t)
	if err == nil {
		err = fn(r)
	}
	if _, known := errors.AsType[*amber.Error](err); known {
		return notefile.Wrap(op, *name, err)
	}
	return err
}

// WriteNote stores the text of a note and returns once the commit is durable. Equal content makes no commit. Errors:
// invalid; conflict when something that is not a note has that name, when there is a note under another spelling of it,
// or when a person moved the branch by hand; damaged.
func (n *Notes) WriteNote(ctx context.Context, w amber.NoteWrite) (note amber.Note, err error) {
	name, content := w.Name, w.Content
	if name, err = amber.CheckNoteName(name); err != nil {
		return note, err
	}
	if err := amber.CheckNoteContent(content); err != nil {
		return note, err
	}
	blob := gitobj.NewBlob([]byte(content))
	err = n.update(ctx, "write note", &name, func(r *noteRepo) error {
		name = notefile.Spelled(r, name)
		file, err := notefile.Locate(r, name)
		if err != nil {
			return err
		}
		if file != nil && notefile.BlobOf(file) == blob.OID {
			if err := r.Put(blob); err != nil { // mends one that is damaged
				return err
			}
			note, err = r.note(name, content, blob.OID)
			return err
		}
		entry := sqlrows.Entry(amber.OpInsert, amber.ChangeNote, name, "", amber.ContentDigest(content))
		if file != nil {
			entry.Op = amber.OpUpdate
			if entry.Old, err = r.digest(file); err != nil {
				return err
			}
		}
		before := r.Head()
		c, err := r.commit(w.NoteBy.Stored(), notefile.OpWrite, name, blob)
		if err != nil {
			return err
		}
		note = notefile.Note(name, content, c)
		return r.follow(before, entry, func() error { return r.t.PutNote(note, blob.OID) })
	})
	if err != nil {
		return amber.Note{}, err
	}
	return note, nil
}

// digest is that of the text of a note, "" where the text cannot be read.
func (r *noteRepo) digest(file fs.DirEntry) (string, error) {
	content, err := r.Text(notefile.BlobOf(file))
	if amber.KindOf(err) == amber.KindDamaged {
		return "", nil
	}
	return amber.ContentDigest(string(content)), err
}

// follow enters the change into the log, and brings the copy of the notes, which is of the commit before, to the one that the branch ends with
// now. A copy of something else is made anew.
func (r *noteRepo) follow(before string, entry sqlrows.Change, change func() error) error {
	err := r.t.Log(entry)
	if err == nil {
		err = r.t.Log(sqlrows.Entry(amber.OpInsert, amber.ChangeGit, r.Head(), "", ""))
	}
	if err != nil {
		return err
	}
	if r.copied != before {
		return r.renewCopy()
	}
	if err := change(); err != nil {
		return err
	}
	return r.t.PutNotesHead(r.Head())
}

// DeleteNote removes a note and returns once that commit is durable; the history stays. Errors: not_found,
// and those of [Notes.WriteNote].
func (n *Notes) DeleteNote(ctx context.Context, name string, by amber.NoteBy) error {
	name, err := amber.CheckNoteName(name)
	if err != nil {
		return err
	}
	return n.update(ctx, "delete note", &name, func(r *noteRepo) error {
		name = notefile.Spelled(r, name)
		file, err := notefile.Find(r, name)
		if err == nil && file == nil {
			err = notefile.NotFound()
		}
		if err != nil {
			return err
		}
		entry := sqlrows.Entry(amber.OpDelete, amber.ChangeNote, name, "", "")
		if entry.Old, err = r.digest(file); err != nil {
			return err
		}
		before := r.Head()
		if _, err := r.commit(by.Stored(), notefile.OpDelete, name, gitobj.Object{}); err != nil {
			return err
		}
		return r.follow(before, entry, func() error { return r.t.DeleteNote(name) })
	})
}

// ReadNote returns one note, with the last commit that changed it and the time of that. Errors: not_found, invalid; damaged when
// it is no text, is too large, or when an object on the way to it is not what its id says; conflict when it is no
// regular file.
func (n *Notes) ReadNote(ctx context.Context, name string) (note amber.Note, err error) {
	if name, err = amber.CheckNoteName(name); err != nil {
		return note, err
	}
	err = n.view(ctx, "read note", &name, func(r *noteRepo) error {
		name = notefile.Spelled(r, name)
		file, err := notefile.Find(r, name)
		if err == nil && file == nil {
			err = notefile.NotFound()
		}
		if err != nil {
			return err
		}
		blob := notefile.BlobOf(file)
		content, err := r.Text(blob)
		if err == nil {
			err = notefile.CheckText(content)
		}
		if err == nil {
			note, err = r.note(name, string(content), blob)
		}
		return err
	})
	return note, err
}

// note returns a note with its last commit: the copy knows it, else the history is read.
func (r *noteRepo) note(name, content, blob string) (amber.Note, error) {
	note := amber.Note{Name: name, Content: content, Bytes: int64(len(content))}
	if r.copied == r.Head() {
		var copied string
		var at int64
		err := r.t.Row(selectCopied, name).Scan(&copied, &note.Commit, &at)
		if err == nil && copied == blob {
			note.UpdatedAt = amber.UnixMilli(at)
			return r.signed(note)
		}
		if err != nil && !sqlrows.Absent(err) {
			return amber.Note{}, err
		}
	}
	c, found, err := r.Last(r.t.Ctx, name)
	if err != nil || !found {
		return amber.Note{}, err
	}
	return notefile.Note(name, content, c), nil
}

// signed returns a note of the copy with who wrote it: the copy has the trust alone.
func (r *noteRepo) signed(note amber.Note) (_ amber.Note, err error) {
	if note.Commit, note.Trust = sqlrows.SplitNoteCommit(note.Commit); note.Trust != "" {
		note.NoteBy, err = r.By(note.Commit)
	}
	return note, err
}

// ListNotes returns every note by name, without content and without commit. A note is listed
// whatever its file holds. Errors: quota when the folders hold more than 100 000 files and folders; damaged.
func (n *Notes) ListNotes(ctx context.Context) (list []amber.Note, err error) {
	none := ""
	err = n.view(ctx, "list notes", &none, func(r *noteRepo) error {
		list, err = r.list()
		return err
	})
	return list, err
}

func (r *noteRepo) list() ([]amber.Note, error) {
	blobs, err := r.Blobs(r.t.Ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]amber.Note{}
	if r.copied == r.Head() {
		err = r.t.Each(selectAllCopied, nil, func(s sqlrows.Row) error {
			var n amber.Note
			var blob string
			var at int64
			err := s.Scan(&n.Name, &blob, &n.Commit, &at, &n.Bytes)
			if n.UpdatedAt = amber.UnixMilli(at); err == nil && blobs[n.Name] == blob {
				known[n.Name] = n
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for name := range known {
		delete(blobs, name)
	}
	err = r.Load(r.t.Ctx, blobs, func(n amber.Note, _ []byte) error { // those that the copy leaves out
		known[n.Name] = n
		return nil
	})
	if err != nil {
		return nil, err
	}
	list := make([]amber.Note, 0, len(known))
	for _, name := range slices.Sorted(maps.Keys(known)) {
		n := known[name]
		n.Commit, n.NoteBy = "", amber.NoteBy{}
		list = append(list, n)
	}
	return list, nil
}

// LogNote returns the last limit changes of a note, newest first, also of a deleted one; a limit above
// [amber.MaxPageSize] is cut to it. Changes that a person committed by hand count as write or delete. Errors: not_found
// when no commit ever held such a note; invalid; damaged.
func (n *Notes) LogNote(ctx context.Context, name string, limit int) (commits []amber.NoteCommit, err error) {
	const op = "read note history"
	if name, err = amber.CheckNoteName(name); err != nil {
		return nil, err
	}
	if limit <= 0 {
		return nil, amber.Errorf(amber.KindInvalid, op, name, "limit is not positive")
	}
	err = n.view(ctx, op, &name, func(r *noteRepo) error {
		commits, err = r.Log(ctx, r, name, limit)
		return err
	})
	return commits, err
}

// NoteAt returns a note as one of its last [amber.MaxPageSize] changes left it. Errors: not_found when no such change is
// known, and for one that deleted the note; those of [Notes.LogNote].
func (n *Notes) NoteAt(ctx context.Context, name, commit string) (note amber.Note, err error) {
	if name, err = amber.CheckNoteName(name); err != nil {
		return note, err
	}
	err = n.view(ctx, "read note", &name, func(r *noteRepo) error {
		note, err = r.NoteAt(ctx, r, name, commit)
		return err
	})
	return note, err
}
