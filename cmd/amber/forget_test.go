package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// person runs one command as a person at a terminal who types answer.
func person(t *testing.T, home, answer string, args ...string) ran {
	w := testWorld(t.TempDir(), "AMBER_HOME="+home)
	w.Stdin, w.Terminal = strings.NewReader(answer), func() bool { return true }
	return runIn(t.Context(), t, w, args...)
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
			id := person(t, home, "", "remember", "a secret").line()
			r := person(t, home, c.answer, append([]string{"forget", id, "--erase"}, c.args...)...).exits(c.code)
			must.Equal(t, "asked", strings.Contains(r.stderr, "[y/N]"), c.asked)
			want := 3 // gone
			if c.code != 0 {
				want = 0
			}
			person(t, home, "", "get", id).exits(want)
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
		out := p.run("--json", "forget", p.run("--quiet", "remember", text).line(), "--erase", "--yes").line()
		var report amber.EraseReport
		must.Do(t, json.Unmarshal([]byte(out), &report))
		return report.Remaining
	}
	const older = "1 snapshot from before it was made, which may hold the turn or note it came from"
	must.Equal(t, "what remains before any restore", erase("the first secret"), []string{older})
	p.run("journal", "append", "--session", "s-1", "--type", "prompt", "the second secret").line()
	p.run("snapshot", "restore", first, "--no-safety-snapshot", "--yes").line()
	want := []string{
		"entries parked with generation 1, which were not searched; amber journal drain --from-generation 1",
		"generation 1, which was kept by a restore and was not searched: gen/1 of the agent's folder",
		older,
	}
	must.Equal(t, "what remains", erase("the second secret"), want)
	p.run("journal", "drain", "--from-generation", "1").line()
	must.Equal(t, "what remains after the drain", erase("the third secret"), want[1:])
}
