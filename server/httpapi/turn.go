package httpapi

import (
	"context"
	"math"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/block"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// appendTurn asks to store a turn.
type appendTurn struct {
	sessionID
	Body amber.Turn `body:"json"`
}

// repeats: a turn with an id is stored once.
func (t appendTurn) repeats() bool { return t.Body.ID != "" }

// lastTurns asks for the end of a session.
type lastTurns struct {
	sessionID
	Limit *int `query:"limit" doc:"the most items; default 50, at most 1000; as lines (application/x-ndjson) any number, default all"`
}

func (l lastTurns) most() *int { return l.Limit }

// conversation asks for a page of a session.
type conversation struct {
	sessionID
	paging
	Order   string `query:"order" doc:"newest or oldest first; default newest"`
	Excerpt int    `query:"excerpt" doc:"give at most this many characters of each turn; default all"`
}

// deletedTurns says how many turns there were.
type deletedTurns struct {
	Deleted int `json:"deleted"`
}

// turnRoutes serve the short-term memory of sessions.
func turnRoutes(a *API) {
	const path = agentPath + "/sessions/{id}/turns"
	handle(a, operation{
		id: "turn.append", bound: true, method: "POST", path: path, scope: wire.TokenWrite, mutates: true, echo: []string{"session_id"}, lasting: true,
		summary: "Store a turn at the end of a session; a turn with an id is stored once",
	}, func(ctx context.Context, ag *server.Agent, in appendTurn) (answer[amber.Turn], error) {
		if err := agree("session", in.ID, &in.Body.SessionID); err != nil {
			return answer[amber.Turn]{}, err
		}
		if in.Body.Role == amber.RoleUser {
			in.Body.Content = block.Cut(in.Body.Content)
		}
		if err := stillThere(ctx, ag, in.Body); err != nil {
			return answer[amber.Turn]{}, err
		}
		t, err := ag.Store.Turns.AppendTurn(ctx, in.Body)
		return answer[amber.Turn]{body: t, subject: string(t.ID)}, err
	})

	handleLast(a, operation{
		id: "turn.list", bound: true, method: "GET", path: path, scope: wire.TokenRead, summary: "Read the last turns of a session, oldest first",
	}, func(ctx context.Context, ag *server.Agent, in lastTurns, limit int) ([]amber.Turn, error) {
		return ag.Store.Turns.LoadTurns(ctx, in.id(), limit)
	})

	handleList(a, operation{
		id: "turn.page", bound: true, method: "GET", path: agentPath + "/sessions/{id}/conversation", scope: wire.TokenRead,
		summary: "List the turns of a session, newest or oldest first, whole or their beginnings",
	}, func(ctx context.Context, ag *server.Agent, in conversation, p paging) (amber.Page[amber.ListedTurn], error) {
		if in.Order != "" && in.Order != "newest" && in.Order != "oldest" {
			return amber.Page[amber.ListedTurn]{}, invalid("order is %q, want newest or oldest", clip(in.Order))
		}
		return ag.Store.Turns.ListTurns(ctx, amber.TurnQuery{SessionID: in.id(), Oldest: in.Order == "oldest", Excerpt: in.Excerpt, Limit: p.Limit, Cursor: p.Cursor})
	})

	type one struct {
		ID string `path:"id" doc:"the id of the turn"`
	}
	handle(a, operation{
		id: "turn.get", bound: true, method: "GET", path: agentPath + "/turns/{id}", scope: wire.TokenRead, summary: "Read one turn",
	}, func(ctx context.Context, ag *server.Agent, in one) (answer[amber.Turn], error) {
		return got(ag.Store.Turns.Turn(ctx, amber.TurnID(in.ID)))
	})

	// How many there were is told once, so it is not repeatable.
	handle(a, operation{
		id: "turn.delete", bound: true, method: "DELETE", path: path, scope: wire.TokenWrite, mutates: true, summary: "Remove every turn of a session",
	}, func(ctx context.Context, ag *server.Agent, in sessionID) (answer[deletedTurns], error) {
		n, err := ag.Store.Turns.DeleteTurns(ctx, in.id())
		return got(deletedTurns{n}, err)
	})
}

// stillThere refuses to store a turn once more that was removed since its answer
// was forgotten, as with a memory that it quotes: a retry brings nothing back that
// was erased. Errors: conflict.
func stillThere(ctx context.Context, ag *server.Agent, t amber.Turn) error {
	if !doneBefore(ctx) {
		return nil
	}
	turns, err := ag.Store.Turns.LoadTurns(ctx, t.SessionID, math.MaxInt32)
	if err == nil && !slices.ContainsFunc(turns, func(s amber.Turn) bool { return s.ID == t.ID }) {
		err = amber.Errorf(amber.KindConflict, "append turn", string(t.ID), "a turn with this id was stored and removed before")
	}
	return err
}

// addCompaction asks to store a summary.
type addCompaction struct {
	sessionID
	Body amber.Compaction `body:"json"`
}

// repeats: a summary with an id is stored once.
func (c addCompaction) repeats() bool { return c.Body.ID != "" }

// compactionRoutes serve the summaries of turns that a host dropped.
func compactionRoutes(a *API) {
	const path = agentPath + "/sessions/{id}/compactions"
	handle(a, operation{
		id: "compaction.add", bound: true, method: "POST", path: path, scope: wire.TokenWrite, mutates: true, echo: []string{"session_id"}, lasting: true,
		summary: "Store the summary of turns; a summary with an id is stored once",
	}, func(ctx context.Context, ag *server.Agent, in addCompaction) (answer[amber.Compaction], error) {
		if err := agree("session", in.ID, &in.Body.SessionID); err != nil {
			return answer[amber.Compaction]{}, err
		}
		c, err := ag.Store.Compactions.AddCompaction(ctx, in.Body)
		return answer[amber.Compaction]{body: c, subject: c.ID}, err
	})

	handle(a, operation{
		id: "compaction.list", bound: true, method: "GET", path: path, scope: wire.TokenRead, summary: "Read the summaries of a session, oldest first",
	}, func(ctx context.Context, ag *server.Agent, in sessionID) (answer[amber.Page[amber.Compaction]], error) {
		return items(ag.Store.Compactions.Compactions(ctx, in.id()))
	})
}

// activityRoutes serve what agents did.
func activityRoutes(a *API) {
	type list struct {
		sessionID
		Kind amber.ActivityKind `query:"kind" doc:"only of this kind"`
	}
	handle(a, operation{
		id: "activity.list", bound: true, method: "GET", path: agentPath + "/sessions/{id}/activity", scope: wire.TokenRead,
		summary: "List the activity of a session, in the order of first occurrence",
	}, func(ctx context.Context, ag *server.Agent, in list) (answer[amber.Page[amber.Activity]], error) {
		return items(ag.Store.Activities.ListActivity(ctx, in.id(), in.Kind))
	})

	type named struct {
		Kind amber.ActivityKind `query:"kind" doc:"of this kind; context tells which passages stood before an agent"`
		Name string             `query:"name" doc:"with this name; of a passage its layer and owner, as in memory 0198c0de-0000-7000-8000-000000000001"`
	}
	handle(a, operation{
		id: "activity.named", bound: true, method: "GET", path: agentPath + "/activity", scope: wire.TokenRead,
		summary: "List what was done under one name in every session, done last first",
	}, func(ctx context.Context, ag *server.Agent, in named) (answer[amber.Page[amber.Activity]], error) {
		return items(ag.Store.Activities.ActivityNamed(ctx, in.Kind, in.Name))
	})
}
