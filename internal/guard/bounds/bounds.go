package bounds

import (
	"context"
	"errors"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Limit is what a bound caller reaches of an agent. Safe for concurrent use.
type Limit struct {
	bound wire.Bound
	store amber.Store // the whole agent
}

// New returns what a caller reaches of a store.
func New(s amber.Store, b wire.Bound) *Limit { return &Limit{b, s} }

// Store returns the store as the caller has it.
func (l *Limit) Store() amber.Store {
	s := amber.Around(l.store, nil, l.answer)
	s.Notes, s.NoteLog = l.store.Notes, l.store.NoteLog
	closed := amber.Disabled("a caller who is bound to " + l.bound.String() + " does not reach what belongs to the whole agent")
	s.Sync, s.Documents, s.Queue, s.QueueKeeper = closed.Sync, closed.Documents, closed.Queue, closed.QueueKeeper
	return s
}

// answer answers a call by the rule of its method. A method without a rule is refused.
func (l *Limit) answer(ctx context.Context, c *amber.Call) error {
	r := rules[c.Method.Name]
	if r == nil {
		return amber.Errorf(amber.KindRefused, c.Method.Op, "", "the method %s has no rule for bound callers", c.Method.Name)
	}
	return r(l, ctx, c)
}

// named returns identities of a request with what is bound filled in. Errors: refused when the request names another one.
func (l *Limit) named(ids amber.Identities) (amber.Identities, error) {
	for _, d := range []struct {
		what  string
		bound string
		named *string
	}{
		{"user", l.bound.User, &ids.UserID},
		{"project", l.bound.Project, &ids.ProjectID},
		{"workspace", l.bound.Workspace, &ids.WorkspaceID},
	} {
		if d.bound == "" || d.bound == *d.named {
			continue
		}
		if *d.named != "" {
			return ids, amber.Errorf(amber.KindRefused, "check identities", "", "the caller is bound to %s %s, the request names %s %.100q", d.what, d.bound, d.what, *d.named)
		}
		*d.named = d.bound
	}
	return ids, nil
}

// standIn is asked for in the place of an id of others. No store gives a record this id.
func standIn[T ~string](id T) T { return T(amber.TopicID("", "", "", "hidden "+string(id), 0)) }

// asked returns an error about a stand-in as one about the id that was asked for.
func asked[T ~string](id T, err error) error {
	e, ok := errors.AsType[*amber.Error](err)
	if !ok || id == "" {
		return err
	}
	told := *e
	told.ID = strings.ReplaceAll(e.ID, string(standIn(id)), string(id)) // of a result it is "task/node"
	return &told
}

// taken is the answer to a request that would store something under an id of others.
func taken[T ~string](op string, id T) error {
	return amber.Errorf(amber.KindConflict, op, string(id), "the id is taken").WithHint("choose another id")
}

// missing reports whether an error says that a record, or the part of the store that would have it, is not there.
func missing(err error) bool {
	k := amber.KindOf(err)
	return k == amber.KindNotFound || k == amber.KindUnsupported
}
