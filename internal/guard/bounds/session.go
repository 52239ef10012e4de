package bounds

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// A session has a project and neither a user nor a workspace. Its owner is a mark in front of its binding: a caller
// who is bound starts sessions under bindings of its own, such as "user:bob/project:shop/cli", so it takes no active
// session from others either. The answers to the caller show the binding without that mark.

// tag is what stands in front of the bindings of the caller.
func (l *Limit) tag() string {
	return mark("user:", l.bound.User) + mark("project:", l.bound.Project) + mark("workspace:", l.bound.Workspace)
}

func mark(what, name string) string {
	if name == "" {
		return ""
	}
	return what + url.PathEscape(name) + "/"
}

// untag takes apart what [Limit.tag] made. A binding of a caller who is not bound has no marks.
func untag(binding string) (marks wire.Bound, rest string) {
	rest = binding
	for _, m := range []struct {
		what string
		name *string
	}{{"user:", &marks.User}, {"project:", &marks.Project}, {"workspace:", &marks.Workspace}} {
		after, found := strings.CutPrefix(rest, m.what)
		name, after, ends := strings.Cut(after, "/")
		plain, err := url.PathUnescape(name)
		if found && ends && err == nil && plain != "" {
			*m.name, rest = plain, after
		}
	}
	return marks, rest
}

// seesSession reports whether the caller sees a session: one of its own, and with a bound project also one of that project of which no
// user is known, as hooks record them.
func (l *Limit) seesSession(s amber.Session) bool {
	marks, _ := untag(s.Binding)
	of := func(bound, mark string) bool {
		return bound == "" || bound == mark || mark == "" && l.bound.Project != ""
	}
	return of(l.bound.User, marks.User) && of(l.bound.Workspace, marks.Workspace) && (l.bound.Project == "" || l.bound.Project == s.Project)
}

// shown is a session as the caller is shown it.
func shown(s amber.Session) amber.Session {
	_, s.Binding = untag(s.Binding)
	return s
}

// whereabouts says how a caller stands to the id of a session.
type whereabouts int

const (
	free    whereabouts = iota // nothing is stored under it
	reached                    // it is a session that the caller sees
	hidden                     // it is of others
)

// session looks up a session. Records under an id that the catalogue does not have belong to others: a bound caller's
// sessions are all in the catalogue.
func (l *Limit) session(ctx context.Context, id amber.SessionID) (whereabouts, amber.Session, error) {
	if id == "" {
		return free, amber.Session{}, nil
	}
	s, err := l.store.Sessions.Session(ctx, id)
	switch {
	case missing(err):
		taken, err := l.leftovers(ctx, id)
		if taken {
			return hidden, amber.Session{}, err
		}
		return free, amber.Session{}, err
	case err != nil:
		return hidden, s, err
	case l.seesSession(s):
		return reached, s, nil
	}
	return hidden, s, nil
}

// leftovers reports whether something is stored under the id of a session that the catalogue does not have.
func (l *Limit) leftovers(ctx context.Context, id amber.SessionID) (bool, error) {
	for _, look := range []func() (bool, error){
		func() (bool, error) {
			p, err := l.store.Turns.ListTurns(ctx, amber.TurnQuery{SessionID: id, Limit: 1})
			return some(p.Items, err)
		},
		func() (bool, error) {
			p, err := l.store.Compactions.Compactions(ctx, id, amber.Paging{Limit: 1})
			return some(p.Items, err)
		},
		func() (bool, error) { return some(l.store.Activities.ListActivity(ctx, id, "")) },
		func() (bool, error) { return there(l.store.States.LoadState(ctx, id)) },
		func() (bool, error) { return there(l.store.Loops.LoadLoop(ctx, id)) },
		func() (bool, error) {
			p, err := l.store.Tasks.ListTasks(ctx, amber.TaskQuery{SessionID: id, Limit: 1})
			return some(p.Items, err)
		},
	} {
		if found, err := look(); found || err != nil {
			return found, err
		}
	}
	return l.othersRemember(ctx, id)
}

// othersRemember reports whether a memory of others has the scope of a session.
func (l *Limit) othersRemember(ctx context.Context, id amber.SessionID) (bool, error) {
	p, err := l.store.Memories.List(ctx, amber.ListQuery{
		Filter: amber.Filter{Scope: amber.ScopeSession, Identities: amber.Identities{SessionID: id}}, Deleted: true, Limit: amber.MaxPageSize,
	})
	if missing(err) {
		return false, nil
	}
	for _, m := range p.Items {
		for _, s := range []amber.Scope{amber.ScopeUser, amber.ScopeProject, amber.ScopeWorkspace} {
			if own := l.bound.Identities().For(s); own != "" && own != m.For(s) {
				return true, err
			}
		}
	}
	return p.Next != "", err // more than anybody has looked at: taken
}

func some[T any](list []T, err error) (bool, error) {
	if missing(err) {
		return false, nil
	}
	return len(list) > 0, err
}

func there[T any](_ T, err error) (bool, error) {
	if missing(err) {
		return false, nil
	}
	return err == nil, err
}

// ask returns the id under which a session is asked for: its own, or a stand-in where the caller does not see it.
func (l *Limit) ask(ctx context.Context, id amber.SessionID) (amber.SessionID, error) {
	where, _, err := l.session(ctx, id)
	if err != nil || where == reached || id == "" {
		return id, err
	}
	return standIn(id), nil
}

