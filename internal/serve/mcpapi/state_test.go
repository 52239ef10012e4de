package mcpapi_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/policy"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// The state of a session keeps what other programs set, and a caller that may
// only write is not shown it.
func TestSessionState(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.local("state,session_start")
	c.call("session_start", object{"id": "s"})
	c.failsAs("the state of a new session", amber.KindNotFound, "session_state_get", nil)
	c.call("session_state_set", object{"document": object{"planning_mode": "react", "secret": "x"}, "if_version": 0})
	writer := r.session(r.options("state"), holder("default", "", wire.TokenWrite), "default", "default")
	out := writer.out("session_state_set", object{"id": "s", "document": object{"planning_mode": "tree_search"}, "merge": true})
	must.Equal(t, "what a writer is told", out, object{"version": 2.0})
	got, _ := c.call("session_state_get", nil)
	has(t, "the state", got["document"].(object), object{"planning_mode": "tree_search", "secret": "x"})
	c.failsAs("storing over the version before", amber.KindConflict, "session_state_set", object{"document": 1, "if_version": 1})
}

// The policy is asked before learnings that a rule finds in a text are kept.
func TestThePolicyIsAskedAboutCapturedLearnings(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.agents["default/default"].Policy = policy.Conservative{NoLearnings: true}
	c := r.local("engram")
	text := object{"content": "## Key Learnings\n1. Integration tests need PostgreSQL 16\n"}
	has(t, "the answer", c.out("mem_capture_passive", text),
		object{"extracted": 1.0, "saved": 0.0, "blocked": 1.0, "blocked_reason": "memory.write_back.learnings is false"})
	r.agents["default/default"].Policy = policy.Conservative{}
	has(t, "the answer", c.out("mem_capture_passive", text), object{"saved": 1.0, "blocked": nil})
}
