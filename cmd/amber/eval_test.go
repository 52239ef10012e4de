package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/measure"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/recall/eval"
	"github.com/amber-memory/amber/internal/test/must"
)

// evalWorld is a world with nothing of the user's, and a clock.
func evalWorld(t *testing.T, clock amber.Clock) (w cli.World, stderr *bytes.Buffer) {
	t.Helper()
	stderr = &bytes.Buffer{}
	dir := t.TempDir()
	return cli.World{
		Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: stderr, Environ: []string{"HOME=" + dir},
		Directory: func() (string, error) { return dir, nil }, Clock: clock, Random: rand.Reader,
		Terminal: func() bool { return false }, FSInfo: fsx.Info, Program: thisProgram,
	}, stderr
}

func evalApp(t *testing.T) *cli.App {
	t.Helper()
	w, _ := evalWorld(t, time.Now)
	a := &cli.App{World: w, Ctx: t.Context()}
	a.Out = cli.NewPrinter(a)
	return a
}

// A probe gets the context that a hook answers, and leaves the home as it was.
func TestEvalProbesACopyOfTheHome(t *testing.T) {
	t.Parallel()
	a, ctx := evalApp(t), t.Context()
	h := must.Get(measure.NewHome(a, run, "acme/kiln", nil, time.Minute, func(text string) { t.Errorf("a hook complains: %s", text) }))(t)
	event := func(name string) json.RawMessage {
		return json.RawMessage(`{"session_id":"s1","cwd":"{{CWD}}","transcript_path":"{{TRANSCRIPT}}","hook_event_name":"` + name + `","prompt":"fix the build"}`)
	}
	at := amber.At(time.Date(2026, 5, 2, 12, 0, 0, 0, time.UTC))
	must.Do(t, h.Play(ctx, eval.Recorded{
		ID: "one", StartedAt: at, Events: []json.RawMessage{event("SessionStart"), event("UserPromptSubmit"), event("SessionEnd")},
	}))
	must.Get(h.Run(ctx, h.Main(), "", "remember", "--quiet", "--scope", "project", "The build needs Go 1.26."))(t)
	sessions := func() string {
		return must.Get(h.Run(ctx, h.Main(), "", "session", "list", "--json"))(t)
	}
	before := sessions()
	must.Says(t, "sessions", before, `"acme/kiln"`, `"started_at": "2026-05-02T12:00:00.000Z"`)
	p := must.Get(h.Probe(ctx, "which Go does the build need?"))(t)
	must.Says(t, "context of the start", p.Start, "The build needs Go 1.26.")
	must.Equal(t, "context of the prompt, which was told all at the start", p.Prompt, "")
	must.Equal(t, "sessions after a probe", sessions(), before)
	must.Do(t, h.Close())
	_, err := os.Stat(h.Dir)
	must.Is(t, "folder after Close", err, os.ErrNotExist)
}

// Settings of the command line reach the hooks.
func TestEvalHomesTakeSettings(t *testing.T) {
	t.Parallel()
	a, ctx := evalApp(t), t.Context()
	h := must.Get(measure.NewHome(a, run, "acme/kiln", map[string]string{"memory.recall.enabled": "false"}, time.Minute, func(text string) { t.Errorf("a hook complains: %s", text) }))(t)
	defer func() { must.Do(t, h.Close()) }()
	h.Clock.Set(amber.At(time.Date(2026, 5, 2, 12, 0, 0, 0, time.UTC)))
	must.Get(h.Run(ctx, h.Main(), "", "remember", "--quiet", "--scope", "project", "The build needs Go 1.26."))(t)
	must.Equal(t, "probe", must.Get(h.Probe(ctx, "which Go does the build need?"))(t).Prompt, "")
}

// An interrupted evaluation says so and leaves no temporary home, wherever it was.
func TestAnInterruptedEvaluationLeavesNothing(t *testing.T) {
	for _, c := range []struct {
		verb, set string
		looks     int // at the clock, before the interruption
	}{
		{"recall", `{"memories":[{"key":"a","content":"x","created_at":"2026-01-01T00:00:00Z"}],"questions":[{"q":"x","class":"k","keys":["a"]}]}`, 1},
		{"recall", `{"memories":[{"key":"a","content":"x","created_at":"2026-01-01T00:00:00Z"}],"questions":[{"q":"x","class":"k","keys":["a"]}]}`, 4},
		{"context", `{"sessions":[{"id":"a","project":"a/b","session_id":"s","started_at":"2026-01-01T00:00:00Z","events":[{"hook_event_name":"SessionStart","session_id":"s"}],"quiet":["x","y"]}]}`, 1},
	} {
		temp := t.TempDir()
		t.Setenv("TMPDIR", temp)
		t.Setenv("TMP", temp)
		ctx, stop := context.WithCancel(t.Context())
		looks, made := 0, 0
		w, stderr := evalWorld(t, func() time.Time {
			if looks++; looks == c.looks {
				made = len(must.Get(os.ReadDir(temp))(t))
				stop()
			}
			return time.Now()
		})
		set := filepath.Join(t.TempDir(), "set.json")
		must.Do(t, os.WriteFile(set, []byte(c.set), 0o600))
		code := run(ctx, []string{"eval", c.verb, set}, w)
		must.Hold(t, code == amber.KindUnreachable.ExitCode() && made == 1, "%s: exit code %d with %d temporary homes\n%s", c.verb, code, made, stderr)
		must.Says(t, c.verb, stderr.String(), "interrupted")
		must.Equal(t, "left of "+c.verb, len(must.Get(os.ReadDir(temp))(t)), 0)
		stop()
	}
}
