package mcpapi_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

const someID = "01a1e0bd-8d64-7842-a5fa-7c515473c677"

// plausible are arguments that every tool would take.
var plausible = map[string]object{
	"memory_save": {"content": "x"}, "memory_recall": {"query": "x"}, "memory_get": {"id": someID},
	"memory_update": {"id": someID, "title": "x"}, "memory_forget": {"id": someID}, "memory_context": {"goal": "x"}, "memory_timeline": {"id": someID},
	"session_start": {"id": "s"}, "session_end": {"id": "s"}, "session_summary": {"content": "x", "id": "s"},
	"snapshot_create": {"label": "x"}, "snapshot_list": {}, "snapshot_diff": {"a": someID, "b": someID}, "snapshot_verify": {"id": someID},
	"snapshot_restore": {"id": someID, "confirm": someID}, "consolidation_begin": {"run": "x"}, "consolidation_end": {"id": "x"},
	"task_save": {"id": "t", "goal": "x"}, "task_get": {"id": "t"}, "task_list": {}, "task_event": {"task_id": "t", "from": "queued", "to": "planning"},
	"task_replay": {"task_id": "t"}, "approval_request": {"id": "a", "task_id": "t", "node_id": "n", "summary": "x", "payload": object{"a": 1}},
	"approval_list": {"task_id": "t"}, "result_save": {"task_id": "t", "node_id": "n", "producer": "p", "status": "ok"}, "result_list": {"task_id": "t"},
	"queue_publish": {"entry_id": "e", "task_id": "t", "node_id": "n"}, "queue_claim": {"consumer_id": "c"},
	"queue_ack": {"lease": object{"entry_id": "e"}}, "queue_nack": {"lease": object{"entry_id": "e"}}, "queue_renew": {"lease": object{"entry_id": "e"}}, "queue_status": {},
	"state_list": {}, "state_get": {"name": "d"}, "state_set": {"name": "d", "document": 1}, "state_delete": {"name": "d"},
	"session_state_get": {"id": "s"}, "session_state_set": {"id": "s", "document": 1},
	"mem_save": {"title": "x", "content": "x"}, "mem_search": {"query": "x"}, "mem_context": {}, "mem_session_summary": {"content": "x", "project": "p"},
	"mem_session_start": {"id": "s", "project": "p"}, "mem_session_end": {"id": "s"}, "mem_get_observation": {"id": someID}, "mem_suggest_topic_key": {"title": "x"},
	"mem_capture_passive": {"content": "## Key Learnings\n1. a learning that is long enough\n"}, "mem_save_prompt": {"content": "x"}, "mem_update": {"id": someID, "title": "x"},
	"mem_delete": {"id": someID}, "mem_stats": {}, "mem_timeline": {"observation_id": someID},
	"mem_pin": {"id": someID}, "mem_unpin": {"id": someID}, "mem_review": {"action": "mark_reviewed", "observation_id": someID},
	"mem_judge":          {"judgment_id": someID, "relation": "related"},
	"mem_compare":        {"memory_id_a": someID, "memory_id_b": someID, "relation": "related", "confidence": 1, "reasoning": "x"},
	"mem_merge_projects": {"from": "x", "to": "y"}, "mem_current_project": {}, "mem_doctor": {},
	"create_entities":  {"entities": []any{object{"name": "a", "entityType": "b", "observations": []any{"c"}}}},
	"create_relations": {"relations": []any{object{"from": "a", "to": "b", "relationType": "c"}}},
	"add_observations": {"observations": []any{object{"entityName": "a", "contents": []any{"c"}}}}, "delete_entities": {"entityNames": []any{"a"}},
	"delete_observations": {"deletions": []any{object{"entityName": "a", "observations": []any{"c"}}}},
	"delete_relations":    {"relations": []any{object{"from": "a", "to": "b", "relationType": "c"}}},
	"read_graph":          {}, "search_nodes": {"query": "x"}, "open_nodes": {"names": []any{"a"}},
	"search": {"query": "x"}, "fetch": {"id": someID}, "memory": {"command": "view", "path": "/memories"},
}

