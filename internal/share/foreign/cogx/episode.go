package cogx

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// episode gives out a conversation.
func (r *reader) episode(x record) error {
	turns := r.turns(x)
	if len(turns) == 0 {
		r.to.Skip(x.at, "episode %.80q has no turns", x.id)
		return nil
	}
	s := foreign.Session{
		Place: x.at, ID: foreign.SessionID(formatName, x.system+"-"+x.id), Name: x.Text("title"), Project: r.o.Project,
		Turns: int64(len(turns)), State: strings.Join(turns[len(turns)-1].Key, " "),
	}
	s.Span(turns)
	if x.system == "amber" && amber.CheckID("session id", x.id) == nil {
		s.ID = amber.SessionID(x.id)
		restoreSession(&s, x.own)
	}
	return foreign.Tell(r.to, s, turns)
}

// restoreSession takes what Amber wrote about a session.
func restoreSession(s *foreign.Session, own foreign.Object) {
	s.Binding, s.Directory, s.Summary = own.Text("binding"), own.Text("directory"), own.Text("summary")
	s.Project, s.Parent = cmp.Or(s.Project, own.Text("project")), amber.SessionID(own.Text("parent"))
	if at, err := own.Time("started_at"); err == nil {
		s.StartedAt = cmp.Or(at, s.StartedAt)
	}
	if at, err := own.Time("ended_at"); err == nil {
		s.EndedAt = cmp.Or(at, s.EndedAt)
	}
}

// turns returns what was said. A turn without a time has that of the one before.
func (r *reader) turns(x record) (out []foreign.Turn) {
	last, repeated := x.created, map[string]int{}
	for i, v := range x.List("turns") {
		at := foreign.Place{File: x.at.File, At: fmt.Sprintf("%s, turn %d", x.at.At, i+1)}
		rec, ok := v.(map[string]any)
		if !ok {
			r.to.Skip(at, "turn is no object")
			continue
		}
		t := foreign.Turn{Place: at, Content: foreign.Object(rec).Text("content")}
		when, err := timeOf(rec, "occurred_at")
		if err != nil {
			r.to.Skip(at, "%v", err)
			continue
		}
		if strings.TrimSpace(t.Content) == "" {
			continue
		}
		t.At = cmp.Or(when, last)
		last = t.At
		t.Role, t.Content = spoken(foreign.Object(rec).Text("role"), t.Content)
		t.Key = foreign.Key{x.system, x.id, when.String(), string(t.Role), foreign.Hex(foreign.Digest(t.Content))}
		id := strings.Join(t.Key, "\x00")
		if repeated[id]++; repeated[id] > 1 {
			t.Key = append(t.Key, fmt.Sprint(repeated[id]))
		}
		out = append(out, t)
	}
	return out
}

// spoken returns who says a text. Some programs write the name of a person for a role.
func spoken(role, text string) (amber.Role, string) {
	switch strings.ToLower(strings.TrimSpace(role)) {
	case "", "user", "human":
		return amber.RoleUser, text
	case "assistant", "ai", "agent", "model", "bot":
		return amber.RoleAssistant, text
	case "tool", "function":
		return amber.RoleTool, text
	case "system":
		return amber.RoleSystem, text
	}
	return amber.RoleUser, role + ": " + text
}
