package op

import (
	"context"
	"math"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/recall/contextblock"
	"github.com/amber-memory/amber/wire"
)

// TurnIn asks to store a turn.
type TurnIn struct {
	SessionID
	Body amber.Turn `body:"json" repeats:"session_id=id"`
}

// repeats: a turn with an id is stored once.
func (t TurnIn) repeats() bool { return t.Body.ID != "" }

// TurnAppend stores a turn.
var TurnAppend = do(Row{
	ID: "turn.append", HTTP: "POST /sessions/{id}/turns", Scope: wire.TokenWrite, Kind: Changes | Lasting | Bound, Echo: []string{"session_id"}, Holds: HoldsText,
	Sure: []string{"id"}, Doc: "Store a turn at the end of a session; a turn with an id is stored once",
}, func(ctx context.Context, c *Call, in TurnIn) (amber.Turn, error) {
	if in.Body.Role == amber.RoleUser {
		in.Body.Content = contextblock.Cut(in.Body.Content)
	}
	if err := c.stillThere(ctx, in.Body); err != nil {
		return amber.Turn{}, err
	}
	t, err := c.Store.Turns.AppendTurn(ctx, in.Body)
	c.Subject = string(t.ID)
	return t, err
})

// stillThere refuses to store a turn once more that was removed since its answer was forgotten, as with a memory that it quotes: a retry
// brings nothing back that was erased. Errors: conflict.
func (c *Call) stillThere(ctx context.Context, t amber.Turn) error {
	if !c.Again {
		return nil
	}
	_, err := c.Store.Turns.Turn(ctx, t.ID)
	if amber.KindOf(err) == amber.KindNotFound {
		err = amber.Errorf(amber.KindConflict, "append turn", string(t.ID), "a turn with this id was stored and removed before")
	}
	return err
}

// LastTurnsIn asks for the end of a session.
type LastTurnsIn struct {
	SessionID
	Limit *int `query:"limit" doc:"the most items; default 50, at most 1000; as lines (application/x-ndjson) any number, default all"`
}

func (l LastTurnsIn) check() error {
	if l.Limit != nil && *l.Limit < 0 {
		return Invalid("limit is negative, want 0 or more")
	}
	return nil
}

// TurnList reads as many of the last turns as fit a page. Next is where [TurnPage] goes on with the turns before.
var TurnList = lastTurns()

func lastTurns() Listing[LastTurnsIn, amber.Turn] {
	l := listing(Row{
		ID: "turn.list", HTTP: "GET /sessions/{id}/turns", Scope: wire.TokenRead, Kind: Bound, Doc: "Read the last turns of a session, oldest first",
	}, func(ctx context.Context, c *Call, in LastTurnsIn) (page amber.Page[amber.Turn], err error) {
		limit := atMost(in.Limit)
		if limit == 0 {
			return page, nil
		}
		found, err := c.Store.Turns.ListTurns(ctx, amber.TurnQuery{SessionID: in.id(), Limit: limit})
		for _, t := range slices.Backward(found.Items) {
			page.Items = append(page.Items, t.Turn)
		}
		page.Next, page.SetAside = found.Next, found.SetAside
		return page, err
	})
	l.each = func(ctx context.Context, c *Call, in any, emit func(any) error) error {
		last := in.(LastTurnsIn)
		return eachLastTurn(ctx, c.Store.Turns, last.id(), orElse(last.Limit, math.MaxInt32), emit)
	}
	return l
}

// eachLastTurn emits the last turns of a session, oldest first. They are counted first, since the store reads forwards only from the
// first one.
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

// ConversationIn asks for a page of a session.
type ConversationIn struct {
	SessionID
	Paging
	Order   string `query:"order" doc:"newest or oldest first; default newest"`
	Excerpt int    `query:"excerpt" doc:"give at most this many characters of each turn; default all"`
}

// TurnPage lists the turns of a session.
var TurnPage = list(Row{
	ID: "turn.page", HTTP: "GET /sessions/{id}/conversation", Scope: wire.TokenRead, Kind: Bound,
	Doc: "List the turns of a session, newest or oldest first, whole or their beginnings",
}, func(ctx context.Context, c *Call, in ConversationIn, p Paging) (amber.Page[amber.ListedTurn], error) {
	if in.Order != "" && in.Order != "newest" && in.Order != "oldest" {
		return amber.Page[amber.ListedTurn]{}, Invalid("order is %q, want newest or oldest", clip.Name(in.Order))
	}
	return c.Store.Turns.ListTurns(ctx, amber.TurnQuery{SessionID: in.id(), Oldest: in.Order == "oldest", Excerpt: in.Excerpt, Limit: p.Limit, Cursor: p.Cursor})
})

