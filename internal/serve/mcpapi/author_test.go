package mcpapi_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

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
