package inmem

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/names"
)

var (
	_ amber.Notes   = (*Store)(nil)
	_ amber.NoteLog = (*Store)(nil)
)

// commit is one change of one note.
type commit struct {
	note    string
	content string // "" after a deletion
	amber.NoteCommit
}

// noteName is [amber.CheckNoteName] in the one spelling that notes are kept
// under.
func noteName(name string) (string, error) {
	name, err := amber.CheckNoteName(name)
	if err != nil {
		return "", err
	}
	return amber.CheckNoteName(names.Canonical(name))
}

// WriteNote implements [amber.Notes].
func (s *Store) WriteNote(ctx context.Context, w amber.NoteWrite) (amber.Note, error) {
	name, err := noteName(w.Name)
	if err != nil {
		return amber.Note{}, err
	}
	content := w.Content
	if err := amber.CheckNoteContent(content); err != nil {
		return amber.Note{}, err
	}
	return run(ctx, s, "write note", func() (amber.Note, error) {
		stored, found := s.notes[name]
		if found && stored.Content == content {
			return stored, nil
		}
		old := ""
		if found {
			old = amber.ContentDigest(stored.Content)
		}
		c := s.commit(w.NoteBy, name, content, "write")
		s.logNote(saved(found), c, name, old, amber.ContentDigest(content))
		note := amber.Note{Name: name, Content: content, Bytes: int64(len(content)), Commit: c.Commit, UpdatedAt: c.At, NoteBy: c.NoteBy}
		s.notes[name] = note
		delete(s.noteParts, name)
		return note, nil
	})
}

// ReadNote implements [amber.Notes].
func (s *Store) ReadNote(ctx context.Context, name string) (amber.Note, error) {
	name, err := noteName(name)
	if err != nil {
		return amber.Note{}, err
	}
	return run(ctx, s, "read note", func() (amber.Note, error) {
		note, found := s.notes[name]
		if !found {
			return amber.Note{}, notFound("read note", name)
		}
		return note, nil
	})
}

// ListNotes implements [amber.Notes].
func (s *Store) ListNotes(ctx context.Context) ([]amber.Note, error) {
	return run(ctx, s, "list notes", func() ([]amber.Note, error) {
		found := []amber.Note{}
		for _, name := range slices.Sorted(maps.Keys(s.notes)) {
			note := s.notes[name]
			note.Content, note.NoteBy = "", amber.NoteBy{}
			found = append(found, note)
		}
		return found, nil
	})
}

// DeleteNote implements [amber.Notes].
func (s *Store) DeleteNote(ctx context.Context, name string, by amber.NoteBy) error {
	name, err := noteName(name)
	if err != nil {
		return err
	}
	return do(ctx, s, "delete note", func() error {
		stored, found := s.notes[name]
		if !found {
			return notFound("delete note", name)
		}
		delete(s.notes, name)
		delete(s.noteParts, name)
		s.logNote(amber.OpDelete, s.commit(by, name, "", "delete"), name, amber.ContentDigest(stored.Content), "")
		return nil
	})
}

// logNote appends a change of a note and its commit to the change log, where they are in it.
func (s *Store) logNote(op amber.Op, c amber.NoteCommit, name, oldDigest, newDigest string) {
	if s.logAll {
		s.log(c.At, op, amber.ChangeNote, name, oldDigest, newDigest)
		s.log(c.At, amber.OpInsert, amber.ChangeGit, c.Commit, "", "")
	}
}

// LogNote implements [amber.NoteLog].
func (s *Store) LogNote(ctx context.Context, name string, limit int) ([]amber.NoteCommit, error) {
	name, err := noteName(name)
	if err != nil {
		return nil, err
	}
	if limit < 0 {
		return nil, invalid("read note log", name, "the limit is negative, want 0 or more")
	}
	return run(ctx, s, "read note log", func() ([]amber.NoteCommit, error) {
		found := []amber.NoteCommit{}
		for _, c := range slices.Backward(s.commits) {
			if c.note == name {
				found = append(found, c.NoteCommit)
			}
		}
		if len(found) == 0 {
			return nil, notFound("read note log", name)
		}
		return found[:min(limit, len(found))], nil
	})
}

// NoteAt implements [amber.NoteLog].
func (s *Store) NoteAt(ctx context.Context, name, hash string) (amber.Note, error) {
	name, err := noteName(name)
	if err != nil {
		return amber.Note{}, err
	}
	return run(ctx, s, "read note", func() (amber.Note, error) {
		for _, c := range s.commits {
			if c.note == name && c.Commit == hash && c.content != "" {
				return amber.Note{Name: name, Content: c.content, Bytes: int64(len(c.content)), Commit: hash, UpdatedAt: c.At, NoteBy: c.NoteBy}, nil
			}
		}
		return amber.Note{}, amber.Errorf(amber.KindNotFound, "read note", name, "commit %.80q is none that left a text of the note", hash)
	})
}

// commit records a change of a note under a made-up hash.
func (s *Store) commit(by amber.NoteBy, name, content, op string) amber.NoteCommit {
	hash := amber.ContentDigest(fmt.Sprintf("%d %s %s", len(s.commits), op, name))[:40]
	c := amber.NoteCommit{Commit: hash, At: s.now(), Op: op, NoteBy: by.Stored()}
	s.commits = append(s.commits, commit{name, content, c})
	return c
}
