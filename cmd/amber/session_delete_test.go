package main

import (
	"strings"
	"testing"
)

func TestSessionDeleteAsks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer string
		flags        []string
		asks         bool
		code, after  int // exit codes: of delete, of show afterwards
	}{
		{name: "yes", answer: "y\n", asks: true, code: 0, after: 3},
		{name: "no", answer: "n\n", asks: true, code: 6, after: 0},
		{name: "end of input", answer: "", asks: true, code: 6, after: 0},
		{name: "told already", answer: "", flags: []string{"--yes"}, code: 0, after: 3},
		{name: "a plan needs no answer", answer: "", flags: []string{"--dry-run"}, code: 0, after: 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			if code, _, stderr := person(t, home, "", "session", "start", "s1"); code != 0 {
				t.Fatalf("session start: exit code %d: %s", code, stderr)
			}
			code, _, stderr := person(t, home, c.answer, append([]string{"session", "delete", "s1"}, c.flags...)...)
			if code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, stderr)
			}
			if asks := strings.Contains(stderr, "delete session s1 with 0 turns? [y/N]"); asks != c.asks {
				t.Errorf("asked is %v, want %v: %s", asks, c.asks, stderr)
			}
			if code, _, stderr := person(t, home, "", "session", "show", "s1"); code != c.after {
				t.Errorf("session show afterwards: exit code %d, want %d: %s", code, c.after, stderr)
			}
		})
	}
}
