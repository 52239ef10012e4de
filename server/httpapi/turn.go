package httpapi

import (
	"context"
	"math"
	"net/http"
	"reflect"
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

	last := operation{
		id: "turn.list", bound: true, method: "GET", path: path, scope: wire.TokenRead, summary: "Read the last turns of a session, oldest first",
		in: reflect.TypeFor[lastTurns](), out: reflect.TypeFor[amber.Turn](), list: true,
	}
	last.serve = serveLastTurns
	a.add(last)

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

// serveLastTurns answers as many of the last turns as fit a page, or all that are asked for, each on a line of its own, when
// application/x-ndjson is asked for. Next is where conversation goes on with the turns before.
func serveLastTurns(a *API, o *operation, w http.ResponseWriter, r *http.Request) {
	var in lastTurns
	_, err := a.bind(r, o, &in)
	if err == nil && in.Limit != nil && *in.Limit < 0 {
		err = invalid("limit is negative, want 0 or more")
	}
	if err != nil {
		a.fail(w, r, err)
		return
	}
	if wantsLines(r) {
		a.streamLines(w, r, o, func(ctx context.Context, ag *server.Agent, emit func(any) error) error {
			return eachLastTurn(ctx, ag.Store.Turns, in.id(), orElse(in.Limit, math.MaxInt32), emit)
		})
		return
	}
	a.once(w, r, o, asked{}, func(ctx context.Context) (response, error) {
		page := amber.Page[amber.Turn]{Items: []amber.Turn{}}
		err := a.do(ctx, o, a.job(r, o), func(ctx context.Context, ag *server.Agent) (_ []string, _ string, err error) {
			page, err = pageOfLastTurns(ctx, ag.Store.Turns, in.id(), atMost(in.Limit))
			return nil, "", err
		})
		if err != nil {
			return response{}, err
		}
		return newResponse(0, "", page)
	})
}

func pageOfLastTurns(ctx context.Context, turns amber.Turns, id amber.SessionID, limit int) (amber.Page[amber.Turn], error) {
	page := amber.Page[amber.Turn]{Items: []amber.Turn{}}
	if limit == 0 {
		return page, nil
	}
	found, err := turns.ListTurns(ctx, amber.TurnQuery{SessionID: id, Limit: limit})
	for _, t := range slices.Backward(found.Items) {
		page.Items = append(page.Items, t.Turn)
	}
	page.Next, page.SetAside = found.Next, found.SetAside
	return page, err
}

// eachLastTurn emits the last turns of a session, oldest first. They are counted first, since the store reads forwards
// only from the first one.
func eachLastTurn(ctx context.Context, turns amber.Turns, id amber.SessionID, limit int, emit func(any) error) error {
	skip := -limit
	counting := amber.TurnQuery{SessionID: id, Oldest: true, Excerpt: 1, Limit: amber.MaxPageSize}
	if err := eachTurn(ctx, turns, counting, func(amber.ListedTurn) error { skip++; return nil }); err != nil {
		return err
	}
	return eachTurn(ctx, turns, amber.TurnQuery{SessionID: id, Oldest: true, Limit: amber.MaxPageSize}, func(t amber.ListedTurn) error {
		if skip--; skip >= 0 {
			return nil
		}
		return emit(t.Turn)
	})
}

func eachTurn(ctx context.Context, turns amber.Turns, q amber.TurnQuery, fn func(amber.ListedTurn) error) error {
	for {
		page, err := turns.ListTurns(ctx, q)
		if err != nil {
			return err
		}
		for _, t := range page.Items {
			if err := fn(t); err != nil {
				return err
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return nil
		}
	}
}

// stillThere refuses to store a turn once more that was removed since its answer
// was forgotten, as with a memory that it quotes: a retry brings nothing back that
// was erased. Errors: conflict.
func stillThere(ctx context.Context, ag *server.Agent, t amber.Turn) error {
	if !doneBefore(ctx) {
		return nil
	}
	_, err := ag.Store.Turns.Turn(ctx, t.ID)
	if amber.KindOf(err) == amber.KindNotFound {
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

	type list struct {
		sessionID
		paging
	}
	handleList(a, operation{
		id: "compaction.list", bound: true, method: "GET", path: path, scope: wire.TokenRead, summary: "Read the summaries of a session, oldest first",
	}, func(ctx context.Context, ag *server.Agent, in list, p paging) (amber.Page[amber.Compaction], error) {
		return ag.Store.Compactions.Compactions(ctx, in.id(), p.paging())
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
