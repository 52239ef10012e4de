package client

import (
	"context"
	"net/http"

	"github.com/amber-memory/amber"
)

// turns are the turns of sessions, their summaries and what was done.
type turns struct{ *Agent }

// AppendTurn implements [amber.Turns].
func (t turns) AppendTurn(ctx context.Context, turn amber.Turn) (amber.Turn, error) {
	turn, err := turn.Normalize()
	if err != nil {
		return amber.Turn{}, err
	}
	got, err := call[amber.Turn](ctx, t.c, request{
		method: http.MethodPost, path: t.path("sessions", string(turn.SessionID), "turns"), body: turn, repeatable: turn.ID != "",
	})
	return got, hasID(got.ID, err)
}

// ListTurns implements [amber.Turns].
func (t turns) ListTurns(ctx context.Context, q amber.TurnQuery) (amber.Page[amber.ListedTurn], error) {
	order := "newest"
	if q.Oldest {
		order = "oldest"
	}
	v := newValues().text("order", order).number("excerpt", q.Excerpt).number("limit", q.Limit).text("cursor", string(q.Cursor))
	return page[amber.ListedTurn](ctx, t.Agent, v.Values, "sessions", string(q.SessionID), "conversation")
}

// Turn implements [amber.Turns].
func (t turns) Turn(ctx context.Context, id amber.TurnID) (amber.Turn, error) {
	got, err := get[amber.Turn](ctx, t.Agent, nil, "turns", string(id))
	return got, about(got.ID, id, err)
}

// DeleteTurns implements [amber.Turns]. It is not tried again once it was sent:
// the server reports only once how many there were.
func (t turns) DeleteTurns(ctx context.Context, id amber.SessionID) (int, error) {
	out, err := call[struct {
		Deleted *int `json:"deleted"`
	}](ctx, t.c, request{method: http.MethodDelete, path: t.path("sessions", string(id), "turns")})
	switch {
	case err != nil:
		return 0, err
	case out.Deleted == nil:
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
	return call[amber.Compaction](ctx, t.c, request{
		method: http.MethodPost, path: t.path("sessions", string(c.SessionID), "compactions"), body: c, repeatable: c.ID != "",
	})
}

// Compactions implements [amber.Compactions].
func (t turns) Compactions(ctx context.Context, id amber.SessionID, p amber.Paging) (amber.Page[amber.Compaction], error) {
	return page[amber.Compaction](ctx, t.Agent, newValues().paging(p).Values, "sessions", string(id), "compactions")
}

// ActivityNamed implements [amber.Activities].
func (t turns) ActivityNamed(ctx context.Context, kind amber.ActivityKind, name string) ([]amber.Activity, error) {
	return list[amber.Activity](ctx, t.Agent, newValues().text("kind", string(kind)).text("name", name).Values, "activity")
}

// ListActivity implements [amber.Activities].
func (t turns) ListActivity(ctx context.Context, id amber.SessionID, kind amber.ActivityKind) ([]amber.Activity, error) {
	return list[amber.Activity](ctx, t.Agent, newValues().text("kind", string(kind)).Values, "sessions", string(id), "activity")
}
