package client

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

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
