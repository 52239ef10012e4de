package sqlrows

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
)

// NoteColumns are what ScanNote reads.
const NoteColumns = `name, content, commit_id, at`

const (
	// SelectNote finds a note by its name.
	SelectNote = `SELECT ` + NoteColumns + ` FROM notes WHERE name = ?`

	selectNotesHead = `SELECT commit_id FROM notes_head`
	putNotesHead    = `INSERT INTO notes_head (id, commit_id) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET commit_id = excluded.commit_id`
	selectBlobs     = `SELECT name, blob FROM notes`
	// An upsert is no choice here: its conflict handling would hold for the triggers, too.
	updateNote = `UPDATE notes SET blob = ?2, commit_id = ?3, at = ?4, content = ?5
WHERE name = ?1 AND (blob <> ?2 OR commit_id <> ?3 OR at <> ?4 OR content <> ?5)`
	insertNote = `INSERT INTO notes (name, blob, commit_id, at, content) SELECT ?1, ?2, ?3, ?4, ?5
WHERE NOT EXISTS (SELECT 1 FROM notes WHERE name = ?1)`
	deleteNote = `DELETE FROM notes WHERE name = ?`
)

// NotesSince is the first schema of memory.db with notes.
const NotesSince = 6

// ScanNote reads a note.
func ScanNote(s scanner) (n amber.Note, err error) {
	var at int64
	if err := s.Scan(&n.Name, &n.Content, &n.Commit, &at); err != nil {
		return n, err
	}
	n.Commit, n.Trust = SplitNoteCommit(n.Commit)
	n.UpdatedAt, n.Bytes = amber.UnixMilli(at), int64(len(n.Content))
	if _, err := amber.CheckNoteName(n.Name); err != nil {
		return n, unreadable("notes", n.Name, "the name is not one of a note")
	}
	return n, nil
}

// noteCommit is the commit of a note as the copy has it: with the trust of who wrote it behind a space, where that was not the owner.
func noteCommit(n amber.Note) string {
	if n.Trust == "" {
		return n.Commit
	}
	return n.Commit + " " + string(n.Trust)
}

// SplitNoteCommit takes apart what noteCommit joined.
func SplitNoteCommit(s string) (commit string, trust amber.Trust) {
	commit, said, _ := strings.Cut(s, " ")
	return commit, amber.Trust(said)
}

// NotesHead returns the commit that the notes are of; "" for none.
func (t *Tx) NotesHead() (string, error) {
	head, _, err := Optional(ScanText(t.Row(selectNotesHead)))
	return head, err
}

// PutNotesHead notes the commit that the notes are of.
func (t *Tx) PutNotesHead(commit string) error { return t.exec(putNotesHead, commit) }

// NoteBlobs returns the ids of the texts of all notes, by name.
func (t *Tx) NoteBlobs() (map[string]string, error) {
	blobs := map[string]string{}
	err := t.Each(selectBlobs, nil, func(s scanner) error {
		var name, blob string
		err := s.Scan(&name, &blob)
		blobs[name] = blob
		return err
	})
	return blobs, err
}

// PutNote stores a note whose text has an id.
func (t *Tx) PutNote(n amber.Note, blob string) error {
	for _, q := range []string{updateNote, insertNote} {
		if err := t.exec(q, n.Name, blob, noteCommit(n), n.UpdatedAt.UnixMilli(), n.Content); err != nil {
			return fmt.Errorf("put note %s: %w", printable(n.Name), err)
		}
	}
	return nil
}

// DeleteNote removes a note.
func (t *Tx) DeleteNote(name string) error { return t.exec(deleteNote, name) }
