//go:build unix

package main

import (
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/test/must"
)

// TestMCPMakesVectors saves a memory through a host: it is found by what it means soon after,
// with no server and no command that makes vectors.
func TestMCPMakesVectors(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	h := u.host("", []string{"AMBER_SEARCH__MODEL=builtin"})
	h.call("memory_save", map[string]any{"content": "Deployments to production are frozen on Fridays"})
	for left := 1000; ; left-- {
		s := u.indexStatus()
		if s.Vectors == 1 && s.Pending == 0 {
			break
		}
		if left == 0 {
			t.Fatalf("no vector is made: %+v", s)
		}
		time.Sleep(20 * time.Millisecond)
	}
	out, text := h.call("memory_recall", map[string]any{"query": "when must we not ship a release"})
	if out["degraded"] != nil {
		t.Errorf("the answer is not whole: %v", out["degraded"])
	}
	must.Says(t, "in other words", text, "frozen on Fridays")
}
