//go:build linux

package main

import (
	"strings"
	"testing"
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