// enter makes sure that the caller may store something in a session, and starts the session where there is none. Errors: conflict for one
// of others.
func (l *Limit) enter(ctx context.Context, op string, id amber.SessionID) error {
	if amber.CheckID("session id", string(id)) != nil {
		return nil // the store refuses it
	}
	where, _, err := l.session(ctx, id)
	switch {
	case err != nil || where == reached:
		return err
	case where == hidden:
		return taken(op, id)
	}
	_, err = sessions{l}.StartSession(ctx, amber.SessionStart{ID: id, Project: l.bound.Project})
	if missing(err) { // there is no catalogue
		return taken(op, id)
	}
	return err
}

// start returns a request for a session as the caller may make it: of its project, and under a binding of its own. A session that is
// there keeps its binding.
func (l *Limit) start(ctx context.Context, r amber.SessionStart) (amber.SessionStart, error) {
	r, err := r.Normalize()
	if err != nil {
		return r, err
	}
	ids, err := l.named(amber.Identities{ProjectID: r.Project})
	if err != nil {
		return r, err
	}
	r.Project = ids.ProjectID
	where, s, err := l.session(ctx, r.ID)
	if err != nil {
		return r, err
	}
	if where == hidden {
		return r, taken("start session", r.ID)
	}
	if where == reached && shown(s).Binding == r.Binding {
		r.Binding = s.Binding
	} else {
		r.Binding = l.tag() + r.Binding
	}
	return r, nil
}

type sessions struct{ *Limit }

// StartSession implements [amber.Sessions].
func (l sessions) StartSession(ctx context.Context, r amber.SessionStart) (amber.Session, error) {
	r, err := l.start(ctx, r)
	if err != nil {
		return amber.Session{}, err
	}
	s, err := l.store.Sessions.StartSession(ctx, r)
	return shown(s), err
}

// Session implements [amber.Sessions].
func (l sessions) Session(ctx context.Context, id amber.SessionID) (amber.Session, error) {
	s, err := find(ctx, id, l.ask, l.store.Sessions.Session)
	return shown(s), err
}

// ListSessions implements [amber.Sessions].
func (l sessions) ListSessions(ctx context.Context, q amber.SessionQuery) (amber.Page[amber.Session], error) {
	ids, err := l.named(amber.Identities{ProjectID: q.Project})
	if err != nil {
		return amber.Page[amber.Session]{}, err
	}
	binding := q.Binding
	q.Project, q.Binding = ids.ProjectID, ""
	p, err := pages(q.Cursor, func(c amber.Cursor) (amber.Page[amber.Session], error) {
		q.Cursor = c
		return l.store.Sessions.ListSessions(ctx, q)
	}, func(s amber.Session) (bool, error) {
		return l.seesSession(s) && (binding == "" || shown(s).Binding == binding), nil
	})
	for i, s := range p.Items {
		p.Items[i] = shown(s)
	}
	return p, err
}

// DeleteSession implements [amber.Sessions].
func (l sessions) DeleteSession(ctx context.Context, id amber.SessionID) error {
	return change(ctx, id, l.ask, l.store.Sessions.DeleteSession)
}

type names struct{ *Limit }

// EndSession implements [amber.SessionEditor].
func (l names) EndSession(ctx context.Context, e amber.SessionEnd) (amber.Session, error) {
	s, err := find(ctx, e.ID, l.ask, func(ctx context.Context, id amber.SessionID) (amber.Session, error) {
		e.ID = id
		return l.store.Names.EndSession(ctx, e)
	})
	return shown(s), err
}

// RenameSession implements [amber.SessionEditor].
func (l names) RenameSession(ctx context.Context, id amber.SessionID, name string) (amber.Session, error) {
	s, err := find(ctx, id, l.ask, func(ctx context.Context, id amber.SessionID) (amber.Session, error) {
		return l.store.Names.RenameSession(ctx, id, name)
	})
	return shown(s), err
}

type active struct{ *Limit }

// ActiveSession implements [amber.ActiveSessions].
func (l active) ActiveSession(ctx context.Context, binding string) (amber.Session, error) {
	s, err := l.store.Active.ActiveSession(ctx, l.tag()+binding)
	if e, ok := err.(*amber.Error); ok && e.ID == l.tag()+binding { //nolint:errorlint // the store's own
		told := *e
		told.ID, err = binding, &told
	}
	return shown(s), err
}

// SelectSession implements [amber.ActiveSessions]. A session of a binding that others share is not selected.
func (l active) SelectSession(ctx context.Context, id amber.SessionID) (amber.Session, error) {
	where, s, err := l.session(ctx, id)
	if err != nil {
		return amber.Session{}, err
	}
	if where == reached && !strings.HasPrefix(s.Binding, l.tag()) {
		return amber.Session{}, amber.Errorf(amber.KindRefused, "select session", string(id), "others share the binding %s of the session; the caller is bound to %s", s.Binding, l.bound)
	}
	as := id
	if where != reached && id != "" {
		as = standIn(id)
	}
	s, err = l.store.Active.SelectSession(ctx, as)
	return shown(s), asked(id, err)
}

type states struct{ *Limit }

// SaveState implements [amber.SessionStates].
func (l states) SaveState(ctx context.Context, id amber.SessionID, doc json.RawMessage, ifVersion int64) (amber.SessionState, error) {
	if err := l.enter(ctx, "save session state", id); err != nil {
		return amber.SessionState{}, err
	}
	return l.store.States.SaveState(ctx, id, doc, ifVersion)
}

// LoadState implements [amber.SessionStates].
func (l states) LoadState(ctx context.Context, id amber.SessionID) (amber.SessionState, error) {
	return find(ctx, id, l.ask, l.store.States.LoadState)
}

// DeleteState implements [amber.SessionStates].
func (l states) DeleteState(ctx context.Context, id amber.SessionID) error {
	return change(ctx, id, l.ask, l.store.States.DeleteState)
}
