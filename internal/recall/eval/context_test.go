package eval

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

const recorded = `{"sessions": [
	{"id": "b2", "project": "acme/b", "order": 2, "started_at": "2026-10-02T09:00:00Z", "session_id": "s2", "events": [{"hook_event_name": "SessionStart"}],
	 "expect": [{"prompt": "what now?", "must": ["use pnpm"], "class": "decision", "from": "b1"}, {"prompt": "own?", "must": ["blue"], "class": "cause", "from": "b2"}], "quiet": ["hello"], "start": ["blue"]},
	{"id": "b1", "project": "acme/b", "order": 1, "started_at": "2026-10-01T09:00:00Z", "session_id": "s1", "events": [{"hook_event_name": "SessionStart", "cwd": "{{CWD}}"}],
	 "expect": [{"prompt": "which tool?", "must": ["npm", "use pnpm"], "class": "decision"}], "quiet": ["thanks"], "start": ["pnpm", "missing"]}]}`

func TestSessionsAreReadInOrder(t *testing.T) {
	t.Parallel()
	p := must.Get(ReadSessions(file(t, recorded)))(t)
	must.Equal(t, "projects", said(len(p), p[0].Name, p[0].Sessions[0].ID, p[0].Sessions[1].ID), "1 acme/b b1 b2")
	got := must.Get(Placed(p[0].Sessions[0].Events[0], `C:\a "b"`, "t"))(t)
	var e struct{ CWD string }
	must.Do(t, json.Unmarshal(got, &e))
	must.Equal(t, "working directory", e.CWD, `C:\a "b"`)
}

func TestHostileSessionsAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"not JSON":           {`{"sessions"`, `{sessions`},
		"no sessions":        {recorded, `{"sessions": []}`},
		"questions":          {recorded, memories},
		"no events":          {`[{"hook_event_name": "SessionStart"}]`, `[]`},
		"event without name": {`{"hook_event_name": "SessionStart"}`, `{}`},
		"event of text":      {`{"hook_event_name": "SessionStart"}`, `"x"`},
		"empty must":         {`["use pnpm"]`, `["*"]`},
		"no must":            {`["use pnpm"]`, `[]`},
		"empty prompt":       {`"what now?"`, `""`},
		"empty class":        {`"cause"`, `""`},
		"empty quiet":        {`["hello"]`, `[" "]`},
		"empty start":        {`"start": ["blue"]`, `"start": [""]`},
		"project":            {`"acme/b", "order": 2`, `"acme", "order": 2`},
		"project with quote": {`"acme/b", "order": 2`, `"acme/\"b", "order": 2`},
		"no time":            {`"started_at": "2026-10-02T09:00:00Z", `, ``},
		"session id":         {`"session_id": "s2"`, `"session_id": ""`},
		"from later":         {`"class": "decision"}]`, `"class": "decision", "from": "b2"}]`},
		"from nowhere":       {`"from": "b1"`, `"from": "zz"`},
		"many prompts":       {`["hello"]`, `["hello"` + strings.Repeat(`, "x"`, maxProbes) + `]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			must.Hold(t, strings.Contains(recorded, change[0]), "%q is not in the set", change[0])
			_, err := ReadSessions(file(t, strings.Replace(recorded, change[0], change[1], 1)))
			must.Kind(t, name, err, amber.KindInvalid, "set.json")
		})
	}
	_, err := ReadSessions(file(t, recorded) + "x")
	must.Kind(t, "missing file", err, amber.KindNotFound)
}

// fakeHome answers with what sessions were played.
type fakeHome struct {
	played []string
	fail   string
	closed bool
}

func (h *fakeHome) Play(_ context.Context, s Recorded) error {
	h.played = append(h.played, s.ID)
	if h.fail == "play" {
		return errMade
	}
	return nil
}

func (h *fakeHome) Probe(_ context.Context, prompt string) (Probe, error) {
	p := Probe{Start: "We use PNPM.", Took: 100 * time.Millisecond}
	switch prompt {
	case "which tool?":
		p.Prompt = "always `use\npnpm`"
	case "own?":
		p.Prompt = "red"
	case "hello":
		p.Prompt, p.Took = "hi", 200*time.Millisecond
	}
	if h.fail == "probe" {
		return p, errMade
	}
	return p, nil
}

func (h *fakeHome) Close() error { h.closed = true; return nil }

func played(t *testing.T, h *fakeHome) (ContextReport, error) {
	t.Helper()
	p := must.Get(ReadSessions(file(t, recorded)))(t)
	return Context(t.Context(), "set", p, ContextOptions{
		Home: func(context.Context, string) (Home, error) { return h, nil }, Budget: 100 * time.Millisecond, Each: true,
	})
}

func TestContextIsScored(t *testing.T) {
	t.Parallel()
	h := &fakeHome{}
	r := must.Get(played(t, h))(t)
	must.Equal(t, "played", said(h.played, h.closed, r.Projects, r.Sessions), "[b1 b2] true 1 2")
	// "use pnpm" stands in the prompt's own context once, and once only in that of the start.
	must.Equal(t, "all", r.All, Injection{Class: "all", N: 3, Prompt: 1. / 3, WithStart: 2. / 3})
	must.Equal(t, "decisions", r.Classes[0], Injection{Class: "decision", N: 2, Prompt: .5, WithStart: 1})
	must.Equal(t, "from earlier", r.From, Injection{Class: "from earlier", N: 1, Prompt: 0, WithStart: 1})
	must.Equal(t, "quiet", r.Quiet, Quiet{N: 2, Share: .5})
	must.Equal(t, "precision", r.Precision, Precision{Injected: 3, Share: 1. / 3})
	must.Equal(t, "start", r.Start, Start{N: 3, Share: 1. / 3})
	must.Equal(t, "bytes", r.PromptBytes, Bytes{N: 3, Mean: (17. + 3 + 2) / 3, Median: 3, P95: 17})
	must.Equal(t, "bytes of the start", r.StartBytes, Bytes{N: 2, Mean: 12, Median: 12, P95: 12})
	must.Equal(t, "over the budget", r.OverBudget, 1)
	must.Equal(t, "outcomes", len(r.Outcomes), 5)
}

func TestContextReportsEveryError(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"play", "probe"} {
		h := &fakeHome{fail: call}
		_, err := played(t, h)
		must.Is(t, call, err, errMade)
		must.Hold(t, h.closed, "%s: the home was not closed", call)
	}
}
