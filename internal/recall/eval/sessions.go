package eval

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// Project is the recorded sessions of one project, in order.
type Project struct {
	Name     string // owner/name
	Sessions []Recorded
}

// Recorded is one recorded session of an agent host, and what is to be known after it.
type Recorded struct {
	ID        string            `json:"id"`
	Project   string            `json:"project"`
	Order     int               `json:"order"`
	StartedAt amber.Time        `json:"started_at"`
	SessionID string            `json:"session_id"`
	Events    []json.RawMessage `json:"events"`
	// Transcript are the lines of the host's own record.
	Transcript []json.RawMessage `json:"transcript"`
	Expect     []Expectation     `json:"expect"`
	Quiet      []string          `json:"quiet"` // prompts that nothing is known about
	Start      []string          `json:"start"` // strings that a new session is told
}

// Expectation is a prompt and what must stand before the agent with it.
type Expectation struct {
	Prompt string   `json:"prompt"`
	Must   []string `json:"must"` // alternatives
	Class  string   `json:"class"`
	From   string   `json:"from"` // the id of an earlier session that said it
}

// Placeholders in events and transcripts.
const (
	placeCWD        = "{{CWD}}"
	placeTranscript = "{{TRANSCRIPT}}"
)

// The bounds of a set of sessions.
const (
	maxSessions = 1000
	maxEvents   = 20_000
	maxProbes   = 1000
)

// ReadSessions reads a set of sessions and returns its projects in the order they
// appear. Errors: not_found; invalid.
func ReadSessions(path string) ([]Project, error) {
	var f struct {
		Sessions  []Recorded      `json:"sessions"`
		Memories  json.RawMessage `json:"memories"`
		Questions json.RawMessage `json:"questions"`
	}
	if err := readWhole(path, &f); err != nil {
		return nil, err
	}
	invalid := func(format string, args ...any) error {
		return &amber.Error{Op: readOp, Kind: amber.KindInvalid, ID: filepath.Base(path), Err: fmt.Errorf(format, args...)}
	}
	switch n := len(f.Sessions); {
	case f.Questions != nil:
		return nil, amber.Errorf(amber.KindInvalid, readOp, filepath.Base(path), "the file is a set of questions, want a set of sessions").WithHint("amber eval recall SET")
	case n == 0:
		return nil, invalid("the file has no sessions, want a set of sessions")
	case n > maxSessions:
		return nil, invalid("there are %d sessions, the limit is %d", n, maxSessions)
	}
	for i, s := range f.Sessions {
		if err := s.check(); err != nil {
			return nil, invalid("session %d: %w", i+1, err)
		}
	}
	if n := len(classesOf(f.Sessions)); n > maxClasses {
		return nil, invalid("the expectations have %d classes, the limit is %d", n, maxClasses)
	}
	projects := byProject(f.Sessions)
	for _, p := range projects {
		if err := p.check(); err != nil {
			return nil, invalid("%w", err)
		}
	}
	return projects, nil
}

// check checks one session.
func (s Recorded) check() error {
	if len(s.Events) == 0 || len(s.Events) > maxEvents || len(s.Transcript) > maxEvents {
		return fmt.Errorf("events has %d entries and transcript %d lines, want 1 to %d entries and at most as many lines", len(s.Events), len(s.Transcript), maxEvents)
	}
	if n := len(s.Expect) + len(s.Quiet) + len(s.Start); n > maxProbes {
		return fmt.Errorf("expect, quiet and start have %d entries together, the limit is %d", n, maxProbes)
	}
	for i, e := range s.Events {
		if name, err := EventName(e); err != nil || name == "" {
			return fmt.Errorf("event %d has no hook_event_name", i+1)
		}
	}
	for i, x := range s.Expect {
		if plain(x.Prompt) == "" || len(x.Must) == 0 || slices.ContainsFunc(x.Must, func(m string) bool { return plain(m) == "" }) {
			return fmt.Errorf("expectation %d has no prompt, or nothing that must be said", i+1)
		}
		if err := amber.CheckText("class", x.Class, amber.MaxIDBytes, amber.Required|amber.OneLine); err != nil {
			return fmt.Errorf("expectation %d: %w", i+1, err)
		}
	}
	if i := slices.IndexFunc(append(slices.Clone(s.Quiet), s.Start...), func(t string) bool { return plain(t) == "" }); i >= 0 {
		return fmt.Errorf("a quiet prompt or a string of start is empty")
	}
	if owner, name, ok := strings.Cut(s.Project, "/"); !ok || owner == "" || name == "" || strings.ContainsAny(s.Project, "\"\\\r\n") {
		return fmt.Errorf("the project is not of the form owner/name")
	}
	if err := checkTime("started_at", s.StartedAt); err != nil {
		return err
	}
	return amber.CheckID("session id", s.SessionID)
}

// classesOf returns the classes of all expectations.
func classesOf(sessions []Recorded) map[string]bool {
	classes := map[string]bool{}
	for _, s := range sessions {
		for _, x := range s.Expect {
			classes[x.Class] = true
		}
	}
	return classes
}

// EventName returns the host's name of an event.
func EventName(event json.RawMessage) (string, error) {
	var e struct {
		Name string `json:"hook_event_name"`
	}
	err := json.Unmarshal(event, &e)
	return e.Name, err
}

// byProject groups sessions and sorts those of each project.
func byProject(sessions []Recorded) (projects []Project) {
	for _, s := range sessions {
		i := slices.IndexFunc(projects, func(p Project) bool { return p.Name == s.Project })
		if i < 0 {
			i = len(projects)
			projects = append(projects, Project{Name: s.Project})
		}
		projects[i].Sessions = append(projects[i].Sessions, s)
	}
	for _, p := range projects {
		slices.SortStableFunc(p.Sessions, func(a, b Recorded) int { return a.Order - b.Order })
	}
	return projects
}

// check checks what the sessions of a project say of each other.
func (p Project) check() error {
	known := map[string]bool{}
	for _, s := range p.Sessions {
		for _, x := range s.Expect {
			if x.From != "" && !known[x.From] && x.From != s.ID {
				return fmt.Errorf("session %d of a project expects something of a session that is not before it", s.Order)
			}
		}
		known[s.ID] = true
	}
	return nil
}

// Placed returns an event or a line of a transcript with the placeholders replaced in
// its strings.
func Placed(raw json.RawMessage, cwd, transcript string) (json.RawMessage, error) {
	text := string(raw)
	for _, p := range []struct{ place, path string }{{placeCWD, cwd}, {placeTranscript, transcript}} {
		quoted, err := json.Marshal(p.path)
		if err != nil {
			return nil, err
		}
		text = strings.ReplaceAll(text, p.place, string(quoted[1:len(quoted)-1]))
	}
	return json.RawMessage(text), nil
}
