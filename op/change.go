package op

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/wire"
)

// The change logs of an agent: what was remembered, and the control plane.
var (
	ChangeList        = changeList("change", "/changes", "what changed", memoryLog)
	ChangeHead        = changeHead("change", "/changes", memoryLog)
	ControlChangeList = changeList("control_change", "/control-changes", "what changed in the control plane", controlLog)
	ControlChangeHead = changeHead("control_change", "/control-changes", controlLog)
)

func memoryLog(c *Call) amber.ChangeLog { return c.Store.Changes }

func controlLog(c *Call) amber.ChangeLog { return c.Store.ControlChanges }

// ChangesIn asks for entries of a change log.
type ChangesIn struct {
	After  amber.Position `query:"after" doc:"only changes after this position; default: from the beginning"`
	Before amber.Position `query:"before" doc:"with order=newest: only changes before this position; default: from the end"`
	Order  string         `query:"order" doc:"oldest or newest first; default oldest"`
	Scopes []string       `query:"scope" doc:"with order=newest: only changes of this layer, as memory or turn (repeat)"`
	Cursor amber.Cursor   `query:"cursor" doc:"the same as after, or before: the field next of the previous page"`
	Limit  *int           `query:"limit" doc:"the most items; default 50, at most 1000"`
}

func (q ChangesIn) page() Paging {
	return Paging{Limit: orElse(q.Limit, 0), Cursor: cmp.Or(q.Cursor, amber.Cursor(q.After), amber.Cursor(q.Before))}
}

// MayBeNone says that a limit of 0 asks for nothing.
func (q ChangesIn) MayBeNone() bool { return true }

// valid refuses two places to begin at, and what the order has no use for. The error is of kind invalid.
func (q ChangesIn) valid() error {
	at := cmp.Or(q.After, q.Before)
	switch {
	case q.Order != "" && q.Order != "oldest" && q.Order != "newest":
		return Invalid("order is %q, want oldest or newest", clip.Name(q.Order))
	case q.newest() && q.After != "":
		return Invalid("after is for order=oldest, want before")
	case !q.newest() && (q.Before != "" || len(q.Scopes) > 0):
		return Invalid("before and scope are for order=newest")
	case at != "" && q.Cursor != "" && string(at) != string(q.Cursor):
		return Invalid("after or before and cursor name different positions")
	}
	return nil
}

func (q ChangesIn) newest() bool { return q.Order == "newest" }

// read reads a page in the order that is asked for.
func (q ChangesIn) read(ctx context.Context, log amber.ChangeLog, at amber.Position, limit int) ([]amber.Change, error) {
	if !q.newest() {
		return log.Changes(ctx, at, limit)
	}
	scopes := make([]amber.ChangeScope, len(q.Scopes))
	for i, s := range q.Scopes {
		scopes[i] = amber.ChangeScope(s)
	}
	return log.ChangesBefore(ctx, amber.ChangeQuery{Before: at, Scopes: scopes, Limit: limit})
}

// most is how many entries are asked for at one time: none is not the same as no limit.
func (q ChangesIn) most(p Paging) int {
	switch {
	case q.Limit == nil && p.Limit == 0:
		return amber.DefaultPageSize
	case q.Limit != nil && *q.Limit == 0:
		return 0
	}
	return min(p.Limit, amber.MaxPageSize)
}

// LogPosition is a place in a change log.
type LogPosition struct {
	Position amber.Position `json:"position"`
}

func changeList(id, path, what string, log func(*Call) amber.ChangeLog) Listing[ChangesIn, amber.Change] {
	return list(Row{
		ID: id + ".list", HTTP: "GET " + path, Scope: wire.TokenRead, Kind: Bound, Fails: []amber.Kind{amber.KindConflict},
		Doc: "Read " + what + ", oldest or newest first; next is the position to continue from",
	}, func(ctx context.Context, c *Call, in ChangesIn, p Paging) (amber.Page[amber.Change], error) {
		if err := in.valid(); err != nil {
			return amber.Page[amber.Change]{}, err
		}
		limit := in.most(p)
		changes, err := in.read(ctx, log(c), amber.Position(p.Cursor), limit)
		page := amber.Page[amber.Change]{Items: changes}
		if n := len(changes); n > 0 && n == limit {
			page.Next = amber.Cursor(changes[n-1].Position)
		}
		return page, err
	})
}

func changeHead(id, path string, log func(*Call) amber.ChangeLog) Op[None, LogPosition] {
	return do(Row{
		ID: id + ".head", HTTP: "GET " + path + "/head", Scope: wire.TokenRead, Kind: Bound, Doc: "Read the position of the newest entry",
	}, func(ctx context.Context, c *Call, _ None) (LogPosition, error) {
		p, err := log(c).Head(ctx)
		return LogPosition{p}, err
	})
}
