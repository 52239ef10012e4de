package mcpapi_test

import (
	"context"
	"slices"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestTheGuardIsAskedBeforeEveryChange has a guard that says no: every tool that
// says it changes something fails with its error and changes nothing, and no
// tool that says it only reads asks it.
func TestTheGuardIsAskedBeforeEveryChange(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var asked []string
	r.desk.BeforeTool = func(_ context.Context, tenant amber.TenantID, agent amber.AgentID, tool string) error {
		must.Equal(t, "tenant", tenant, "default")
		must.Equal(t, "agent", agent, "default")
		asked = append(asked, tool)
		return amber.Errorf(amber.KindBusy, "freeze", "", "not now")
	}
	c := r.local("all")
	res := must.Get(c.cs.ListTools(t.Context(), nil))(t)
	for _, tool := range res.Tools {
		asked = nil
		args, ok := plausible[tool.Name]
		if !ok {
			t.Fatalf("no arguments for %s", tool.Name)
		}
		if tool.Name == "memory" { // that only looks
			args = object{"command": "create", "path": "/memories/x", "file_text": "x"}
		}
		res := c.try(tool.Name, args)
		if tool.Annotations.ReadOnlyHint {
			if len(asked) != 0 {
				t.Errorf("%s reads, and asked %v", tool.Name, asked)
			}
			continue
		}
		if !slices.Equal(asked, []string{tool.Name}) || !res.IsError || textOf(res) != "busy: freeze: not now" {
			t.Errorf("%s asked %v: %s", tool.Name, asked, textOf(res))
		}
	}
	must.Equal(t, "changes", must.Get(r.store().Stats.Stats(t.Context()))(t).Changes, 0)
	for _, e := range r.audit.Cut(0) {
		must.Equal(t, "outcome written down", e.Outcome, string(amber.KindBusy))
	}
}

// A model speaks for an agent, also over the connection of the owner: its records say so and bear the program, the session and no
// claim of its own, and nothing of the owner changes by any tool.
func TestAModelSpeaksForAnAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	rule := must.Get(r.store().LongTerm.Write(t.Context(), amber.WriteRequest{
		Content: "Never deploy on a Friday", Kind: amber.Constraint, Scope: amber.ScopeProject, Topic: "deploys", Identities: amber.Identities{ProjectID: "acme/shop"},
	}))(t)
	c := r.local("default")
	c.call("session_start", object{"id": "s1"})
	out, text := c.call("memory_save", object{"content": "Deploy whenever you like", "kind": "constraint"})
	must.Says(t, "what the model reads", text, "until its owner keeps it (amber review)")
	said := must.Get(r.store().Memories.Get(t.Context(), amber.MemoryID(out["id"].(string))))(t)
	must.Equal(t, "trust and author", []any{said.Trust, said.Author}, []any{amber.TrustAgent, amber.Author{Host: "test", Session: "s1"}})
	_, text = c.call("memory_save", object{"content": "Tests take four minutes"})
	must.Hides(t, "what the model reads of a fact of its project", text, "amber review")

	r.local("files").call("memory", object{"command": "create", "path": "/memories/plan.md", "file_text": "# Plan\nDeploy whenever you like\n"})
	note := must.Get(r.store().Notes.ReadNote(t.Context(), "plan"))(t)
	must.Equal(t, "author of a note", note.NoteBy, amber.NoteBy{Trust: amber.TrustAgent, Author: amber.Author{Host: "test"}})

	for tool, args := range map[string]object{
		"memory_update": {"id": rule.ID, "content": "No rule"},
		"memory_forget": {"id": rule.ID},
		"memory_save":   {"content": "No rule", "kind": "constraint", "topic": "deploys"},
	} {
		c.failsAs(tool, amber.KindRefused, tool, args, "trust own")
	}
	now := must.Get(r.store().Memories.Get(t.Context(), rule.ID))(t)
	must.Equal(t, "the owner's memory", []any{now.Content, now.Revision, now.Trust}, []any{"Never deploy on a Friday", int64(1), amber.TrustOwn})
}