// TurnID names a turn.
type TurnID struct {
	ID string `path:"id" doc:"the id of the turn"`
}

// TurnGet reads a turn.
var TurnGet = do(Row{
	ID: "turn.get", HTTP: "GET /turns/{id}", Scope: wire.TokenRead, Kind: Bound, Holds: HoldsText, Sure: []string{"id=id"}, Doc: "Read one turn",
}, func(ctx context.Context, c *Call, in TurnID) (amber.Turn, error) {
	return c.Store.Turns.Turn(ctx, amber.TurnID(in.ID))
})

// DeletedTurns says how many turns there were.
type DeletedTurns struct {
	Deleted int `json:"deleted"`
}

// TurnDelete removes every turn of a session. It reports only once how many there were, so it is not repeatable.
var TurnDelete = do(Row{
	ID: "turn.delete", HTTP: "DELETE /sessions/{id}/turns", Scope: wire.TokenWrite, Kind: Changes | Bound, Doc: "Remove every turn of a session",
}, func(ctx context.Context, c *Call, in SessionID) (DeletedTurns, error) {
	n, err := c.Store.Turns.DeleteTurns(ctx, in.id())
	return DeletedTurns{n}, err
})

// CompactionIn asks to store a summary.
type CompactionIn struct {
	SessionID
	Body amber.Compaction `body:"json" repeats:"session_id=id"`
}

// repeats: a summary with an id is stored once.
func (in CompactionIn) repeats() bool { return in.Body.ID != "" }

// CompactionAdd stores the summary of turns that a host dropped.
var CompactionAdd = do(Row{
	ID: "compaction.add", HTTP: "POST /sessions/{id}/compactions", Scope: wire.TokenWrite, Kind: Changes | Lasting | Bound, Echo: []string{"session_id"},
	Doc: "Store the summary of turns; a summary with an id is stored once",
}, func(ctx context.Context, c *Call, in CompactionIn) (amber.Compaction, error) {
	added, err := c.Store.Compactions.AddCompaction(ctx, in.Body)
	c.Subject = added.ID
	return added, err
})

// CompactionsIn asks for the summaries of a session.
type CompactionsIn struct {
	SessionID
	Paging
}

// CompactionList lists the summaries of a session.
var CompactionList = list(Row{
	ID: "compaction.list", HTTP: "GET /sessions/{id}/compactions", Scope: wire.TokenRead, Kind: Bound, Doc: "Read the summaries of a session, oldest first",
}, func(ctx context.Context, c *Call, in CompactionsIn, p Paging) (amber.Page[amber.Compaction], error) {
	return c.Store.Compactions.Compactions(ctx, in.id(), p.paging())
})

// ActivityIn asks what was done in a session.
type ActivityIn struct {
	SessionID
	Kind amber.ActivityKind `query:"kind" doc:"only of this kind"`
}

// ActivityList lists what was done in a session.
var ActivityList = do(Row{
	ID: "activity.list", HTTP: "GET /sessions/{id}/activity", Scope: wire.TokenRead, Kind: Bound,
	Doc: "List the activity of a session, in the order of first occurrence",
}, func(ctx context.Context, c *Call, in ActivityIn) (amber.Page[amber.Activity], error) {
	return items(c.Store.Activities.ListActivity(ctx, in.id(), in.Kind))
})

// ActivityNamedIn asks where something was done.
type ActivityNamedIn struct {
	Kind amber.ActivityKind `query:"kind" doc:"of this kind; context tells which passages stood before an agent"`
	Name string             `query:"name" doc:"with this name; of a passage its layer and owner, as in memory 0198c0de-0000-7000-8000-000000000001"`
}

// ActivityNamed lists what was done under one name.
var ActivityNamed = do(Row{
	ID: "activity.named", HTTP: "GET /activity", Scope: wire.TokenRead, Kind: Bound, Required: []string{"kind"},
	Doc: "List what was done under one name in every session, done last first",
}, func(ctx context.Context, c *Call, in ActivityNamedIn) (amber.Page[amber.Activity], error) {
	return items(c.Store.Activities.ActivityNamed(ctx, in.Kind, in.Name))
})
