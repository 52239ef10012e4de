package measure

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/recall/eval"
	"github.com/amber-memory/amber/internal/test/must"
)

// evalWorld is a world with nothing of the user's, and a clock.
func evalWorld(t *testing.T, clock amber.Clock) cli.World {
	t.Helper()
	dir := t.TempDir()
	return cli.World{
		Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Environ: []string{"HOME=" + dir},
		Directory: func() (string, error) { return dir, nil }, Clock: clock, Random: rand.Reader,
		Terminal: func() bool { return false }, FSInfo: fsx.Info,
	}
}

func evalApp(t *testing.T) *app {
	t.Helper()
	w := evalWorld(t, time.Now)
	a := &app{App: &cli.App{World: w, Ctx: t.Context()}}
	a.Out = cli.NewPrinter(a.App)
	return a
}

// Memories and turns are loaded as of the time that the set tells, whatever the time
// is now, and belong to the user.
func TestEvalLoadsWithTheTimesOfTheSet(t *testing.T) {
	t.Parallel()
	a, ctx := evalApp(t), t.Context()
	at := func(day int) amber.Time { return amber.At(time.Date(2024, 5, day, 12, 0, 0, 0, time.UTC)) }
	e := must.Get(a.newEvalAgent(ctx, config.Default(), evalFlags{only: OnlyBoth}, at(1)))(t)
	defer func() { must.Do(t, e.Close()) }()
	id := must.Get(e.Remember(ctx, eval.Memory{Key: "k", Title: "Lamp", Content: "It dims.", Kind: amber.ProjectFact, CreatedAt: at(2)}))(t)
	must.Do(t, e.Hear(ctx, eval.Session{ID: "s1", At: at(3), Turns: []eval.Turn{
		{ID: "D1:1", Role: amber.RoleUser, Content: "Ann: hello", At: at(3)}, {ID: "D1:2", Role: amber.RoleAssistant, Content: "Bo: hi", At: at(4)},
	}}))
	m := must.Get(e.Store().Memories.Get(ctx, amber.MemoryID(id)))(t)
	must.Equal(t, "memory", [2]string{m.CreatedAt.String(), string(m.Trust)}, [2]string{at(2).String(), string(amber.TrustOwn)})
	turns := must.Get(amber.LastTurns(ctx, e.Store().Turns, "s1", 10))(t)
	must.Equal(t, "turns", len(turns), 2)
	want := amber.Turn{ID: "D1:2", SessionID: "s1", Role: amber.RoleAssistant, Content: "Bo: hi", ProjectID: evalProject, CreatedAt: at(4)}
	must.Hold(t, turns[1] == want, "second turn %+v", turns[1])
	s := must.Get(e.Store().Sessions.Session(ctx, "s1"))(t)
	must.Equal(t, "session", [2]string{s.StartedAt.String(), s.Project}, [2]string{at(3).String(), evalProject})
	answer := must.Get(e.Ask(ctx, "lamp", at(9), nil, 5))(t)
	must.Hold(t, len(answer.Hits) == 1 && answer.Hits[0].Owner == id, "hits %+v", answer.Hits)
}

func TestEvalFlagsAsSettings(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]map[string]string{
		"":                             {},
		"--model builtin":              {"search.model": "builtin"},
		"--model none":                 {"search.model": "none"},
		"--only both":                  {},
		"--only words":                 {"search.model": "none"},
		"--only words --model none":    {"search.model": "none"},
		"--only words --model builtin": nil,
		"--only meaning":               {},
		"--only meaning --model none":  nil,
		"--model https://127.0.0.1/v1": nil,
		"--only words,meaning":         nil,
	} {
		var f evalFlags
		cmd := &cobra.Command{Use: "x"}
		f.add(cmd)
		must.Do(t, cmd.ParseFlags(strings.Fields(line)))
		got, err := f.settings(cmd)
		must.Equal(t, "settings of "+line, got, want)
		must.Hold(t, (err != nil) == (want == nil), "%s: %v", line, err)
	}
}
