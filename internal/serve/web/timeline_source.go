package web

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/wire"
)

// fromLog reads a change log backwards.
func (s *stream) fromLog(source int, log amber.ChangeLog, scopes []amber.ChangeScope) func() ([]timelineRow, bool, error) {
	at := s.marks[source]
	return func() ([]timelineRow, bool, error) {
		changes, err := log.ChangesBefore(s.ctx, amber.ChangeQuery{Before: amber.Position(at), Scopes: scopes, Limit: pageSize + 1})
		rows := make([]timelineRow, len(changes))
		for i, c := range changes {
			rows[i] = timelineRow{At: c.At, change: c, mark: string(c.Position), source: source}
			at = rows[i].mark
		}
		return rows, len(changes) <= pageSize, err
	}
}

// fromSnapshots reads the list of snapshots. A mark is the cursor of a page, and the time
// and the id of the last one that was shown.
func (s *stream) fromSnapshots() func() ([]timelineRow, bool, error) {
	cursor, after := "", ""
	if parts := strings.SplitN(s.marks[sourceSnapshots], " ", 2); len(parts) == 2 {
		cursor, after = parts[0], parts[1]
	}
	return func() ([]timelineRow, bool, error) {
		page, err := s.v.remote.Snapshots().ListSnapshots(s.ctx, wire.SnapshotQuery{Limit: pageSize, Cursor: amber.Cursor(cursor)})
		var rows []timelineRow
		for _, m := range page.Items {
			place := timeMark(m.CreatedAt, string(m.ID))
			if after != "" && place >= after {
				continue
			}
			rows = append(rows, timelineRow{
				At: m.CreatedAt, What: "snapshot", Did: "taken", Title: cmp.Or(m.Label, string(m.ID)), Text: cmp.Or(m.Damage, size(m.BytesNew)+" new"),
				URL: s.v.path("snapshots", string(m.ID)), mark: cursor + " " + place, source: sourceSnapshots,
			})
		}
		cursor = string(page.Next)
		return rows, cursor == "", err
	}
}

// timeMark orders what has no place in a log: by time, then by name.
func timeMark(at amber.Time, name string) string {
	return fmt.Sprintf("%015d %s", at.UnixMilli(), name)
}

// fromNotes reads the list of notes, which has the time of the last change of each.
func (s *stream) fromNotes() func() ([]timelineRow, bool, error) {
	after := s.marks[sourceNotes]
	return func() ([]timelineRow, bool, error) {
		notes, err := s.store.Notes.ListNotes(s.ctx)
		rows := make([]timelineRow, 0, len(notes))
		for _, n := range notes {
			place := timeMark(n.UpdatedAt, n.Name)
			if after == "" || place < after {
				rows = append(rows, timelineRow{
					At: n.UpdatedAt, What: "note", Did: "written", Title: n.Name, Text: size(n.Bytes),
					URL: s.v.path("notes", n.Name), mark: place, source: sourceNotes,
				})
			}
		}
		slices.SortFunc(rows, func(a, b timelineRow) int { return strings.Compare(b.mark, a.mark) })
		return rows, true, err
	}
}

// opWords say what happened to a record.
var opWords = map[amber.Op]string{amber.OpInsert: "stored", amber.OpUpdate: "changed", amber.OpDelete: "removed"}

// resolve fills in what an entry of a log is about. A record that is gone has no text; one that
// is damaged says so in its row, and leaves the others alone.
func (s *stream) resolve(r *timelineRow) error {
	if r.source != sourceMemory && r.source != sourceControl {
		return nil
	}
	c := r.change
	r.What, r.Did = string(c.Scope), opWords[c.Op]
	err := error(nil)
	switch c.Scope {
	case amber.ChangeMemory:
		err = s.ofMemory(r)
	case amber.ChangeTurn:
		err = s.ofTurn(r)
	case amber.ChangeSession, amber.ChangeLoop, amber.ChangeState:
		r.Session, r.URL = amber.SessionID(c.Key), s.v.path("sessions", c.Key)
		err = s.ofSession(r)
	case amber.ChangeCompaction:
		r.What, r.Title = "summary", "Turns were summed up"
	case amber.ChangeControl:
		err = s.ofControl(r)
	}
	switch amber.KindOf(err) {
	case amber.KindNotFound, amber.KindInvalid, amber.KindUnsupported:
		return nil
	case amber.KindDamaged:
		r.Damaged, r.URL = true, s.v.path("health")
		return nil
	}
	return err
}

