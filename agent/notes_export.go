package agent

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
)

// ExportNotes writes the notes into a folder that is empty or does not exist: a git repository with their whole history, whose commits
// have the ids that logs of notes tell. Errors: not_found where there are no notes; conflict when the folder holds something;
// unsupported where notes are elsewhere, and without git.
func (a *Agent) ExportNotes(ctx context.Context, dir string) error {
	const op = "export notes"
	switch {
	case a.notes != nil:
		return a.notes.Export(ctx, dir)
	case a.rows == nil:
		return amber.Errorf(amber.KindUnsupported, op, string(a.ID()), "the notes of the agent are not in this home")
	}
	head, err := a.core.NotesHead(ctx)
	if err == nil && head == "" {
		err = amber.Errorf(amber.KindNotFound, op, "", "the agent has no notes yet").WithHint("amber note write NAME TEXT")
	}
	if err != nil {
		return err
	}
	return a.rows.Notes().Export(ctx, dir, postgres.GitOptions{})
}
