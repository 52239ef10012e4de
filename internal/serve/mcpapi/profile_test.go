package mcpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestProfilesOfferTheirTools(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for tools, want := range map[string][]string{
		"default":   {"memory_save", "memory_recall", "memory_get", "memory_update", "memory_forget", "memory_context", "memory_timeline", "session_start", "session_end", "session_summary"},
		"snapshots": {"snapshot_create", "snapshot_list", "snapshot_diff", "snapshot_verify", "snapshot_restore", "consolidation_begin", "consolidation_end"},
		"state":     {"state_list", "state_get", "state_set", "state_delete", "session_state_get", "session_state_set"},
		"engram": {
			"mem_save", "mem_search", "mem_context", "mem_session_summary", "mem_session_start", "mem_session_end", "mem_get_observation",
			"mem_suggest_topic_key", "mem_capture_passive", "mem_save_prompt", "mem_update", "mem_delete", "mem_stats", "mem_timeline",
			"mem_pin", "mem_unpin", "mem_review", "mem_judge", "mem_compare", "mem_merge_projects", "mem_current_project", "mem_doctor",
		},
		"reference": {
			"create_entities", "create_relations", "add_observations", "delete_entities", "delete_observations", "delete_relations",
			"read_graph", "search_nodes", "open_nodes",
		},
		"chatgpt":                             {"search", "fetch"},
		"files":                               {"memory"},
		"files, memory_save,chatgpt,files":    {"memory_save", "search", "fetch", "memory"},
		"memory_recall":                       {"memory_recall"},
		"snapshot_restore,memory_get,default": {"memory_save", "memory_recall", "memory_get", "memory_update", "memory_forget", "memory_context", "memory_timeline", "session_start", "session_end", "session_summary", "snapshot_restore"},
	} {
		must.Equal(t, tools, r.local(tools).tools(), want)
	}
	all := r.local("all").tools()
	if len(all) < 50 || len(all) != len(slices.Compact(slices.Sorted(slices.Values(all)))) {
		t.Errorf("all are %d: %v", len(all), all)
	}
}

func TestUnknownToolsCannotBeAskedFor(t *testing.T) {
	t.Parallel()
	for _, tools := range []string{"default,", "everything", "memory_sav", ",", "default,,files"} {
		must.Kind(t, tools, mcpapi.Check(tools), amber.KindInvalid, "snapshots")
	}
	for _, tools := range []string{"", "all", "default", " files , engram "} {
		must.Kind(t, tools, mcpapi.Check(tools), "")
	}
}

// TestTheDefaultProfileIsCheap pins what the tools cost in every prompt: a token
// is about four bytes.
func TestTheDefaultProfileIsCheap(t *testing.T) {
	t.Parallel()
	c := newRig(t).local("default")
	res := must.Get(c.cs.ListTools(context.Background(), nil))(t)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	must.Do(t, e.Encode(res))
	t.Logf("%d bytes", b.Len())
	if b.Len() > 8000 {
		t.Errorf("tools/list has %d bytes", b.Len())
	}
	if n := len(c.cs.InitializeResult().Instructions); n == 0 || n > 600 {
		t.Errorf("the instructions have %d bytes", n)
	}
}

// TestEveryToolIsDescribed holds every tool to the rules of the house: a title,
// a description, four annotations, and schemas that any client understands. A
// tool's error has to fit its output schema, or clients would refuse it.
func TestEveryToolIsDescribed(t *testing.T) {
	t.Parallel()
	res := must.Get(newRig(t).local("all").cs.ListTools(context.Background(), nil))(t)
	failure := map[string]any{"error": map[string]any{"kind": "invalid", "message": "x"}}
	for _, tool := range res.Tools {
		if tool.Title == "" || len(tool.Description) < 10 || len(tool.Description) > 200 {
			t.Errorf("%s: title %q, description of %d bytes", tool.Name, tool.Title, len(tool.Description))
		}
		b, _ := json.Marshal(tool.Annotations)
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if !bytes.Contains(b, []byte(`"`+hint+`"`)) {
				t.Errorf("%s does not say %s", tool.Name, hint)
			}
		}
		if in := resolve(t, tool.Name, tool.InputSchema); in != nil && in.Schema().Type != "object" {
			t.Errorf("%s takes no object", tool.Name)
		}
		if out := resolve(t, tool.Name, tool.OutputSchema); out == nil || out.Validate(failure) != nil {
			t.Errorf("%s: an error does not fit the output schema", tool.Name)
		}
	}
}

func resolve(t testing.TB, tool string, schema any) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	must.Do(t, json.Unmarshal(must.Get(json.Marshal(schema))(t), &s))
	r, err := s.Resolve(nil)
	must.Kind(t, tool, err, "")
	return r
}
