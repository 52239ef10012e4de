package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony"
	"github.com/amber-memory/amber/internal/names"
)

// noteTarget writes documents as notes, each a commit.
type noteTarget struct{ store *opened } // nil: the agent is not there, and is not made

var _ documentTarget = noteTarget{}

// noteTarget opens the notes of the agent of s. One that is only looked at is
// not made.
func (a *app) noteTarget(ctx context.Context, s *opened, look bool) (documentTarget, error) {
	if _, err := s.agent.Current(); look && amber.KindOf(err) == amber.KindNotFound {
		return noteTarget{}, nil
	}
	store, err := a.open(ctx)
	return noteTarget{store}, err
}

func (noteTarget) Refuses(d colony.Documents) map[string]string {
	refused, of := map[string]string{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(d)) {
		note, err := amber.CheckNoteName(name)
		note = names.Canonical(note)
		if err == nil {
			err = amber.CheckNoteContent(d[name])
		}
		if other, twice := of[note]; err == nil && twice {
			err = fmt.Errorf("is the same note as %q", oneLine(other, 80))
		}
		if err != nil {
			refused[name] = "is no note: " + reason(err)
			continue
		}
		of[note] = name
	}
	return refused
}

// reason is what an error says without the operation.
func reason(err error) string {
	var e *amber.Error
	if errors.As(err, &e) && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}

func (t noteTarget) Look(ctx context.Context, name, text string) (found, error) {
	if t.store == nil {
		return found{}, nil
	}
	note, err := t.store.Store.Notes.ReadNote(ctx, name)
	if amber.KindOf(err) == amber.KindNotFound {
		return found{}, nil
	}
	if err != nil {
		return found{}, err
	}
	return found{there: true, same: saysSame(t.store.config.Config.Redactor(), name, note.Content, text), digest: digestText(note.Content)}, nil
}

// Write looks once more. What comes in between even then is not lost: every text
// of a note is a commit.
func (t noteTarget) Write(ctx context.Context, name, text string, before found) error {
	now, err := t.Look(ctx, name, text)
	switch {
	case err != nil:
		return err
	case now.there != before.there || now.digest != before.digest:
		return &amber.Error{Op: "write document", Kind: amber.KindConflict, ID: name, Err: errChanged}
	}
	_, err = t.store.Store.Notes.WriteNote(ctx, name, text)
	return err
}

func (t noteTarget) Close() error {
	if t.store == nil {
		return nil
	}
	return t.store.Close()
}