// TestWhoIsNotReachedFindsNothing tries every tool, resource and prompt as a caller whose grant is for another
// agent. The answer is that of an agent that does not exist, and nothing is written down or changed.
func TestWhoIsNotReachedFindsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	stranger := holder("acme", "bot", wire.TokenScopes()...)
	r.walkAsStranger(r.session(r.options("all"), stranger, "default", "default"), r.session(r.options("all"), everything, "nobody", "nobody"))
}

// TestWhoIsNotReachedFindsNothingOverHTTP does the same with a token and a path.
func TestWhoIsNotReachedFindsNothingOverHTTP(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.listen(r.options("all"))
	for _, version := range []string{"", "2025-06-18"} {
		r.walkAsStranger(r.dial(s, "/tenants/default/agents/default/mcp", "alien", version), r.dial(s, "/tenants/nobody/agents/nobody/mcp", "root", version))
	}
}

// walkAsStranger calls everything there is as foreign, who is not let in, and
// as absent, who asks for an agent that is not there.
func (r *rig) walkAsStranger(foreign, absent *client) {
	t := r.t
	t.Helper()
	ctx := context.Background()
	secret := must.Get(r.store().LongTerm.Write(ctx, amber.WriteRequest{Content: "of somebody else"}))(t)
	before := must.Get(r.store().Stats.Stats(ctx))(t)
	names := foreign.tools()
	for _, tool := range names {
		args, ok := plausible[tool]
		if !ok {
			t.Fatalf("no arguments for %s", tool)
		}
		args = maps.Clone(args)
		for k, v := range args { // one that is there
			if v == someID {
				args[k] = string(secret.ID)
			}
		}
		kind, text := foreign.fails(tool, args)
		_, want := absent.fails(tool, args)
		must.Equal(t, tool+": kind", kind, amber.KindNotFound)
		must.Equal(t, tool+": text", text, want)
	}
	must.Equal(t, "names", len(names), len(plausible))
	must.Equal(t, "names", names, mcpapi.Names())
	for _, uri := range foreign.uris(string(secret.ID)) {
		_, err := foreign.cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		_, want := absent.cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if wire := wireError(t, err); !strings.Contains(wire.Message, "the agent does not exist") || wire.Error() != wireError(t, want).Error() {
			t.Errorf("%s: %+v, want %v", uri, wire, want)
		}
	}
	prompts := must.Get(foreign.cs.ListPrompts(ctx, nil))(t)
	must.Equal(t, "prompts", len(prompts.Prompts), 3)
	for _, p := range prompts.Prompts {
		_, err := foreign.cs.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Name, Arguments: map[string]string{"topic": "x"}})
		_, want := absent.cs.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Name, Arguments: map[string]string{"topic": "x"}})
		if wire := wireError(t, err); int(wire.Code) != amber.KindNotFound.MCPCode() || wire.Error() != wireError(t, want).Error() {
			t.Errorf("%s: %+v, want %v", p.Name, wire, want)
		}
	}
	must.Equal(t, "written down", len(r.audit.Cut(0)), 0)
	must.Equal(t, "changes", must.Get(r.store().Stats.Stats(ctx))(t).Changes, before.Changes)
}

// uris returns every resource there is, templates with a name put in.
func (c *client) uris(name string) []string {
	c.t.Helper()
	rs, err := c.cs.ListResources(context.Background(), nil)
	if err != nil || len(rs.Resources) == 0 {
		c.t.Fatalf("resources: %+v, %v", rs, err)
	}
	ts, err := c.cs.ListResourceTemplates(context.Background(), nil)
	if err != nil || len(ts.ResourceTemplates) == 0 {
		c.t.Fatalf("templates: %+v, %v", ts, err)
	}
	var out []string
	for _, r := range rs.Resources {
		out = append(out, r.URI)
	}
	for _, r := range ts.ResourceTemplates {
		root, _, _ := strings.Cut(r.URITemplate, "{")
		out = append(out, root+name)
	}
	return out
}

func wireError(t testing.TB, err error) *jsonrpc.Error {
	t.Helper()
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		t.Fatalf("%v is no error of the protocol", err)
	}
	return wire
}

