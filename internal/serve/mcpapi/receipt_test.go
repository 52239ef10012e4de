package mcpapi_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// canary is in every text that was stored before a token that may not read asks.
const canary = "canary7f3a"

// plant stores the canary wherever tools keep text, and returns the ids of two
// memories.
func (r *rig) plant() (known, other string) {
	t := r.t
	t.Helper()
	ctx, s := context.Background(), r.store()
	here := amber.Identities{ProjectID: "acme/shop"}
	one := must.Get(s.LongTerm.Write(ctx, amber.WriteRequest{
		Content: "known text", Scope: amber.ScopeProject, Identities: here, Summary: canary,
		Tags: []string{canary}, Metadata: map[string]string{"k": canary},
	}))(t)
	here.SessionID = canary
	two := must.Get(s.LongTerm.Write(ctx, amber.WriteRequest{Content: canary, Title: canary, Scope: amber.ScopeProject, Identities: here, Topic: "plan"}))(t)
	known, other = string(one.ID), string(two.ID)
	must.Get(s.Sessions.StartSession(ctx, amber.SessionStart{ID: "s", Name: canary, Project: canary, Directory: canary}))(t)
	must.Get(s.Names.EndSession(ctx, amber.SessionEnd{ID: "s", Summary: canary}))(t)
	must.Get(s.Notes.WriteNote(ctx, amber.NoteWrite{Name: "a.md", Content: "line\n" + canary + "\n"}))(t)
	must.Get(s.Tasks.SaveTask(ctx, amber.Task{ID: "t", RequestID: canary, SessionID: "s", Goal: canary, LastResult: canary}, 0))(t)
	must.Get(s.Approvals.RequestApproval(ctx, amber.ApprovalRequest{
		ID: "a", TaskID: "t", NodeID: "n", Summary: canary, Payload: json.RawMessage(`"` + canary + `"`),
	}))(t)
	must.Get(s.Results.SaveResult(ctx, amber.Result{
		TaskID: "t", NodeID: "n", Producer: canary, Status: amber.ResultOK, Payload: canary, Confidence: 1,
	}))(t)
	must.Do(t, s.Queue.Publish(ctx, amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n", Payload: canary}))
	local := r.local("all")
	local.call("create_entities", object{"entities": []any{object{"name": "a", "entityType": canary, "observations": []any{canary}}, object{"name": "b", "entityType": canary, "observations": []any{"c"}}}})
	local.call("create_relations", object{"relations": []any{object{"from": "a", "to": "b", "relationType": canary}}})
	local.call("snapshot_create", object{"label": canary})
	return known, other
}

// blindCalls are calls of every tool that changes something, beside the
// plausible ones: those that meet what is there.
func blindCalls(known, other string) map[string][]object {
	return map[string][]object{
		"memory_save":         {{"content": "known text"}, {"content": "known text", "tags": []string{"x"}}, {"content": "x", "topic": "plan"}},
		"memory_update":       {{"id": known}, {"id": other}, {"id": other, "kind": "user_fact"}, {"id": other, "if_revision": 99, "title": "x"}},
		"memory_forget":       {{"id": known}},
		"session_start":       {{"id": "s"}},
		"session_end":         {{"id": "s"}},
		"mem_save":            {{"title": "", "content": "known text"}, {"title": "x", "content": "y", "topic_key": "plan"}},
		"mem_update":          {{"id": other}, {"id": other, "type": "policy"}},
		"mem_session_start":   {{"id": "s", "project": "x"}},
		"mem_session_end":     {{"id": "s"}},
		"mem_delete":          {{"id": other}},
		"mem_pin":             {{"id": other}},
		"mem_unpin":           {{"id": other}},
		"mem_review":          {{"action": "mark_reviewed", "id": other}},
		"mem_judge":           {{"judgment_id": other + ":" + known, "relation": "supersedes"}},
		"mem_compare":         {{"memory_id_a": other, "memory_id_b": known, "relation": "related", "confidence": 1, "reasoning": "x"}},
		"task_save":           {{"id": "t", "goal": "x"}, {"id": "t", "goal": "x", "if_version": 1}},
		"task_event":          {{"task_id": "t", "from": "queued", "to": "planning"}},
		"approval_request":    {{"id": "a", "task_id": "t", "node_id": "n", "summary": "x", "payload": object{"a": 1}}, {"id": "a", "task_id": "t", "node_id": "n", "summary": canary, "payload": canary}},
		"create_entities":     {{"entities": []any{object{"name": "a", "entityType": "x", "observations": []any{"x"}}}}},
		"add_observations":    {{"observations": []any{object{"entityName": "a", "contents": []any{"x"}}}}},
		"delete_observations": {{"deletions": []any{object{"entityName": "b", "observations": []any{"x"}}}}},
		"memory": {
			{"command": "str_replace", "path": "/memories/a.md", "old_str": "line", "new_str": "line"},
			{"command": "str_replace", "path": "/memories/a.md", "old_str": "nothing", "new_str": "x"},
			{"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": "x"},
			{"command": "create", "path": "/memories/a.md", "file_text": "x"},
			{"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"},
			{"command": "delete", "path": "/memories/a.md"},
		},
	}
}

// TestWhoMayNotReadIsToldNothingThatWasStored calls every tool with every scope
// but read and admin over an agent full of canaries: no answer holds one, also
// where the call fails.
func TestWhoMayNotReadIsToldNothingThatWasStored(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	known, other := r.plant()
	scopes := slices.DeleteFunc(wire.TokenScopes(), func(s wire.TokenScope) bool { return s == wire.TokenRead || s == wire.TokenAdmin })
	c := r.session(r.options("all"), holder("default", "", scopes...), "default", "default")
	calls := blindCalls(known, other)
	names := append(c.tools(), "memory") // which looks, too, and is not offered
	for _, tool := range names {
		for _, args := range append(calls[tool], plausible[tool]) {
			if _, asked := args["payload"].(string); asked {
				continue // the request holds it
			}
			if res := c.try(tool, args); leaks(t, res) {
				t.Errorf("%s(%v) tells %s %s", tool, args, textOf(res), structured(t, res))
			}
		}
	}
	for _, tool := range []string{"memory_save", "session_start", "create_entities", "snapshot_create"} {
		must.Equal(t, tool+" is offered", slices.Contains(names, tool), true)
	}
	must.Equal(t, "queue_claim, which hands out what is stored, is offered", slices.Contains(c.tools(), "queue_claim"), false)
}

func leaks(t testing.TB, res *mcp.CallToolResult) bool {
	t.Helper()
	return strings.Contains(textOf(res)+structured(t, res), canary)
}

func structured(t testing.TB, res *mcp.CallToolResult) string {
	t.Helper()
	b := must.Get(json.Marshal(res.StructuredContent))(t)
	return string(b)
}

// TestAnApprovalRemembersWhichTokenAsked, so that this token cannot decide it.
func TestAnApprovalRemembersWhichTokenAsked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.session(r.options("all"), holder("default", "", wire.TokenRead, wire.TokenWrite), "default", "default")
	must.Equal(t, "requested by", c.out("approval_request", plausible["approval_request"])["requested_by"], "tok")
	if _, text := c.fails("approval_request", object{"id": "b", "task_id": "t", "node_id": "n", "summary": "x", "payload": object{}, "requested_by": "somebody"}); !strings.Contains(text, "requested_by") {
		t.Errorf("a request in the name of somebody else is told %q", text)
	}
}
