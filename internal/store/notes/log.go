package notes

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// LogNote returns the last limit changes of a note, newest first, also of a deleted one; a limit above
// [amber.MaxPageSize] is cut to it. Changes that a person committed by hand count as write or delete. Errors: not_found
// when no commit ever held such a note; invalid; damaged.
func (d *Dir) LogNote(ctx context.Context, name string, limit int) (commits []amber.NoteCommit, err error) {
	const op = "read note history"
	if name, err = amber.CheckNoteName(name); err != nil {
		return nil, err
	}
	if limit <= 0 {
		return nil, amber.Errorf(amber.KindInvalid, op, name, "limit is not positive")
	}
	err = d.read(ctx, func(r *repo) error {
		h, err := r.history()
		if err == nil {
			commits, err = h.Log(ctx, r, name, limit)
		}
		return err
	})
	return commits, wrap(op, name, err)
}

// NoteAt returns a note as one of its last [amber.MaxPageSize] changes left it. Errors: not_found when no such change is
// known, and for one that deleted the note; those of [Dir.LogNote].
func (d *Dir) NoteAt(ctx context.Context, name, commit string) (note amber.Note, err error) {
	if name, err = amber.CheckNoteName(name); err != nil {
		return note, err
	}
	err = d.read(ctx, func(r *repo) error {
		h, err := r.history()
		if err == nil {
			note, err = h.NoteAt(ctx, r, name, commit)
		}
		return err
	})
	return note, wrap("read note", name, err)
}

// Since returns the committed notes that differ from those of a commit. For a commit that the repository does not know, "" among them, it
// returns all notes. A change in the folder that is not committed does not count, nor does a file that is too large for a note or no
// text. Errors: damaged.
func (d *Dir) Since(ctx context.Context, commit string) (c notefile.Committed, err error) {
	err = d.read(ctx, func(r *repo) error {
		h, err := r.history()
		if err == nil {
			c, err = h.Since(ctx, commit)
		}
		return err
	})
	return c, wrap("read committed notes", "", err)
}

// Blobs returns the ids of the blobs of all notes that a commit holds, by name. Errors: those of [Dir.Since].
func (d *Dir) Blobs(ctx context.Context, commit string) (blobs map[string]string, err error) {
	err = d.read(ctx, func(r *repo) error {
		h, err := notefile.OpenHistory(r.objects, commit)
		if err == nil {
			blobs, err = h.Blobs(ctx)
		}
		return err
	})
	return blobs, wrap("list committed notes", "", err)
}
