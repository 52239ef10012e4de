package mcpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/test/must"
)

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
