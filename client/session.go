package client

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// sessions are the sessions of an agent.
type sessions struct{ *Agent }

// sessionID is an id in the inputs of operations.
func sessionID(id amber.SessionID) op.SessionID { return op.SessionID{ID: string(id)} }

// StartSession implements [amber.Sessions].
func (s sessions) StartSession(ctx context.Context, r amber.SessionStart) (amber.Session, error) {
	r, err := r.Normalize()
	if err != nil {
		return amber.Session{}, err
	}
	return op.SessionStart.Call(ctx, s, op.SessionStartIn{Body: r})
}

// Session implements [amber.Sessions].
func (s sessions) Session(ctx context.Context, id amber.SessionID) (amber.Session, error) {
	return op.SessionGet.Call(ctx, s, sessionID(id))
}

// ListSessions implements [amber.Sessions].
func (s sessions) ListSessions(ctx context.Context, q amber.SessionQuery) (amber.Page[amber.Session], error) {
	return op.SessionList.Call(ctx, s, op.SessionsIn{
		Paging: op.Paging{Limit: q.Limit, Cursor: q.Cursor}, Binding: q.Binding, Project: q.Project, Trusted: q.Trusted,
	})
}

// DeleteSession implements [amber.Sessions].
func (s sessions) DeleteSession(ctx context.Context, id amber.SessionID) error {
	return done(op.SessionDelete.Call(ctx, s, sessionID(id)))
}

// EndSession implements [amber.SessionEditor].
func (s sessions) EndSession(ctx context.Context, e amber.SessionEnd) (amber.Session, error) {
	e, err := e.Normalize()
	if err != nil {
		return amber.Session{}, err
	}
	return op.SessionEnd.Call(ctx, s, op.SessionEndIn{SessionID: sessionID(e.ID), Body: e})
}

// RenameSession implements [amber.SessionEditor].
func (s sessions) RenameSession(ctx context.Context, id amber.SessionID, name string) (amber.Session, error) {
	name, err := amber.CheckSessionName(name)
	if err != nil {
		return amber.Session{}, err
	}
	in := op.SessionRenameIn{SessionID: sessionID(id)}
	in.Body.Name = name
	return op.SessionRename.Call(ctx, s, in)
}

// ActiveSession implements [amber.ActiveSessions]. No binding is not the default one.
func (s sessions) ActiveSession(ctx context.Context, binding string) (amber.Session, error) {
	return op.SessionActive.Call(ctx, s, op.SessionActiveIn{Binding: &binding})
}

// SelectSession implements [amber.ActiveSessions].
func (s sessions) SelectSession(ctx context.Context, id amber.SessionID) (amber.Session, error) {
	return op.SessionSelect.Call(ctx, s, sessionID(id))
}

// turns are the turns of sessions, their summaries and what was done.
type turns struct{ *Agent }

// AppendTurn implements [amber.Turns].
func (t turns) AppendTurn(ctx context.Context, turn amber.Turn) (amber.Turn, error) {
	turn, err := turn.Normalize()
	if err != nil {
		return amber.Turn{}, err
	}
	return op.TurnAppend.Call(ctx, t, op.TurnIn{SessionID: sessionID(turn.SessionID), Body: turn})
}

// ListTurns implements [amber.Turns].
func (t turns) ListTurns(ctx context.Context, q amber.TurnQuery) (amber.Page[amber.ListedTurn], error) {
	in := op.ConversationIn{SessionID: sessionID(q.SessionID), Paging: op.Paging{Limit: q.Limit, Cursor: q.Cursor}, Order: "newest", Excerpt: q.Excerpt}
	if q.Oldest {
		in.Order = "oldest"
	}
	return op.TurnPage.Call(ctx, t, in)
}

// Turn implements [amber.Turns].
func (t turns) Turn(ctx context.Context, id amber.TurnID) (amber.Turn, error) {
	return op.TurnGet.Call(ctx, t, op.TurnID{ID: string(id)})
}

// DeleteTurns implements [amber.Turns]. It is not tried again once it was sent:
// the server reports only once how many there were. An answer without a number differs from none.
func (t turns) DeleteTurns(ctx context.Context, id amber.SessionID) (int, error) {
	var out struct {
		Deleted *int `json:"deleted"`
	}
	if err := t.Do(ctx, op.TurnDelete.Row, sessionID(id), &out); err != nil {
		return 0, err
	}
	if out.Deleted == nil {
		return 0, incomplete("number")
	}
	return *out.Deleted, nil
}

// AddCompaction implements [amber.Compactions].
func (t turns) AddCompaction(ctx context.Context, c amber.Compaction) (amber.Compaction, error) {
	c, err := c.Normalize()
	if err != nil {
		return amber.Compaction{}, err
	}
	return op.CompactionAdd.Call(ctx, t, op.CompactionIn{SessionID: sessionID(c.SessionID), Body: c})
}

// Compactions implements [amber.Compactions].
func (t turns) Compactions(ctx context.Context, id amber.SessionID, p amber.Paging) (amber.Page[amber.Compaction], error) {
	return op.CompactionList.Call(ctx, t, op.CompactionsIn{SessionID: sessionID(id), Paging: paging(p)})
}

// ActivityNamed implements [amber.Activities].
func (t turns) ActivityNamed(ctx context.Context, kind amber.ActivityKind, name string) ([]amber.Activity, error) {
	return list(op.ActivityNamed.Call(ctx, t, op.ActivityNamedIn{Kind: kind, Name: name}))
}

// ListActivity implements [amber.Activities].
func (t turns) ListActivity(ctx context.Context, id amber.SessionID, kind amber.ActivityKind) ([]amber.Activity, error) {
	return list(op.ActivityList.Call(ctx, t, op.ActivityIn{SessionID: sessionID(id), Kind: kind}))
}
