package main

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
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
			person(t, home, "", "session", "start", "s1").exits(0)
			r := person(t, home, c.answer, append([]string{"session", "delete", "s1"}, c.flags...)...).exits(c.code)
			must.Equal(t, "asked", strings.Contains(r.stderr, "delete session s1 with 0 turns? [y/N]"), c.asks)
			person(t, home, "", "session", "show", "s1").exits(c.after)
		})
	}
}
