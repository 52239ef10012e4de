package sqlcore

import (
	"cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	replaceSession = `UPDATE sessions SET name = ?2, binding = ?3, project = ?4, directory = ?5, started_at = ?6, ended_at = nullif(CAST(?7 AS INTEGER), 0), end_reason = ?8,
 summary = ?9, parent = ?10, created_at = ?11, updated_at = ?12, trust = ?13, device = ?14, counter = ?15, clock = ?16
WHERE id = ?1`
	vouchTurn = `UPDATE turns SET trust = ? WHERE id = ?`
)

// applySession stores a session, unless what is known of it is later, or the one
// that is here never was at the place.
func (n *intent) applySession(in amber.SyncSession) error {
	now, found, known, departed, err := n.knownSession(in.ID)
	if err != nil {
		return err
	}
	if err := mayFollow(string(in.ID), in.Origin, known.Counter); err != nil {
		return err
	}
	mark := amber.SyncMark{Ref: sessionRef(in.ID), Origin: in.Origin}
	if found && in.Origin == now.Origin && sqlrows.StoredTrust(now.Trust) != amber.TrustOwn {
		return n.hold(mark)
	}
	if !in.Origin.After(known.Origin) {
		return nil
	}
	if found {
		if say, err := n.saysGone(mark.Ref, now.Origin); err != nil || !say {
			return err
		}
	}
	if err := n.arrives(n.chunk.Place, mark); err != nil {
		return err
	}
	in.Trust = n.foreignTrust(in.Trust, in.Origin)
	n.result.Sessions++
	query, op := insertSession, amber.OpInsert
	if found {
		query, op = replaceSession, amber.OpUpdate
	} else if departed {
		if _, err := n.Returns(amber.ChangeSession, string(in.ID)); err != nil {
			return err
		}
	}
	err = n.Do(query, in.ID, in.Name, in.Binding, in.Project, in.Directory, in.StartedAt.UnixMilli(),
		in.EndedAt.UnixMilli(), in.EndReason, in.Summary, in.Parent, in.CreatedAt.UnixMilli(), in.UpdatedAt.UnixMilli(), in.Trust,
		in.Origin.Device, int64(in.Origin.Counter), in.Origin.Clock)
	if err != nil {
		return err
	}
	if found && (!in.EndedAt.IsZero() || in.Binding != now.Binding) {
		if err := n.Do(deleteActive, in.ID); err != nil {
			return err
		}
	}
	return n.LogSession(op, in.ID)
}

// knownSession returns a session and its known origin: the later of the origin of the session and
// that of its departure. An unknown session has no known origin. Neither has one that departed
// because other places alone deleted it.
func (n *intent) knownSession(id amber.SessionID) (s amber.SyncSession, found bool, known sqlrows.Departure, departed bool, err error) {
	if s, found, err = n.SyncSession(id); err != nil {
		return s, found, known, false, err
	}
	if known, departed, err = n.departedHere(sessionRef(id)); err != nil {
		return s, found, known, departed, err
	}
	if found {
		known.Origin = sqlrows.Later(known.Origin, s.Origin)
	}
	return s, found, known, departed, nil
}

// departedHere returns the departure of a session or a prompt, as far as it
// counts for what the place brings, and whether there is one at all.
func (n *intent) departedHere(ref amber.SyncRef) (d sqlrows.Departure, departed bool, err error) {
	d, departed, err = n.departed(ref.Scope, ref.ID)
	if err != nil || !departed {
		return d, departed, err
	}
	here, at, err := n.removedBy(n.chunk.Place, ref)
	if !here && !at {
		d = sqlrows.Departure{}
	}
	return d, departed, err
}

// foreignTrust is what a session or a prompt is trusted with here: what the author who
// made the chunk calls its own is worth what the chunk is.
func (n *intent) foreignTrust(t amber.Trust, o amber.Origin) amber.Trust {
	if t != "" || o.Device == n.Current.Device && !n.chunk.Own {
		return amber.TrustImported
	}
	return n.chunk.Trust
}

// applyPrompt stores a prompt, unless it was deleted. A prompt that was said here stays as it was
// said, and so does a prompt that never was at the place.
func (n *intent) applyPrompt(in amber.Turn) error {
	mark := amber.SyncMark{Ref: turnRef(string(in.ID))}
	d, departed, err := n.departedHere(mark.Ref)
	if err != nil || d.ID != "" {
		return err
	}
	in.Trust = n.foreignTrust(in.Trust, amber.Origin{})
	now, found, err := sqlrows.Optional(sqlrows.ScanTurn(n.Row(selectTurn, in.ID)))
	switch {
	case err != nil:
		return err
	case found && (now.Trust == "" || now.Trust == amber.TrustAgent || now.Role != amber.RoleUser):
		return nil
	case found:
		return n.secondPrompt(mark, now, in)
	}
	if departed {
		if _, err := n.Returns(amber.ChangeTurn, string(in.ID)); err != nil {
			return err
		}
	}
	if err := n.arrives(n.chunk.Place, mark); err != nil {
		return err
	}
	return n.storePrompt(sqlrows.Entry(amber.OpInsert, amber.ChangeTurn, string(in.ID), "", amber.ContentDigest(in.Content)), in)
}

// secondPrompt is for a prompt with the id of another prompt that came from elsewhere, too. A
// device whose word counts more may vouch for a text. Every device keeps the same one of two texts,
// whichever came first.
func (n *intent) secondPrompt(mark amber.SyncMark, now, in amber.Turn) error {
	c := sqlrows.Entry(amber.OpUpdate, amber.ChangeTurn, string(in.ID), amber.ContentDigest(now.Content), amber.ContentDigest(in.Content))
	order := comparePrompts(c.Old, now, c.New, in)
	raises := now.Trust == amber.TrustImported && in.Trust != amber.TrustImported
	if order == 0 {
		if err := n.hold(mark); err != nil {
			return err
		}
	} else if say, err := n.holds(mark); err != nil || !say {
		return err
	}
	switch {
	case order == 0 && raises:
		return n.Do(vouchTurn, in.Trust, in.ID)
	case order == 0, now.Trust == amber.TrustSigned && in.Trust == amber.TrustImported, order < 0 && !raises:
		return nil
	}
	if err := n.Do(sqlrows.DeleteTurnsWith, in.ID); err != nil {
		return err
	}
	return n.storePrompt(c, in)
}

func (n *intent) storePrompt(c sqlrows.Change, in amber.Turn) error {
	n.result.Prompts++
	if err := n.insertTurn(in); err != nil {
		return err
	}
	return n.Log(c)
}

// comparePrompts orders prompts by the digest of their text first.
func comparePrompts(digest string, a amber.Turn, other string, b amber.Turn) int {
	return cmp.Or(
		cmp.Compare(digest, other), cmp.Compare(a.SessionID, b.SessionID), cmp.Compare(a.ProjectID, b.ProjectID),
		cmp.Compare(a.CreatedAt.UnixMilli(), b.CreatedAt.UnixMilli()),
	)
}
