package mcpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	docsFile  = "../../../docs/mcp.md"
	docsBegin = "<!-- tools: written by the tests of internal/serve/mcpapi with -update -->\n"
	docsEnd   = "<!-- end of tools -->\n"
)

// TestTheDocumentationListsEveryTool keeps the tables of docs/mcp.md equal to
// what is offered. Run with -update after a change.
func TestTheDocumentationListsEveryTool(t *testing.T) {
	t.Parallel()
	b := must.Get(os.ReadFile(docsFile))(t)
	before, rest, ok := strings.Cut(string(b), docsBegin)
	tables, after, ended := strings.Cut(rest, docsEnd)
	if !ok || !ended {
		t.Fatalf("%s has no place for tools", docsFile)
	}
	want := "\n" + newRig(t).toolTables()
	if *update {
		must.Do(t, os.WriteFile(docsFile, []byte(before+docsBegin+want+docsEnd+after), 0o644))
		return
	}
	must.Equal(t, docsFile, tables, want)
}

// toolTables writes a table for each profile.
func (r *rig) toolTables() string {
	r.t.Helper()
	// The hint of the error for an unknown profile lists the known ones.
	_, list, ok := strings.Cut(amber.HintOf(mcpapi.Check("?")), "profiles: all, ")
	if !ok {
		r.t.Fatal("the profiles are not told")
	}
	var b strings.Builder
	for profile := range strings.SplitSeq(list, ", ") {
		res := must.Get(r.local(profile).cs.ListTools(context.Background(), nil))(r.t)
		fmt.Fprintf(&b, "| `%s` | | arguments |\n|---|---|---|\n", profile)
		for _, tool := range res.Tools {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", tool.Name, titleInDocs(tool), r.arguments(tool))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func titleInDocs(tool *mcp.Tool) string {
	switch {
	case tool.Annotations.ReadOnlyHint:
		return tool.Title
	case *tool.Annotations.DestructiveHint:
		return tool.Title + " (changes what is there)"
	}
	return tool.Title + " (changes)"
}

// arguments lists the arguments of a tool, those it requires first and
// in bold.
func (r *rig) arguments(tool *mcp.Tool) string {
	r.t.Helper()
	var s jsonschema.Schema
	must.Do(r.t, json.Unmarshal(must.Get(json.Marshal(tool.InputSchema))(r.t), &s))
	names := slices.Sorted(slices.Values(s.Required))
	for i, name := range names {
		names[i] = "**" + name + "**"
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
