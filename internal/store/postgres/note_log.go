package postgres

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
)

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
		log, err := r.anyLog(name, min(limit, amber.MaxPageSize))
		if err == nil && len(log) == 0 {
			err = notefile.NotFound()
		}
		for _, c := range log {
			op := notefile.OpOf(notefile.Verb(c.Subject), isRemoved(c))
			commits = append(commits, amber.NoteCommit{Commit: c.OID, At: timeOf(c), Op: op, NoteBy: notefile.By(c.By)})
		}
		return err
	})
	return commits, err
}

// isRemoved reports whether a change took the file away.
func isRemoved(c gitobj.Change) bool { return c.File.OID == "" }

// anyLog is the log under the first spelling of a name that commits hold.
func (r *noteRepo) anyLog(name string, limit int) (log []gitobj.Change, err error) {
	for _, s := range notefile.Spellings(r, name) {
		if log, err = r.fileLog(s, limit); err != nil || len(log) > 0 {
			return log, err
		}
	}
	return nil, nil
}

// NoteAt returns a note as one of its last [amber.MaxPageSize] changes left it. Errors: not_found when no such change is
// known, and for one that deleted the note; those of [Notes.LogNote].
func (n *Notes) NoteAt(ctx context.Context, name, commit string) (note amber.Note, err error) {
	if name, err = amber.CheckNoteName(name); err != nil {
		return note, err
	}
	err = n.view(ctx, "read note", &name, func(r *noteRepo) error {
		log, err := r.anyLog(name, amber.MaxPageSize)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(log, func(c gitobj.Change) bool { return c.OID == commit })
		switch {
		case at < 0:
			return notefile.NotChanged(commit)
		case isRemoved(log[at]):
			return notefile.Deleted(commit)
		}
		content, err := r.text(log[at].File.OID)
		if err != nil {
			return err
		}
		if amber.CheckNoteContent(string(content)) != nil {
			return notefile.NoText(commit)
		}
		note = noteBy(name, string(content), log[at])
		return nil
	})
	return note, err
}
