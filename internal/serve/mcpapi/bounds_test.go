package mcpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/race"
)

// maxAnswer is what one answer may have, text and structured content together.
// docs/mcp.md says so.
const maxAnswer = 512 << 10

// TestAnswersAreBounded fills an agent with the longest and the most of
// everything, and calls every tool that reads.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.local("all")
	id := crowd(t, r.store())
	read := 0
	for tool, args := range map[string]object{
		"memory_recall": {"query": "crowd", "limit": 64}, "memory_get": {"id": id}, "memory_context": {"goal": "crowd", "max_bytes": 65536},
		"memory_timeline": {"id": id, "before": 20, "after": 20}, "snapshot_list": {"limit": 100},
		"task_get": {"id": "t0"}, "task_list": {"limit": 50}, "task_replay": {"task_id": "t0"}, "approval_list": {"task_id": "t0"}, "result_list": {"task_id": "t0"}, "queue_status": {},
		"state_list": {}, "state_get": {"name": "d0"}, "session_state_get": {"id": "s0"},
		"mem_search": {"query": "crowd", "limit": 20}, "mem_context": {}, "mem_get_observation": {"id": id}, "mem_suggest_topic_key": {"content": strings.Repeat("word ", 100_000)},
		"mem_stats": {}, "mem_timeline": {"observation_id": id, "before": 20, "after": 20},
		"mem_review": {"action": "list", "limit": 50}, "mem_current_project": {},
		"read_graph": {}, "search_nodes": {"query": "crowd"}, "open_nodes": {"names": []any{"e0", "e1", "e2"}},
		"search": {"query": "crowd"}, "fetch": {"id": id}, "memory": {"command": "view", "path": "/memories/crowd0"},
	} {
		out, text := c.call(tool, args)
		b := must.Get(json.Marshal(out))(t)
		if n := len(b) + len(text); n > maxAnswer {
			t.Errorf("%s answers with %d bytes, %d of them text", tool, n, len(text))
		}
		read++
	}
	if _, text := c.call("memory", object{"command": "view", "path": "/memories"}); len(text) > 64<<10 {
		t.Errorf("a folder has %d bytes", len(text))
	}
	if read < 20 {
		t.Errorf("%d tools were read", read)
	}
}

// crowd makes the longest and the most of everything, and returns the id of a
// memory.
func crowd(t *testing.T, s amber.Store) amber.MemoryID {
	t.Helper()
	ctx := context.Background()
	long := "crowd " + strings.Repeat("<long> ", 100<<10/7)
	var id amber.MemoryID
	must := func(err error) {
		t.Helper()
		must.Do(t, err)
	}
	for i := range 70 {
		// Ten of these are more than an answer, and so are the notes with a long text in parts: the rest would only take time.
		content, note := long[:56<<10], "crowd"
		if i == 69 {
			content = long
		}
		if i < 10 {
			note = long
		}
		ack, err := s.LongTerm.Write(ctx, amber.WriteRequest{
			Content: fmt.Sprint(i, content), Title: fmt.Sprint("crowd ", i, strings.Repeat(" title", 160)), Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "acme/shop"},
		})
		must(err)
		id = ack.ID
		_, err = s.Notes.WriteNote(ctx, amber.NoteWrite{Name: fmt.Sprint("crowd", i), Content: note})
		must(err)
	}
	nodes := make([]string, 1000)
	for i := range nodes {
		nodes[i] = fmt.Sprintf("node-%d-%s", i, strings.Repeat("n", 150))
	}
	for i := range 55 {
		task := fmt.Sprint("t", i)
		_, err := s.Tasks.SaveTask(ctx, amber.Task{ID: task, Goal: long, LastResult: long, CompletedNodes: nodes, Extra: json.RawMessage(`"` + long + `"`)}, 0)
		must(err)
		node := fmt.Sprint("n", i)
		_, err = s.Approvals.RequestApproval(ctx, amber.ApprovalRequest{TaskID: "t0", NodeID: node, Summary: long[:16000], Payload: json.RawMessage(`{"a":"` + long + `"}`)})
		must(err)
		_, err = s.Results.SaveResult(ctx, amber.Result{TaskID: "t0", NodeID: node, Producer: "p", Status: amber.ResultOK, Payload: long})
		must(err)
		_, err = s.Events.AppendEvent(ctx, amber.TaskEvent{TaskID: "t0", From: amber.TaskQueued, NodeID: fmt.Sprint(strings.Repeat("b", 150), i), Result: long})
		must(err)
	}
	full := []byte(`"` + strings.Repeat("x", amber.MaxDocumentBytes-2) + `"`)
	for i := range amber.MaxDocuments {
		document := full
		if i > 1 { // all of them are more than an answer anyway
			document = []byte(`"` + strings.Repeat("x", 32<<10) + `"`)
		}
		_, err := s.Documents.PutDocument(ctx, amber.DocumentWrite{Name: fmt.Sprint("d", i), Document: document})
		must(err)
	}
	_, err := s.States.SaveState(ctx, "s0", full, 0)
	must(err)
	return id
}

// TestManyRelationsAreCut relates entities in more ways than an answer holds.
func TestManyRelationsAreCut(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	c := newRig(t).local("reference")
	entities, relations := []any{}, []any{}
	for i := range 20 {
		entities = append(entities, object{"name": fmt.Sprint("e", i, strings.Repeat("x", 900)), "entityType": "t", "observations": []any{"o"}})
	}
	c.call("create_entities", object{"entities": entities})
	for _, from := range entities[:10] {
		for _, to := range entities[10:] {
			relations = append(relations, object{"from": from.(object)["name"], "to": to.(object)["name"], "relationType": "knows"})
		}
	}
	c.call("create_relations", object{"relations": relations})
	out, text := c.call("read_graph", nil)
	if n := len(out["relations"].([]any)); n == 0 || n > 20 || out["truncated"] != true || !strings.HasSuffix(text, "read the rest]") {
		t.Errorf("%d relations, truncated %v, %q", n, out["truncated"], text[len(text)-80:])
	}
}
