//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
)

// TestEventsThatWaitAreCounted: a broker that never was there.
func TestEventsThatWaitAreCounted(t *testing.T) {
	t.Parallel()
	s := newSetting(t, true)
	s.set("AMBER_EVENTS__NATS_URL", "nats://127.0.0.1:1")
	w := s.serve()
	w.ofAgent("POST", "/memories", `{"content":"x"}`)
	w.ofAgent("POST", "/memories", `{"content":"y"}`)
	w.ofAgent("PUT", "/notes/a", `{"content":"x"}`) // one of the note and one of its commit
	await(t, func() bool {
		_, text := w.ask("GET", "/metrics", "")
		return strings.Contains(text, "\namber_nats_lag_entries 4\n") && strings.Contains(text, "\namber_nats_connected 0\n")
	})
}

func TestBetweenTwoPlacesOfALog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		from, to amber.Position
		want     int64
	}{
		{"", "", 0},
		{"", "a/3", 3},
		{"a/3", "a/7", 4},
		{"a/7", "a/3", 0},
		{"a/3", "b/7", 0}, // a restore came between
		{"nonsense", "a/3", 0},
	} {
		if got := between(tt.from, tt.to); got != tt.want {
			t.Errorf("from %q to %q: %d, want %d", tt.from, tt.to, got, tt.want)
		}
	}
}
