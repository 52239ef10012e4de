package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/must"
)

// person runs one command of somebody at a terminal who types answer.
func person(t *testing.T, home, answer string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	dir := t.TempDir()
	code = run(t.Context(), args, cli.World{
		Stdin: strings.NewReader(answer), Stdout: &out, Stderr: &errs,
		Environ:   []string{"AMBER_HOME=" + home},
		Directory: func() (string, error) { return dir, nil },
		Clock:     time.Now,
		Random:    rand.Reader,
		Terminal:  func() bool { return true },
	})
	return code, out.String(), errs.String()
}

func TestForgetEraseAsks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer string
		args         []string
		code         int
		asked        bool
	}{
		{name: "yes", answer: "y\n", code: 0, asked: true},
		{name: "yes in full", answer: "YES\n", code: 0, asked: true},
		{name: "no", answer: "n\n", code: 6, asked: true},
		{name: "just enter", answer: "\n", code: 6, asked: true},
		{name: "end of input", answer: "", code: 6, asked: true},
		{name: "something else", answer: "yesterday\n", code: 6, asked: true},
		{name: "JSON is for programs, which are not asked", answer: "y\n", args: []string{"--json"}, code: 6},
		{name: "told already", answer: "", args: []string{"--yes"}, code: 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			code, id, stderr := person(t, home, "", "remember", "a secret")
			if code != 0 {
				t.Fatalf("remember: exit code %d: %s", code, stderr)
			}
			id = strings.TrimSpace(id)
			code, _, stderr = person(t, home, c.answer, append([]string{"forget", id, "--erase"}, c.args...)...)
			if code != c.code {
				t.Errorf("forget --erase: exit code %d, want %d: %s", code, c.code, stderr)
			}
			if asked := strings.Contains(stderr, "[y/N]"); asked != c.asked {
				t.Errorf("asked: %v, want %v: %s", asked, c.asked, stderr)
			}
			want := 3 // gone
			if c.code != 0 {
				want = 0
			}
			if code, _, _ := person(t, home, "", "get", id); code != want {
				t.Errorf("get afterwards: exit code %d, want %d", code, want)
			}
		})
	}
}

// TestForgetEraseNamesWhatRestoresLeft has text in places that a restore put
// aside and that nothing searches.
func TestForgetEraseNamesWhatRestoresLeft(t *testing.T) {
	t.Parallel()
	p := newHome(t, [][]string{{"note", "write", "plan", "ship it"}})
	first := p.snapshot()
	erase := func(text string) []string {
		t.Helper()
		_, out := p.run("--quiet", "remember", text)
		_, out = p.run("--json", "forget", strings.TrimSpace(out), "--erase", "--yes")
		var report amber.EraseReport
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		return report.Remaining
	}
	const older = "1 snapshot from before it was made, which may hold the turn or note it came from"
	must.Equal(t, "what remains before any restore", erase("the first secret"), []string{older})
	for _, args := range [][]string{
		{"journal", "append", "--session", "s-1", "--type", "prompt", "the second secret"},
		{"snapshot", "restore", first, "--no-safety-snapshot", "--yes"},
	} {
		if code, out := p.run(args...); code != 0 {
			t.Fatalf("%q exits %d: %s", args, code, out)
		}
	}
	want := []string{
		"entries parked with generation 1, which were not searched; amber journal drain --from-generation 1",
		"generation 1, which was kept by a restore and was not searched: gen/1 of the agent's folder",
		older,
	}
	must.Equal(t, "what remains", erase("the second secret"), want)
	if code, out := p.run("journal", "drain", "--from-generation", "1"); code != 0 {
		t.Fatalf("drain exits %d: %s", code, out)
	}
	must.Equal(t, "what remains after the drain", erase("the third secret"), want[1:])
}
