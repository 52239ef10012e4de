package op

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// SessionID names a session. A store takes any text for the id of a session that may be there.
type SessionID struct {
	ID string `path:"id" doc:"the id of the session"`
}

func (s SessionID) id() amber.SessionID { return amber.SessionID(s.ID) }

// SessionStartIn asks for a session.
type SessionStartIn struct {
	Body amber.SessionStart `body:"json"`
}

// repeats: one without an id makes a new one every time.
func (s SessionStartIn) repeats() bool { return s.Body.ID != "" }

// SessionStart starts a session.
var SessionStart = do(Row{
	ID: "session.start", HTTP: "POST /sessions", Scope: wire.TokenWrite, Kind: Changes | Bound, Sure: []string{"id"}, Doc: "Start a session, or go on with one",
}, func(ctx context.Context, c *Call, in SessionStartIn) (amber.Session, error) {
	s, err := c.Store.Sessions.StartSession(ctx, in.Body)
	c.Subject = string(s.ID)
	return s, err
})

// SessionsIn asks for a page of sessions.
type SessionsIn struct {
	Paging
	Binding string `query:"binding" doc:"only of this chat or terminal"`
	Project string `query:"project" doc:"only of this project"`
	Trusted bool   `query:"trusted" doc:"leave out imported sessions"`
}

// SessionList lists sessions.
var SessionList = list(Row{
	ID: "session.list", HTTP: "GET /sessions", Scope: wire.TokenRead, Kind: Bound, Doc: "List sessions, last updated first",
}, func(ctx context.Context, c *Call, in SessionsIn, p Paging) (amber.Page[amber.Session], error) {
	return c.Store.Sessions.ListSessions(ctx, amber.SessionQuery{Binding: in.Binding, Project: in.Project, Trusted: in.Trusted, Limit: p.Limit, Cursor: p.Cursor})
})

// SessionGet reads a session.
var SessionGet = do(Row{
	ID: "session.get", HTTP: "GET /sessions/{id}", Scope: wire.TokenRead, Kind: Bound, Sure: []string{"id=id"}, Doc: "Read one session",
}, func(ctx context.Context, c *Call, in SessionID) (amber.Session, error) {
	return c.Store.Sessions.Session(ctx, in.id())
})

// SessionDelete removes a session.
var SessionDelete = do(Row{
	ID: "session.delete", HTTP: "DELETE /sessions/{id}", Scope: wire.TokenWrite, Kind: Changes | Repeats | Bound | Keyed,
	Doc: "Remove a session with everything in it; long-term memories stay",
}, func(ctx context.Context, c *Call, in SessionID) (None, error) {
	return None{}, c.Store.Sessions.DeleteSession(ctx, in.id())
})

// SessionRenameIn asks for another name of a session.
type SessionRenameIn struct {
	SessionID
	Body struct {
		Name string `json:"name"`
	} `body:"json"`
}

// SessionRename renames a session.
var SessionRename = do(Row{
	ID: "session.rename", HTTP: "PATCH /sessions/{id}", Scope: wire.TokenWrite, Kind: Changes | Repeats | Bound | Keyed, Doc: "Rename a session",
}, func(ctx context.Context, c *Call, in SessionRenameIn) (amber.Session, error) {
	return c.Store.Names.RenameSession(ctx, in.id(), in.Body.Name)
})

// SessionEndIn asks to end a session.
type SessionEndIn struct {
	SessionID
	Body amber.SessionEnd `body:"json" repeats:"id"`
}

// SessionEnd ends a session.
var SessionEnd = do(Row{
	ID: "session.end", HTTP: "POST /sessions/{id}/end", Scope: wire.TokenWrite, Kind: Changes | Repeats | Bound | Keyed, Doc: "End a session",
}, func(ctx context.Context, c *Call, in SessionEndIn) (amber.Session, error) {
	return c.Store.Names.EndSession(ctx, in.Body)
})

// SessionActiveIn names a binding.
type SessionActiveIn struct {
	Binding *string `query:"binding" doc:"the chat or terminal; default cli"`
}

// SessionActive reads the active session of a binding.
var SessionActive = do(Row{
	ID: "session.active", HTTP: "GET /active-session", Scope: wire.TokenRead, Kind: Bound, Doc: "Read the active session of a binding",
}, func(ctx context.Context, c *Call, in SessionActiveIn) (amber.Session, error) {
	return c.Store.Active.ActiveSession(ctx, orElse(in.Binding, amber.DefaultBinding))
})

// SessionSelect makes a session the active one.
var SessionSelect = do(Row{
	ID: "session.select", HTTP: "POST /sessions/{id}/select", Scope: wire.TokenWrite, Kind: Changes | Repeats | Bound | Keyed,
	Doc: "Make a session the active one of its binding",
}, func(ctx context.Context, c *Call, in SessionID) (amber.Session, error) {
	return c.Store.Active.SelectSession(ctx, in.id())
})