// TestScopesDecide lists and calls every tool with every scope alone: what is
// listed is not refused, and what is not listed is refused and written down.
func TestScopesDecide(t *testing.T) {
	t.Parallel()
	writes := []string{"memory_save", "queue_publish", "mem_delete", "create_entities"}
	for scope, want := range map[wire.TokenScope][]string{
		wire.TokenRead:     {"memory_recall", "snapshot_list", "snapshot_diff", "mem_search", "fetch", "memory", "queue_status"},
		wire.TokenWrite:    writes,
		wire.TokenSnapshot: {"snapshot_create", "snapshot_verify", "consolidation_begin", "consolidation_end"},
		wire.TokenRestore:  {"snapshot_restore"},
		wire.TokenErase:    {},
	} {
		r := newRig(t)
		c := r.session(r.options("all"), holder("default", "", scope), "default", "default")
		listed := c.tools()
		for _, tool := range want {
			must.Equal(t, string(scope)+" lists "+tool, slices.Contains(listed, tool), true)
		}
		for tool, args := range plausible {
			res := c.try(tool, args)
			refused := res.IsError && strings.HasPrefix(textOf(res), "refused: authorize: the token lacks the scope")
			if refused == slices.Contains(listed, tool) {
				t.Errorf("%s, %s: listed %v, refused %v: %s", scope, tool, !refused, refused, textOf(res))
			}
		}
		for _, e := range r.audit.Cut(0) {
			if !strings.HasPrefix(e.Action, "mcp.") || e.Actor != "tok" || e.RequestID != "req" || e.Outcome == "" {
				t.Errorf("%s: written down %+v", scope, e)
			}
		}
	}
}

func TestErasingNeedsItsScope(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	writer := r.session(r.options("engram"), holder("default", "", wire.TokenWrite), "default", "default")
	saved, _ := writer.call("mem_save", object{"title": "t", "content": "secret"})
	r.audit.Cut(0)
	writer.failsAs("erasing without its scope", amber.KindRefused, "mem_delete", object{"id": saved["id"], "hard_delete": true})
	want := []wire.AuditEntry{{Tenant: "default", Agent: "default", Actor: "tok", Action: "mcp.mem_delete", Outcome: "refused", RequestID: "req"}}
	must.Equal(t, "audit", r.audit.Cut(0), want, cmp.AllowUnexported(amber.Time{}))
	eraser := r.session(r.options("engram"), holder("default", "", wire.TokenErase, wire.TokenWrite), "default", "default")
	must.Equal(t, "erased", eraser.out("mem_delete", object{"id": saved["id"], "hard_delete": true})["erased"], true)
	if m, err := amber.All(context.Background(), r.store().Memories.History, amber.MemoryID(saved["id"].(string))); err == nil {
		for _, rev := range m {
			must.Hides(t, "the text of a revision", rev.Content, "secret")
		}
	}
}

// TestRestoringHasToBeAllowed does not offer it where it was not, and takes the
// id twice where it was.
func TestRestoringHasToBeAllowed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := r.options("all")
	o.AllowRestore = false
	closed := r.session(o, everything, "default", "default")
	must.Equal(t, "snapshot_restore is listed", slices.Contains(closed.tools(), "snapshot_restore"), false)
	_, err := closed.cs.CallTool(context.Background(), &mcp.CallToolParams{Name: "snapshot_restore", Arguments: plausible["snapshot_restore"]})
	wire := wireError(t, err)
	must.Equal(t, "code", int(wire.Code), amber.KindInvalid.MCPCode())
	must.Says(t, "message", wire.Message, `unknown tool "snapshot_restore"`)
	open := r.local("snapshots")
	taken, _ := open.call("snapshot_create", object{"label": "before"})
	open.failsAs("a confirmation that is not the id", amber.KindRefused, "snapshot_restore", object{"id": taken["id"], "confirm": "yes"})
	has(t, "dry run", open.out("snapshot_restore", object{"id": taken["id"], "confirm": taken["id"], "dry_run": true}),
		object{"dry_run": true, "from": taken["id"]})
	done, _ := open.call("snapshot_restore", object{"id": taken["id"], "confirm": taken["id"]})
	if done["safety_snapshot"] == nil || done["safety_snapshot"] == "" {
		t.Errorf("restored %v", done)
	}
}
