package nexo

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
)

const (
	lostTurns    = "turns that cannot be read"
	lostSessions = "sessions that cannot be read"
)

// catalogue brings back the sessions of an export.
func (i *importer) catalogue(ctx context.Context, f *file) error {
	return fieldsOf(ctx, i, f, fieldsSession, lostSessions, func(id string, s amber.Session) (amber.Session, bool) {
		return s, uuidOf(fieldsSession, string(s.ID)) == id && isSession(s)
	}, i.storeSession)
}

// isSession checks a session by the rules of starting and ending one.
func isSession(s amber.Session) bool {
	start, err := amber.SessionStart{ID: s.ID, Binding: s.Binding, Project: s.Project, Directory: s.Directory, Parent: s.Parent}.Normalize()
	if err != nil || start.Binding != s.Binding || amber.CheckID("session id", string(s.ID)) != nil {
		return false
	}
	if _, err := amber.CheckSessionName(s.Name); err != nil && s.Name != string(s.ID) {
		return false
	}
	end := amber.SessionEnd{ID: s.ID, Reason: s.EndReason, Summary: s.Summary}
	if _, err := end.Normalize(); err != nil || s.EndedAt.IsZero() != (s.EndReason == "") {
		return false
	}
	for _, at := range []amber.Time{s.StartedAt, s.CreatedAt, s.UpdatedAt} {
		if !isTime(at.UnixMilli()) {
			return false
		}
	}
	return s.EndedAt.IsZero() || isTime(s.EndedAt.UnixMilli())
}

// storeSession stores a session that is not there. No session is the active one
// of a binding because of an import, and like a memory it is not believed.
func (i *importer) storeSession(s amber.Session) error {
	err := i.addSession(s)
	if amber.KindOf(err) == amber.KindConflict {
		i.left.add(lostSessions, 1)
		return nil
	}
	return err
}

func (i *importer) addSession(s amber.Session) error {
	s.Trust = amber.TrustImported
	err := i.into.AddSession(s)
	if err == nil {
	}
	return err
}

// turns imports the turns of the agent, in the order they were spoken. Only the
// numbers of the rows are sorted, so that their text need not be held.
func (i *importer) turns(ctx context.Context, f *file) error {
	_, ok, err := f.use("interactions", "id", "session_id", "agent_id", "role", "content", "created_at")
	if !ok || err != nil {
		return i.without(f, "interactions", err)
	}
	fields, join, err := i.fields(fieldsTurn, "i.id")
	if err != nil {
		return err
	}
	order := "i.created_at, i.rowid"
	if join != "" {
		order = "f.seq IS NULL, f.seq, " + order
	}
	rows, err := all(f.conn, func(s sqlconn.Row) (n int64, err error) {
		err = s.Scan(&n)
		return n, err
	}, fmt.Sprintf(`SELECT i.rowid FROM interactions i %s WHERE i.agent_id = ? ORDER BY %s`, join, order), i.agent)
	if err != nil {
		return err
	}
	b := &batch[turnRow]{i: i, ctx: ctx, store: i.storeTurn}
	query := fmt.Sprintf(`SELECT i.id, i.session_id, i.agent_id, i.role, i.content, i.created_at, %s FROM interactions i %s WHERE i.rowid = ?`, fields, join)
	for _, n := range rows {
		said, ok, err := i.scanTurn(f.row(query, n))
		if err != nil {
			return err
		}
		if !ok {
			i.left.add(lostTurns, 1)
			continue
		}
		if err := b.add(said); err != nil {
			return err
		}
	}
	return b.flush()
}

// turnRow is a turn that was checked.
type turnRow struct {
	amber.Turn
	known bool // to Amber: whether it has a session is known too
}

func (i *importer) scanTurn(s sqlconn.Row) (said turnRow, ok bool, err error) {
	var v [7]any
	if err := s.Scan(&v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6]); err != nil {
		return said, false, err
	}
	var texts [5]string
	for n := range texts {
		if texts[n], ok = text(v[n]); !ok {
			return said, false, nil
		}
	}
	at, ok := millis(v[5])
	if !ok || texts[0] == "" || texts[2] != string(i.agent) {
		return said, false, nil
	}
	said.Turn = amber.Turn{
		ID: amber.TurnID(uuidOf(fieldsTurn, texts[0])), SessionID: amber.SessionID(texts[1]),
		Role: amber.Role(texts[3]), Content: texts[4], CreatedAt: amber.UnixMilli(at),
	}
	var f turnFields
	if body, _ := text(v[6]); body != "" && json.Unmarshal([]byte(body), &f) == nil &&
		uuidOf(fieldsTurn, string(f.ID)) == texts[0] && uuidOf(fieldsSession, string(f.SessionID)) == texts[1] {
		said.ID, said.SessionID, said.ProjectID, said.Trust, said.known = f.ID, f.SessionID, f.ProjectID, f.Trust, true
	}
	said.Turn, err = said.Normalize()
	return said, err == nil, nil
}

