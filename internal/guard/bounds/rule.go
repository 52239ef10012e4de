package bounds

import (
	"context"

	"github.com/amber-memory/amber"
)

// rule answers a call of one method.
type rule func(l *Limit, ctx context.Context, c *amber.Call) error

// rules are those of every method that a bound caller may call, by the names of the methods.
var rules = map[string]rule{
	"recall":         (*Limit).recall,
	"ask":            (*Limit).askEverything,
	"write":          prepared((*Limit).write),
	"write_batch":    prepared((*Limit).writes),
	"delete":         under((*Limit).memory),
	"health":         (*Limit).health,
	"get":            (*Limit).get,
	"list":           (*Limit).list,
	"history":        (*Limit).history,
	"timeline":       keeping(under((*Limit).memory), (*Limit).sees),
	"edit":           within((*Limit).memory, func(r *amber.EditRequest) *amber.MemoryID { return &r.ID }),
	"erase":          under((*Limit).memory),
	"relate":         (*Limit).relate,
	"relation":       under((*Limit).relation),
	"unrelate":       under((*Limit).relation),
	"related":        keeping(under((*Limit).memory), (*Limit).seesRelation),
	"neighbours":     (*Limit).neighbours,
	"set_concepts":   under((*Limit).memory),
	"concepts":       under((*Limit).memory),
	"count_concepts": (*Limit).countConcepts,
	"stats":          (*Limit).stats,
	"changes":        (*Limit).changes,
	"changes_before": (*Limit).changes,
	"head":           asIs,

	"start_session":  showing(prepared((*Limit).start)),
	"session":        showing(under((*Limit).ask)),
	"list_sessions":  (*Limit).listSessions,
	"delete_session": under((*Limit).ask),
	"end_session":    showing(within((*Limit).ask, func(e *amber.SessionEnd) *amber.SessionID { return &e.ID })),
	"rename_session": showing(under((*Limit).ask)),
	"active_session": showing((*Limit).activeSession),
	"select_session": showing((*Limit).selectSession),
	"save_state":     entering(func(id amber.SessionID) amber.SessionID { return id }),
	"load_state":     under((*Limit).ask),
	"delete_state":   under((*Limit).ask),
	"list_activity":  under((*Limit).ask),
	"activity_named": (*Limit).activityNamed,
	"append_turn":    prepared((*Limit).newTurn),
	"list_turns":     within((*Limit).ask, func(q *amber.TurnQuery) *amber.SessionID { return &q.SessionID }),
	"turn":           under((*Limit).turnID),
	"delete_turns":   under((*Limit).ask),
	"add_compaction": entering(func(c amber.Compaction) amber.SessionID { return c.SessionID }),
	"compactions":    under((*Limit).ask),
	"save_loop":      entering(func(s amber.LoopSave) amber.SessionID { return s.SessionID }),
	"load_loop":      under((*Limit).ask),
	"clear_loop":     under((*Limit).ask),
	"ingest":         prepared((*Limit).ingestion),
	"journal_cursor": (*Limit).journalCursor,
	"open_journals":  keeping(asIs, (*Limit).seesCursor),

	"save_task":        (*Limit).saveTask,
	"task":             under((*Limit).task),
	"list_tasks":       paging(func(c *amber.Call) *amber.Cursor { return &c.In[0].(*amber.TaskQuery).Cursor }, (*Limit).seesTask),
	"append_event":     adding(func(e amber.TaskEvent) string { return e.TaskID }),
	"list_events":      under((*Limit).task),
	"compact_events":   under((*Limit).task),
	"replay":           under((*Limit).task),
	"request_approval": (*Limit).requestApproval,
	"decide_approval":  within((*Limit).approval, func(d *amber.ApprovalDecision) *string { return &d.ID }),
	"approval":         under((*Limit).approval),
	"list_approvals":   paging(cursorBehind, (*Limit).seesApproval),
	"save_result":      adding(func(r amber.Result) string { return r.TaskID }),
	"result":           under((*Limit).task),
	"list_results":     under((*Limit).task),
}

// asIs asks the store what the caller asks.
func asIs(_ *Limit, ctx context.Context, c *amber.Call) error { return c.Next(ctx) }

// answered gives a call its answer.
func answered[T any](v T, err error) func(c *amber.Call) error {
	return func(c *amber.Call) error {
		*c.Out.(*T) = v
		return err
	}
}

// under asks the store under the id that is the first argument, or under its stand-in where the caller does not see what
// the id names; as says which.
func under[ID ~string](as func(*Limit, context.Context, ID) (ID, error)) rule {
	return within(as, func(id *ID) *ID { return id })
}

// within is under for an id in the request that is the first argument.
func within[R any, ID ~string](as func(*Limit, context.Context, ID) (ID, error), of func(*R) *ID) rule {
	return func(l *Limit, ctx context.Context, c *amber.Call) error {
		id := of(c.In[0].(*R))
		was := *id
		var err error
		if *id, err = as(l, ctx, was); err != nil {
			return err
		}
		return asked(was, c.Next(ctx))
	}
}

// prepared gives the store the request that prepare makes of the caller's.
func prepared[R any](prepare func(*Limit, context.Context, R) (R, error)) rule {
	return func(l *Limit, ctx context.Context, c *amber.Call) error {
		r := c.In[0].(*R)
		var err error
		if *r, err = prepare(l, ctx, *r); err != nil {
			return err
		}
		return c.Next(ctx)
	}
}

// entering makes sure that the caller may store something in the session of a request.
func entering[R any](of func(R) amber.SessionID) rule {
	return func(l *Limit, ctx context.Context, c *amber.Call) error {
		if err := l.enter(ctx, c.Method.Op, of(*c.In[0].(*R))); err != nil {
			return err
		}
		return c.Next(ctx)
	}
}

// adding makes sure that the caller may store something for the task of a request.
func adding[R any](of func(R) string) rule {
	return func(l *Limit, ctx context.Context, c *amber.Call) error {
		if err := l.addTo(ctx, c.Method.Op, of(*c.In[0].(*R))); err != nil {
			return err
		}
		return c.Next(ctx)
	}
}

// keeping answers with those items of a list that the caller sees.
func keeping[T any](list rule, sees func(*Limit, context.Context, T) (bool, error)) rule {
	return func(l *Limit, ctx context.Context, c *amber.Call) error {
		if err := list(l, ctx, c); err != nil {
			return err
		}
		return answered(kept(*c.Out.(*[]T), func(v T) (bool, error) { return sees(l, ctx, v) }))(c)
	}
}

// paging answers with a page of what the caller sees.
func paging[T any](cursor func(*amber.Call) *amber.Cursor, sees func(*Limit, context.Context, T) (bool, error)) rule {
	return func(l *Limit, ctx context.Context, c *amber.Call) error {
		at := cursor(c)
		return answered(pages(*at, func(next amber.Cursor) (amber.Page[T], error) {
			*at = next
			err := c.Next(ctx)
			return *c.Out.(*amber.Page[T]), err
		}, func(v T) (bool, error) { return sees(l, ctx, v) }))(c)
	}
}

// cursorBehind is the cursor of the paging that is the second argument.
func cursorBehind(c *amber.Call) *amber.Cursor { return &c.In[1].(*amber.Paging).Cursor }

// showing answers with a session as the caller is shown it.
func showing(r rule) rule {
	return func(l *Limit, ctx context.Context, c *amber.Call) error {
		err := r(l, ctx, c)
		return answered(shown(*c.Out.(*amber.Session)), err)(c)
	}
}
