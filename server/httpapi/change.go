package httpapi

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// changeRoutes serve the change logs.
func changeRoutes(a *API) {
	logRoutes(a, "change", "/changes", "what changed", func(ag *server.Agent) amber.ChangeLog { return ag.Store.Changes })
	logRoutes(a, "control_change", "/control-changes", "what changed in the control plane", func(ag *server.Agent) amber.ChangeLog { return ag.Store.ControlChanges })
}

// changeQuery asks for entries of a change log.
type changeQuery struct {
	After  amber.Position `query:"after" doc:"only changes after this position; default: from the beginning"`
	Before amber.Position `query:"before" doc:"with order=newest: only changes before this position; default: from the end"`
	Order  string         `query:"order" doc:"oldest or newest first; default oldest"`
	Scopes []string       `query:"scope" doc:"with order=newest: only changes of this layer, as memory or turn (repeat)"`
	Cursor amber.Cursor   `query:"cursor" doc:"the same as after, or before: the field next of the previous page"`
	Limit  *int           `query:"limit" doc:"the most items; default 50, at most 1000"`
}

func (q changeQuery) page() paging {
	return paging{Limit: orElse(q.Limit, 0), Cursor: cmp.Or(q.Cursor, amber.Cursor(q.After), amber.Cursor(q.Before))}
}

// check refuses two places to begin at, and what the order has no use for. The error is
// of kind invalid.
func (q changeQuery) check() error {
	at := cmp.Or(q.After, q.Before)
	switch {
	case q.Order != "" && q.Order != "oldest" && q.Order != "newest":
		return invalid("order is %q, want oldest or newest", clip(q.Order))
	case q.newest() && q.After != "":
		return invalid("after is for order=oldest, want before")
	case !q.newest() && (q.Before != "" || len(q.Scopes) > 0):
		return invalid("before and scope are for order=newest")
	case at != "" && q.Cursor != "" && string(at) != string(q.Cursor):
		return invalid("after or before and cursor name different positions")
	}
	return nil
}

func (q changeQuery) newest() bool { return q.Order == "newest" }

// read reads a page in the order that is asked for.
func (q changeQuery) read(ctx context.Context, log amber.ChangeLog, at amber.Position, limit int) ([]amber.Change, error) {
	if !q.newest() {
		return log.Changes(ctx, at, limit)
	}
	scopes := make([]amber.ChangeScope, len(q.Scopes))
	for i, s := range q.Scopes {
		scopes[i] = amber.ChangeScope(s)
	}
	return log.ChangesBefore(ctx, amber.ChangeQuery{Before: at, Scopes: scopes, Limit: limit})
}

// most is how many entries are asked for at one time: none is not the same as
// no limit.
func (q changeQuery) most(p paging) int {
	switch {
	case q.Limit == nil && p.Limit == 0:
		return amber.DefaultPageSize
	case q.Limit != nil && *q.Limit == 0:
		return 0
	}
	return min(p.Limit, amber.MaxPageSize)
}

// position is a place in a change log.
type position struct {
	Position amber.Position `json:"position"`
}

func logRoutes(a *API, id, path, what string, log func(*server.Agent) amber.ChangeLog) {
	handleList(a, operation{
		id: id + ".list", bound: true, method: "GET", path: agentPath + path, scope: wire.TokenRead,
		summary: "Read " + what + ", oldest or newest first; next is the position to continue from",
	}, func(ctx context.Context, ag *server.Agent, in changeQuery, p paging) (amber.Page[amber.Change], error) {
		if err := in.check(); err != nil {
			return amber.Page[amber.Change]{}, err
		}
		limit := in.most(p)
		changes, err := in.read(ctx, log(ag), amber.Position(p.Cursor), limit)
		page := amber.Page[amber.Change]{Items: changes}
		if n := len(changes); n > 0 && n == limit {
			page.Next = amber.Cursor(changes[n-1].Position)
		}
		return page, err
	})

	handle(a, operation{
		id: id + ".head", bound: true, method: "GET", path: agentPath + path + "/head", scope: wire.TokenRead, summary: "Read the position of the newest entry",
	}, func(ctx context.Context, ag *server.Agent, _ nothing) (answer[position], error) {
		p, err := log(ag).Head(ctx)
		return got(position{p}, err)
	})
}