func (i *importer) storeTurn(said turnRow) error {
	err := i.into.AddTurn(said.Turn)
	if amber.KindOf(err) == amber.KindConflict {
		i.left.add(lostTurns, 1)
		return nil
	}
	if err != nil {
		return err
	}
	if said.known {
		return nil
	}
	at := said.CreatedAt.UnixMilli()
	s, seen := i.sessions[said.SessionID]
	if !seen {
		s = span{at, at}
	}
	i.sessions[said.SessionID] = span{min(s.first, at), max(s.last, at)}
	return nil
}

// newSessions makes the sessions that turns name and no export describes. They
// are over.
func (i *importer) newSessions(ctx context.Context) error {
	b := &batch[amber.Session]{i: i, ctx: ctx, store: func(s amber.Session) error {
		err := i.addSession(s)
		if amber.KindOf(err) == amber.KindConflict { // an export describes the session
			return nil
		}
		return err
	}}
	for _, id := range slices.Sorted(maps.Keys(i.sessions)) {
		s := i.sessions[id]
		err := b.add(amber.Session{
			ID: id, Name: string(id), Binding: defaultBinding,
			StartedAt: amber.UnixMilli(s.first), EndedAt: amber.UnixMilli(s.last), EndReason: amber.EndEnded,
			CreatedAt: amber.UnixMilli(s.first), UpdatedAt: amber.UnixMilli(s.last),
		})
		if err != nil {
			return err
		}
	}
	return b.flush()
}

// compactions imports the summaries of sessions. They do not say whose they
// are: where there are other agents, the session must be one of this agent.
func (i *importer) compactions(ctx context.Context, f *file) error {
	_, ok, err := f.use("compactions_v1", "session_id", "compacted_at", "head_turn_count", "summary")
	if !ok || err != nil {
		return i.without(f, "compactions_v1", err)
	}
	query := `SELECT session_id, compacted_at, head_turn_count, summary FROM compactions_v1 ORDER BY rowid`
	return stream(ctx, i, f, "compactions that cannot be read", query, nil, i.scanCompaction, i.storeCompaction)
}

func (i *importer) scanCompaction(s sqlconn.Row) (c amber.Compaction, ok bool, err error) {
	var v [4]any
	if err := s.Scan(&v[0], &v[1], &v[2], &v[3]); err != nil {
		return c, false, err
	}
	session, sessionOK := text(v[0])
	at, atOK := millis(v[1])
	turns, turnsOK := v[2].(int64)
	summary, summaryOK := text(v[3])
	if !sessionOK || !atOK || !turnsOK || !summaryOK || turns < 0 || turns > maxRows {
		return c, false, nil
	}
	key := compactionKey(session, at)
	c = amber.Compaction{
		ID: uuidOf(fieldsCompaction, key), SessionID: amber.SessionID(session),
		Summary: summary, Turns: int(turns), CreatedAt: amber.UnixMilli(at),
	}
	f, err := i.keptOf(key)
	if err != nil {
		return c, false, err
	}
	if uuidOf(fieldsSession, string(f.SessionID)) == session && isTime(f.CreatedAt.UnixMilli()) && f.ID != "" {
		c.ID, c.SessionID, c.CreatedAt = f.ID, f.SessionID, f.CreatedAt
	}
	c, err = c.Normalize()
	return c, err == nil, nil
}

// keptOf looks up what long_term.sqlite says of a row of another
// file.
func (i *importer) keptOf(key string) (f compactionFields, err error) {
	if !i.longTerm.tables["amber_fields"].has("kind", "id", "json") {
		return f, nil
	}
	var body any
	err = i.longTerm.row(`SELECT json FROM amber_fields WHERE kind = ? AND id = ?`, fieldsCompaction, key).Scan(&body)
	if absent(err) {
		return f, nil
	}
	if s, ok := text(body); ok && err == nil && json.Unmarshal([]byte(s), &f) != nil {
		f = compactionFields{}
	}
	return f, err
}

func (i *importer) storeCompaction(c amber.Compaction) error {
	ours, err := i.into.HasSession(c.SessionID)
	if err != nil {
		return err
	}
	if !ours && !i.alone {
		i.left.add("compactions of sessions without an agent", 1)
		return nil
	}
	err = i.into.AddCompaction(c)
	if amber.KindOf(err) == amber.KindConflict {
		i.left.add("compactions that cannot be read", 1)
		return nil
	}
	if err == nil {
	}
	return err
}
