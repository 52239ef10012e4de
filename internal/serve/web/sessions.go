package web

import (
	"context"

	"github.com/amber-memory/amber"
)

// sessionScreens are the list of sessions, a session as a conversation, and one turn.
type sessionScreens struct{ *visit }

func sessionRoutes(p *Page) {
	p.get("/sessions", withStore(sessionScreens.sessionList))
	p.get("/sessions/{id}", withStore(sessionScreens.conversation))
	p.get("/sessions/{id}/turns/{turn}", withStore(sessionScreens.turn))
}

// sessionsData is what the list of sessions shows.
type sessionsData struct {
	Project string
	Rows    []sessionRow
	Next    amber.Cursor
	Aside   int // rows that cannot be read
	First   bool
}

// sessionRow is a session and what was said in it last.
type sessionRow struct {
	amber.Session
	Last *amber.ListedTurn // nil: nothing
}

func (v sessionScreens) sessionList(ctx context.Context, store amber.Store) error {
	q := amber.SessionQuery{Project: v.query("project"), Limit: pageSize, Cursor: amber.Cursor(v.query("cursor"))}
	page, err := store.Sessions.ListSessions(ctx, q)
	if err != nil {
		return err
	}
	d := sessionsData{Project: q.Project, Next: page.Next, Aside: len(page.SetAside), First: q.Cursor == ""}
	for _, s := range page.Items {
		d.Rows = append(d.Rows, sessionRow{s, lastTurn(ctx, store, s.ID)})
	}
	words := []string{"session", "list"}
	if q.Project != "" {
		words = append(words, "--project", q.Project)
	}
	return v.render("sessions", screen{Title: "Sessions", Nav: "sessions", Command: v.command(words...)}, d)
}

// lastTurn is what was said last in a session. The list is of use without it.
func lastTurn(ctx context.Context, store amber.Store, id amber.SessionID) *amber.ListedTurn {
	page, err := store.Turns.ListTurns(ctx, amber.TurnQuery{SessionID: id, Limit: 1, Excerpt: shownRow / 2})
	if err != nil || len(page.Items) == 0 {
		return nil
	}
	return &page.Items[0]
}
