package mcpapi_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/policy"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// State documents are written with conditions, read, listed and deleted.
func TestStateDocuments(t *testing.T) {
	t.Parallel()
	c := newRig(t).local("state")
	first, _ := c.call("state_set", object{"name": "my.cursor", "document": object{"at": 1}, "if_absent": true})
	has(t, "stored", first, object{"document": nil, "name": "my.cursor"})
	c.failsAs("storing it as a new one again", amber.KindConflict,
		"state_set", object{"name": "my.cursor", "document": 2, "if_absent": true})
	second, _ := c.call("state_set", object{"name": "my.cursor", "document": object{"at": 2}, "if_revision": first["revision"]})
	c.failsAs("storing over the revision before", amber.KindConflict,
		"state_set", object{"name": "my.cursor", "document": 3, "if_revision": first["revision"]})
	got, _ := c.call("state_get", object{"name": "my.cursor"})
	if doc, _ := got["document"].(map[string]any); doc["at"] != 2.0 || got["revision"] != second["revision"] {
		t.Errorf("read %v", got)
	}
	list, _ := c.call("state_list", nil)
	if docs := list["documents"].([]any); len(docs) != 1 || docs[0].(map[string]any)["document"] != nil {
		t.Errorf("listed %v", list)
	}
	c.failsAs("deleting the revision before", amber.KindConflict,
		"state_delete", object{"name": "my.cursor", "if_revision": first["revision"]})
	c.call("state_delete", object{"name": "my.cursor"})
	c.failsAs("reading what was deleted", amber.KindNotFound, "state_get", object{"name": "my.cursor"})
	for _, name := range []string{"../x", "A", ""} {
		c.failsAs("the name "+name, amber.KindInvalid, "state_set", object{"name": name, "document": 1})
	}
}

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
