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
