package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/test/must"
)

// TestVikingTargetsAreMeasuredOnTheFake runs everything once in small: every target of an OpenViking
// server has a line, and both sides of a ratio took some time.
func TestVikingTargetsAreMeasuredOnTheFake(t *testing.T) {
	t.Parallel()
	size := vikingSize{memories: 60, vector: 16, questions: 6, away: 6, writes: 3, patience: 300 * time.Millisecond}
	var out outcome
	must.Do(t, attempt(func() { out = vikings(context.Background(), config{dir: t.TempDir(), viking: size}) }))
	var limited []string
	for _, r := range out.ratios {
		must.Hold(t, r.ours > 0 && (r.theirs > 0 || r.absoluteLimit > 0), "%s compares %v with %v", r.name, r.ours, r.theirs)
		if r.limit > 0 || r.absoluteLimit > 0 {
			limited = append(limited, r.name)
		}
	}
	want := []string{"time for a file, fed compared", "time for a file, fed by the log", "recall, server up, median"}
	for _, what := range []string{
		"recall, server refuses connections", "recall, server never answers",
		"write, feeder at rest", "write, feeder at work", "write, server refuses connections", "write, server never answers",
	} {
		want = append(want, what+", median", what+", mean")
	}
	must.Equal(t, "ratios with a limit", limited, want)
	slowest := slices.IndexFunc(out.lines, func(l line) bool { return l.name == "server never answers: first 3, at most" })
	must.Hold(t, slowest >= 0 && out.lines[slowest].amount >= 300, "lines are %+v", out.lines)
}