func (s *stream) ofMemory(r *timelineRow) error {
	r.URL = s.v.path("memories", r.change.Key)
	if r.change.Op == amber.OpDelete {
		r.Did = "forgotten"
		return nil
	}
	m, err := s.store.Memories.Get(s.ctx, amber.MemoryID(r.change.Key))
	if err == nil {
		r.Title, r.Text, r.Project, r.Session, r.Trust = m.Title, rowText(m.Content), m.ProjectID, m.SessionID, m.Trust
	}
	return err
}

func (s *stream) ofTurn(r *timelineRow) error {
	if r.change.Op == amber.OpDelete {
		return nil
	}
	t, err := s.store.Turns.Turn(s.ctx, amber.TurnID(r.change.Key))
	if err != nil {
		return err
	}
	r.Title, r.Project, r.Session, r.Trust, r.Role = brief(rowText(t.Content), 140), t.ProjectID, t.SessionID, t.Trust, t.Role
	r.URL = s.v.path("sessions", string(t.SessionID), "turns", string(t.ID))
	if r.Project == "" {
		r.Project = s.session(t.SessionID).Project
	}
	return nil
}

func (s *stream) ofSession(r *timelineRow) error {
	found := s.session(r.Session)
	if r.change.Scope == amber.ChangeState && found.ID == "" && s.broken[r.Session] == nil { // of runtime state, or of a session that is not in the catalogue
		r.Session, r.URL, r.Title = "", "", r.change.Key
		return nil
	}
	r.Title, r.Text, r.Project, r.Trust = found.Name, found.Summary, found.Project, found.Trust
	switch {
	case r.What != string(amber.ChangeSession):
	case r.change.Op == amber.OpInsert:
		r.Did = "started"
	case !found.EndedAt.IsZero():
		r.Did = "changed, ended since"
	}
	return s.broken[r.Session]
}

// session is a session of the catalogue; the zero value where it is not there.
func (s *stream) session(id amber.SessionID) amber.Session {
	found, known := s.sessions[id]
	if !known && id != "" {
		var err error
		found, err = s.store.Sessions.Session(s.ctx, id) // it need not be in the catalogue
		found = amber.Session{ID: found.ID, Name: found.Name, Summary: rowText(found.Summary), Project: found.Project, Trust: found.Trust, EndedAt: found.EndedAt}
		s.sessions[id] = found
		if amber.KindOf(err) == amber.KindDamaged {
			s.broken[id] = err
		}
	}
	return found
}

// nameOf is what readers call a session.
func (s *stream) nameOf(id amber.SessionID) string {
	if name := s.session(id).Name; name != "" && name != string(id) {
		return name
	}
	return "session " + string(id[max(0, len(id)-8):])
}

// rowText is what a row keeps of a text, so that a page does not hold every whole text until it is drawn.
func rowText(s string) string { return clip.Marked(s, 4*shownRow) }

// ofControl fills a row about an approval, a task, a result or a queue. Their ids say enough where the records
// cannot be had, so damage is the only error.
func (s *stream) ofControl(r *timelineRow) error {
	err := error(nil)
	kind, id, _ := strings.Cut(r.change.Key, "/")
	r.What, r.Title, r.URL = kind, id, s.v.path("work")
	switch kind {
	case "approval":
		var a amber.Approval
		if a, err = s.store.Approvals.Approval(s.ctx, id); err == nil {
			r.Title, r.Text, r.Did = rowText(a.Summary), string(a.Status), map[bool]string{true: "asked for", false: "decided"}[r.change.Op == amber.OpInsert]
		}
	case "task":
		var t amber.Task
		if t, err = s.store.Tasks.Task(s.ctx, id); err == nil {
			r.Title, r.Text = cmp.Or(rowText(t.Goal), id), string(t.State)
		}
	case "event":
		task, n, _ := strings.Cut(id, "/")
		if _, err := strconv.Atoi(n); err == nil {
			r.What, r.Title, r.Text = "task event", task, "event "+n
		}
	}
	if amber.KindOf(err) == amber.KindDamaged {
		return err
	}
	return nil
}
