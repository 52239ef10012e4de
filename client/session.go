package client

import (
	"context"
	"net/http"

	"github.com/amber-memory/amber"
)

// sessions are the sessions of an agent.
type sessions struct{ *Agent }

// StartSession implements [amber.Sessions].
func (s sessions) StartSession(ctx context.Context, r amber.SessionStart) (amber.Session, error) {
	r, err := r.Normalize()
	if err != nil {
		return amber.Session{}, err
	}
	got, err := call[amber.Session](ctx, s.c, request{method: http.MethodPost, path: s.path("sessions"), body: r, repeatable: r.ID != ""})
	return got, hasID(got.ID, err)
}

// Session implements [amber.Sessions].
func (s sessions) Session(ctx context.Context, id amber.SessionID) (amber.Session, error) {
	got, err := get[amber.Session](ctx, s.Agent, nil, "sessions", string(id))
	return got, about(got.ID, id, err)
}

// ListSessions implements [amber.Sessions].
func (s sessions) ListSessions(ctx context.Context, q amber.SessionQuery) (amber.Page[amber.Session], error) {
	v := newValues().text("binding", q.Binding).text("project", q.Project).flag("trusted", q.Trusted).number("limit", q.Limit).text("cursor", string(q.Cursor))
	return page[amber.Session](ctx, s.Agent, v.Values, "sessions")
}

// DeleteSession implements [amber.Sessions].
func (s sessions) DeleteSession(ctx context.Context, id amber.SessionID) error {
	return s.remove(ctx, nil, "sessions", string(id))
}

// EndSession implements [amber.SessionEditor].
func (s sessions) EndSession(ctx context.Context, e amber.SessionEnd) (amber.Session, error) {
	e, err := e.Normalize()
	if err != nil {
		return amber.Session{}, err
	}
	return change[amber.Session](ctx, s.Agent, e, "sessions", string(e.ID), "end")
}

// RenameSession implements [amber.SessionEditor].
func (s sessions) RenameSession(ctx context.Context, id amber.SessionID, name string) (amber.Session, error) {
	name, err := amber.CheckSessionName(name)
	if err != nil {
		return amber.Session{}, err
	}
	body := fields{"name": name}
	return call[amber.Session](ctx, s.c, request{method: http.MethodPatch, path: s.path("sessions", string(id)), body: body, once: true})
}

// ActiveSession implements [amber.ActiveSessions].
func (s sessions) ActiveSession(ctx context.Context, binding string) (amber.Session, error) {
	v := newValues()
	v.Set("binding", binding) // none is not the default one
	return get[amber.Session](ctx, s.Agent, v.Values, "active-session")
}

// SelectSession implements [amber.ActiveSessions].
func (s sessions) SelectSession(ctx context.Context, id amber.SessionID) (amber.Session, error) {
	return change[amber.Session](ctx, s.Agent, nil, "sessions", string(id), "select")
}
