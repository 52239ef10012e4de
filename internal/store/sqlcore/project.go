package sqlcore

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	listOfProject     = `SELECT ` + sqlrows.MemoryColumns + ` FROM memories WHERE project_id = ? AND deleted_at IS NULL ORDER BY id`
	sessionsOfProject = `SELECT ` + sqlrows.SessionColumns + ` FROM sessions WHERE project = ? AND project <> '' ORDER BY id`
	moveTurns         = `UPDATE turns SET project_id = ?2 WHERE project_id = ?1`
)

// JoinProject gives the memories, sessions and turns of one project to another: each memory is a new
// revision, so that its history tells where it was. It is one transaction, and done again it does
// nothing. Errors: invalid; refused where a memory or a session is trusted more than the caller, whose trust is by.
func (s *Contracts) JoinProject(ctx context.Context, from, to string, by amber.Trust) (memories, sessions int, err error) {
	if err := cmp.Or(amber.CheckID("project id", from), amber.CheckID("project id", to)); err != nil || from == to {
		return 0, 0, err
	}
	err = s.memory.UpdateAlone(ctx, "join projects", from, func(t *Tx) error {
		all, err := sqlrows.ReadRows(t.Tx, "memories", sqlrows.ScanMemory, listOfProject, from)
		if err != nil {
			return err
		}
		for _, m := range all {
			if err := m.Trust.MayChange(by, "join projects", string(m.ID)); err != nil {
				return err
			}
			next := m
			next.ProjectID = to
			if _, err := t.Revise(amber.OpUpdate, m, next); err != nil {
				return err
			}
		}
		list, err := sqlrows.ReadRows(t.Tx, "sessions", sqlrows.ScanSession, sessionsOfProject, from)
		if err != nil {
			return err
		}
		for _, one := range list {
			if err := one.Trust.MayChange(by, "join projects", string(one.ID)); err != nil {
				return err
			}
			one.Project = to
			if err := t.putSession(one); err != nil {
				return err
			}
		}
		memories, sessions = len(all), len(list)
		return t.Do(moveTurns, from, to)
	})
	return memories, sessions, err
}
