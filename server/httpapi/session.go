package httpapi

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// sessionID is in the path of what concerns one session. A store takes any text
// for the id of a session that may be there.
type sessionID struct {
	ID string `path:"id" doc:"the id of the session"`
}

func (s sessionID) id() amber.SessionID { return amber.SessionID(s.ID) }

// sessionStart asks for a session.
type sessionStart struct {
	Body amber.SessionStart `body:"json"`
}

// repeats: one without an id makes a new one every time.
func (s sessionStart) repeats() bool { return s.Body.ID != "" }

// catalogueRoutes serve the catalogue of sessions.
func catalogueRoutes(a *API) {
	handle(a, operation{
		id: "session.start", bound: true, method: "POST", path: agentPath + "/sessions", scope: wire.TokenWrite, mutates: true,
		summary: "Start a session, or go on with one",
	}, func(ctx context.Context, ag *server.Agent, in sessionStart) (answer[amber.Session], error) {
		s, err := ag.Store.Sessions.StartSession(ctx, in.Body)
		return answer[amber.Session]{body: s, subject: string(s.ID)}, err
	})

	type list struct {
		paging
		Binding string `query:"binding" doc:"only of this chat or terminal"`
		Project string `query:"project" doc:"only of this project"`
		Trusted bool   `query:"trusted" doc:"leave out imported sessions"`
	}
	handleList(a, operation{
		id: "session.list", bound: true, method: "GET", path: agentPath + "/sessions", scope: wire.TokenRead, summary: "List sessions, last updated first",
	}, func(ctx context.Context, ag *server.Agent, in list, p paging) (amber.Page[amber.Session], error) {
		return ag.Store.Sessions.ListSessions(ctx, amber.SessionQuery{Binding: in.Binding, Project: in.Project, Trusted: in.Trusted, Limit: p.Limit, Cursor: p.Cursor})
	})

	handle(a, operation{
		id: "session.get", bound: true, method: "GET", path: agentPath + "/sessions/{id}", scope: wire.TokenRead, summary: "Read one session",
	}, func(ctx context.Context, ag *server.Agent, in sessionID) (answer[amber.Session], error) {
		return got(ag.Store.Sessions.Session(ctx, in.id()))
	})

	handle(a, operation{
		id: "session.delete", bound: true, method: "DELETE", path: agentPath + "/sessions/{id}", scope: wire.TokenWrite, mutates: true, repeatable: true,
		summary: "Remove a session with everything in it; long-term memories stay",
	}, func(ctx context.Context, ag *server.Agent, in sessionID) (answer[nothing], error) {
		return done(ag.Store.Sessions.DeleteSession(ctx, in.id()))
	})
}

// sessionEditRoutes change sessions of the catalogue.
func sessionEditRoutes(a *API) {
	type rename struct {
		sessionID
		Body struct {
			Name string `json:"name"`
		} `body:"json"`
	}
	handle(a, operation{
		id: "session.rename", bound: true, method: "PATCH", path: agentPath + "/sessions/{id}", scope: wire.TokenWrite, mutates: true, repeatable: true,
		summary: "Rename a session",
	}, func(ctx context.Context, ag *server.Agent, in rename) (answer[amber.Session], error) {
		return got(ag.Store.Names.RenameSession(ctx, in.id(), in.Body.Name))
	})

	type end struct {
		sessionID
		Body amber.SessionEnd `body:"json"`
	}
	handle(a, operation{
		id: "session.end", bound: true, method: "POST", path: agentPath + "/sessions/{id}/end", scope: wire.TokenWrite, mutates: true, repeatable: true,
		summary: "End a session",
	}, func(ctx context.Context, ag *server.Agent, in end) (answer[amber.Session], error) {
		if err := agree("session", in.ID, &in.Body.ID); err != nil {
			return answer[amber.Session]{}, err
		}
		return got(ag.Store.Names.EndSession(ctx, in.Body))
	})
}

// activeRoutes serve the active session of each binding.
func activeRoutes(a *API) {
	type active struct {
		Binding *string `query:"binding" doc:"the chat or terminal; default cli"`
	}
	handle(a, operation{
		id: "session.active", bound: true, method: "GET", path: agentPath + "/active-session", scope: wire.TokenRead, summary: "Read the active session of a binding",
	}, func(ctx context.Context, ag *server.Agent, in active) (answer[amber.Session], error) {
		return got(ag.Store.Active.ActiveSession(ctx, orElse(in.Binding, amber.DefaultBinding)))
	})

	handle(a, operation{
		id: "session.select", bound: true, method: "POST", path: agentPath + "/sessions/{id}/select", scope: wire.TokenWrite, mutates: true, repeatable: true,
		summary: "Make a session the active one of its binding",
	}, func(ctx context.Context, ag *server.Agent, in sessionID) (answer[amber.Session], error) {
		return got(ag.Store.Active.SelectSession(ctx, in.id()))
	})
}

// atMost is how many are asked for at one time: none is not the same as no
// limit.
func atMost(limit *int) int { return min(orElse(limit, amber.DefaultPageSize), amber.MaxPageSize) }

// orElse is the value of a parameter, or its default where it is not there.
func orElse[T any](v *T, def T) T {
	if v == nil {
		return def
	}
	return *v
}
