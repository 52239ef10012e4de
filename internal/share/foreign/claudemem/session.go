package claudemem

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Beginnings of the ids of sessions that an export writes: for a session of Amber, and for memories without one.
const (
	ownSession = "amber-session-"
	ownProject = "amber-project-"
)

// session is what is known of a session before its prompts are read.
type session struct {
	place          foreign.Place
	external       string
	id             amber.SessionID
	name, binding  string
	project        string
	started, ended amber.Time
	last           amber.Time // of its prompts
	prompts, bytes int64
	hidden         bool // not given out
}

func (r *reader) readSessions(ctx context.Context) error {
	return r.each(ctx, sessions, func(at foreign.Place, x row) error {
		id := cmp.Or(contentSession(x), memorySession(x))
		if id == "" {
			r.to.Skip(at, "session has no id")
			return nil
		}
		s := r.session(at, id)
		if m := memorySession(x); m != "" && r.byMemory[m] == nil {
			r.byMemory[m] = s
		}
		r.describe(s, x)
		return nil
	})
}

// session returns the session of an id, which is new where it was not there.
func (r *reader) session(at foreign.Place, id string) *session {
	if s := r.byContent[id]; s != nil {
		return s
	}
	s := &session{place: at, external: id, id: foreign.HostSessionID(name, id), binding: "claude-code", project: r.o.Project}
	if rest, ok := strings.CutPrefix(id, ownSession); ok {
		s.id, s.hidden = amber.SessionID(rest), true
		r.exported++
	} else if strings.HasPrefix(id, ownProject) {
		s.id, s.hidden = "", true
	}
	r.byContent[id] = s
	r.sessions = append(r.sessions, s)
	return s
}

// describe fills in what a row says and no row before it has said.
func (r *reader) describe(s *session, x row) {
	project, own := project(x, r.o)
	s.hidden = s.hidden || own
	s.project = cmp.Or(s.project, project)
	s.name = cmp.Or(s.name, firstLine(x.Text("custom_title", "user_prompt")))
	if b := x.Text("platform_source"); b != "" && b != "claude" && amber.CheckID("binding", b) == nil {
		s.binding = b
	}
	for _, t := range []struct {
		column string
		into   *amber.Time
	}{{"started_at", &s.started}, {"completed_at", &s.ended}} {
		at, err := timeOf(x, t.column)
		if err != nil {
			r.to.Skip(s.place, "%s is not taken over: %v", t.column, err)
		} else if t.into.IsZero() {
			*t.into = at
		}
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

func (s *session) foreign() foreign.Session {
	return foreign.Session{
		Place: s.place, ID: s.id, Name: s.name, Binding: s.binding, Project: s.project, StartedAt: s.started, EndedAt: s.ended,
		Turns: s.prompts, State: strconv.FormatInt(s.last.UnixMilli(), 10),
	}
}
