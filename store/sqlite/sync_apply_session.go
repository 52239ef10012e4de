package sqlite

import (
	"cmp"

	"github.com/amber-memory/amber"
)

const replaceSession = `UPDATE sessions SET name = ?2, binding = ?3, project = ?4, directory = ?5, started_at = ?6, ended_at = nullif(?7, 0), end_reason = ?8,
 summary = ?9, parent = ?10, created_at = ?11, updated_at = ?12, device = ?13, counter = ?14, clock = ?15
WHERE id = ?1`

// applySession stores a session, unless what is known of it is later.
func (n *intent) applySession(in amber.SyncSession) error {
	now, found, known, err := n.knownSession(in.ID)
	if err != nil {
		return err
	}
	if err := mayFollow(string(in.ID), in.Origin, known.Counter); err != nil {
		return err
	}
	if !in.Origin.After(known.Origin) {
		return nil
	}
	n.result.Sessions++
	query, op := insertSession, amber.OpInsert
	if found {
		query, op = replaceSession, amber.OpUpdate
	} else if known.id != "" {
		if _, err := n.returns(amber.ChangeSession, known.id); err != nil {
			return err
		}
	}
	_, err = n.exec(query, in.ID, in.Name, in.Binding, in.Project, in.Directory, in.StartedAt.UnixMilli(),
		in.EndedAt.UnixMilli(), in.EndReason, in.Summary, in.Parent, in.CreatedAt.UnixMilli(), in.UpdatedAt.UnixMilli(),
		in.Origin.Device, int64(in.Origin.Counter), in.Origin.Clock)
	if err != nil {
		return err
	}
	if found && (!in.EndedAt.IsZero() || in.Binding != now.Binding) {
		if _, err := n.exec(deleteActive, in.ID); err != nil {
			return err
		}
	}
	return n.logSession(op, in.ID)
}

// knownSession returns a session, and what is known of it: the later of its
// origin and that of its departure. Of an unknown one that is nothing.
func (n *intent) knownSession(id amber.SessionID) (s amber.SyncSession, found bool, known departure, err error) {
	if s, found, err = n.syncSession(id); err != nil {
		return s, found, known, err
	}
	if known, _, err = n.departed(amber.ChangeSession, string(id)); err != nil {
		return s, found, known, err
	}
	if found {
		known.Origin = later(known.Origin, s.Origin)
	}
	return s, found, known, nil
}

// applyPrompt stores a prompt, unless it was deleted. Of two prompts with one
// id everybody keeps the same, whichever came first.
func (n *intent) applyPrompt(in amber.Turn) error {
	_, departed, err := n.departed(amber.ChangeTurn, string(in.ID))
	if err != nil || departed {
		return err
	}
	now, found, err := optional(scanTurn(n.row(selectTurn, in.ID)))
	if err != nil {
		return err
	}
	c := change{amber.OpInsert, amber.ChangeTurn, string(in.ID), "", amber.ContentDigest(in.Content)}
	if found {
		c.op, c.old = amber.OpUpdate, amber.ContentDigest(now.Content)
		if now.Role != amber.RoleUser || comparePrompts(c.old, now, c.new, in) <= 0 {
			return nil
		}
		if _, err := n.exec(deleteTurnsWith, in.ID); err != nil {
			return err
		}
	}
	n.result.Prompts++
	_, err = n.exec(insertTurn, in.ID, in.SessionID, in.Role, in.Content, in.ProjectID, in.CreatedAt.UnixMilli())
	if err != nil {
		return err
	}
	return n.log(c)
}

// comparePrompts orders prompts by the digest of their text first.
func comparePrompts(digest string, a amber.Turn, other string, b amber.Turn) int {
	return cmp.Or(
		cmp.Compare(digest, other), cmp.Compare(a.SessionID, b.SessionID), cmp.Compare(a.ProjectID, b.ProjectID),
		cmp.Compare(a.CreatedAt.UnixMilli(), b.CreatedAt.UnixMilli()),
	)
}
