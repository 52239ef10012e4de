package events

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/amber-memory/amber"
)

// Notes publishes what is written through it: an event of scope note for a note
// whose text changed, keyed by its name, and one of scope git for the commit,
// keyed by its id. A write that changes nothing publishes nothing.
//
// Commits that a write finds necessary before its own, for edits by hand, are
// not told apart: the event names the newest. A write in another process
// between the look at the old text and the write shows in the digests of the
// event, not in its id. Safe for concurrent use.
type Notes struct {
	amber.Notes
	log  amber.NoteLog
	sink Sink
	gone atomic.Int64 // notes that were deleted
}

var _ amber.Notes = (*Notes)(nil)

// NewNotes returns notes whose changes are published. Log tells which commit
// deleted a note. The error is of kind invalid.
func NewNotes(notes amber.Notes, log amber.NoteLog, to Sink) (*Notes, error) {
	if notes == nil || log == nil {
		return nil, amber.Errorf(amber.KindInvalid, "publish notes", "", "notes and their log are required")
	}
	return &Notes{Notes: notes, log: log, sink: to}, to.check()
}

// WriteNote implements [amber.Notes].
func (n *Notes) WriteNote(ctx context.Context, w amber.NoteWrite) (amber.Note, error) {
	old, existed, known := n.before(ctx, w.Name)
	note, err := n.Notes.WriteNote(ctx, w)
	if err != nil {
		return note, err
	}
	if !known || old.Content != note.Content {
		n.sink.publish(ctx, note.Commit+"/"+note.Name, Mutation{
			Op: opOf(existed, true), Scope: amber.ChangeNote, Key: note.Name,
			OldDigest: digest(old.Content, known), NewDigest: digest(note.Content, true), At: n.sink.now(),
		})
	}
	if note.Commit != old.Commit {
		n.committed(ctx, note.Commit)
	}
	return note, nil
}

// DeleteNote implements [amber.Notes].
func (n *Notes) DeleteNote(ctx context.Context, name string, by amber.NoteBy) error {
	old, _, known := n.before(ctx, name)
	if err := n.Notes.DeleteNote(ctx, name, by); err != nil {
		return err
	}
	if canonical, err := amber.CheckNoteName(name); err == nil {
		name = canonical
	}
	commit, now := "", n.sink.now()
	// Where the log cannot be read, the event still needs an id of its own.
	id := fmt.Sprintf("%d-%d", now.UnixMilli(), n.gone.Add(1))
	if last, err := n.log.LogNote(context.WithoutCancel(ctx), name, 1); err == nil && len(last) == 1 {
		commit = last[0].Commit
		id = commit
	}
	n.sink.publish(ctx, id+"/"+name, Mutation{
		Op: amber.OpDelete, Scope: amber.ChangeNote, Key: name, OldDigest: digest(old.Content, known), At: now,
	})
	n.committed(ctx, commit)
	return nil
}

// before returns a note as it is before it is changed, whether there is one,
// and whether it could be read.
func (n *Notes) before(ctx context.Context, name string) (old amber.Note, existed, known bool) {
	old, err := n.Notes.ReadNote(ctx, name)
	if err != nil {
		return amber.Note{}, amber.KindOf(err) != amber.KindNotFound, false
	}
	return old, true, true
}

func (n *Notes) committed(ctx context.Context, commit string) {
	if commit == "" {
		return
	}
	n.sink.publish(ctx, commit, Mutation{Op: amber.OpInsert, Scope: amber.ChangeGit, Key: commit, At: n.sink.now()})
}
