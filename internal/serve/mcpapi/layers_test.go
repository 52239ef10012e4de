package mcpapi_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// says stores what was said in sessions of two projects and in one without a project.
func says(t *testing.T, store amber.Store) {
	t.Helper()
	for session, project := range map[amber.SessionID]string{"s-shop": "acme/shop", "s-other": "acme/other", "s-none": ""} {
		must.Get(store.Sessions.StartSession(t.Context(), amber.SessionStart{ID: session, Project: project}))(t)
		turn := amber.Turn{SessionID: session, Role: amber.RoleAssistant, Content: "the kiln of " + string(session) + " overheats", ProjectID: project}
		must.Get(store.Turns.AppendTurn(t.Context(), turn))(t)
	}
	must.Get(store.LongTerm.Write(t.Context(), amber.WriteRequest{Scope: amber.ScopeGlobal, Content: "the kiln is fired on Mondays"}))(t)
}

// A host finds the turns of its own project, and never those of another project or of a session that belongs to no
// project.
func TestRecallOverLayersStaysInTheProject(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	says(t, r.agents["default/default"].Store)
	c := r.local("all")
	for project, want := range map[string]string{"acme/shop": "s-shop", "acme/other": "s-other", "acme/none": ""} {
		found, text := c.call("memory_recall", object{"query": "kiln overheats", "project": project, "layers": []any{"exchange"}})
		hits := found["hits"].([]any)
		if want == "" {
			must.Equal(t, "hits of "+project, len(hits), 0)
			continue
		}
		must.Equal(t, "hits of "+project, len(hits), 1)
		has(t, project, hits[0].(object), object{"layer": "exchange", "session": want, "role": "assistant", "trust": "derived"})
		must.Says(t, project, text, "exchange of assistant, session "+want, "derived")
	}
	found, _ := c.call("memory_recall", object{"query": "kiln overheats", "project": "acme/none", "session": "s-none", "layers": []any{"exchange"}})
	must.Equal(t, "hits of a session without a project", len(found["hits"].([]any)), 1)
	found, _ = c.call("memory_recall", object{"query": "kiln", "project": "acme/shop"})
	must.Equal(t, "hits of every layer", len(found["hits"].([]any)), 2)
	c.failsAs("an unknown layer", amber.KindInvalid, "memory_recall", object{"query": "kiln", "layers": []any{"dreams"}})
}

// Tools whose formats others have made know memories alone.
func TestCompatibleToolsFindMemoriesAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	says(t, r.agents["default/default"].Store)
	c := r.local("all")
	for tool, list := range map[string]string{"search": "results", "mem_search": "hits"} {
		found, _ := c.call(tool, object{"query": "kiln"})
		hits := found[list].([]any)
		must.Equal(t, "hits of "+tool, len(hits), 1)
		id, _ := hits[0].(object)["id"].(string)
		must.Hold(t, strings.TrimSpace(id) != "", "%s: a hit without an id: %v", tool, hits[0])
		_, layered := hits[0].(object)["layer"]
		must.Hold(t, !layered, "%s: the format has changed: %v", tool, hits[0])
	}
}

// Context quotes what was said in sessions of its project, says when, and names no turn as
// if it were a memory.
func TestContextOverLayersStaysInTheProject(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	says(t, r.agents["default/default"].Store)
	c := r.local("all")
	block, _ := c.call("memory_context", object{"goal": "the kiln overheats", "project": "acme/shop"})
	text := block["text"].(string)
	must.Says(t, "context", text, ", session] Assistant: the kiln of s-shop overheats")
	must.Hides(t, "context", text, "s-other")
	must.Hides(t, "context", text, "s-none")
	for _, id := range block["ids"].([]any) {
		must.Hold(t, id != "", "an id that is none: %v", block["ids"])
	}
	block, _ = c.call("memory_context", object{"goal": "the kiln overheats", "project": "acme/none"})
	must.Hides(t, "context of another project", block["text"].(string), "overheats")
}
