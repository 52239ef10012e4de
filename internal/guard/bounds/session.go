package bounds

import (
	"context"
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
	r, err := l.start(ctx, amber.SessionStart{ID: id, Project: l.bound.Project})
	if err == nil {
		_, err = l.store.Sessions.StartSession(ctx, r)
	}
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

func (l *Limit) listSessions(ctx context.Context, c *amber.Call) error {
	q := c.In[0].(*amber.SessionQuery)
	return answered(l.sessionsOf(ctx, *q, func(ctx context.Context, now amber.SessionQuery) (amber.Page[amber.Session], error) {
		*q = now
		err := c.Next(ctx)
		return *c.Out.(*amber.Page[amber.Session]), err
	}))(c)
}

// sessionsOf lists the sessions that the caller sees.
func (l *Limit) sessionsOf(ctx context.Context, q amber.SessionQuery, list func(context.Context, amber.SessionQuery) (amber.Page[amber.Session], error)) (amber.Page[amber.Session], error) {
	ids, err := l.named(amber.Identities{ProjectID: q.Project})
	if err != nil {
		return amber.Page[amber.Session]{}, err
	}
	binding := q.Binding
	q.Project, q.Binding = ids.ProjectID, ""
	p, err := pages(q.Cursor, func(c amber.Cursor) (amber.Page[amber.Session], error) {
		q.Cursor = c
		return list(ctx, q)
	}, func(s amber.Session) (bool, error) {
		return l.seesSession(s) && (binding == "" || shown(s).Binding == binding), nil
	})
	for i, s := range p.Items {
		p.Items[i] = shown(s)
	}
	return p, err
}

// activeSession looks at the binding of the caller's own.
func (l *Limit) activeSession(ctx context.Context, c *amber.Call) error {
	binding := c.In[0].(*string)
	was := *binding
	*binding = l.tag() + was
	err := c.Next(ctx)
	if e, ok := err.(*amber.Error); ok && e.ID == *binding { //nolint:errorlint // the store's own
		told := *e
		told.ID, err = was, &told
	}
	return err
}

// selectSession does not select a session of a binding that others share.
func (l *Limit) selectSession(ctx context.Context, c *amber.Call) error {
	id := c.In[0].(*amber.SessionID)
	where, s, err := l.session(ctx, *id)
	if err != nil {
		return err
	}
	if where == reached && !strings.HasPrefix(s.Binding, l.tag()) {
		return amber.Errorf(amber.KindRefused, c.Method.Op, string(*id), "others share the binding %s of the session; the caller is bound to %s", s.Binding, l.bound)
	}
	was := *id
	if where != reached && was != "" {
		*id = standIn(was)
	}
	return asked(was, c.Next(ctx))
}
