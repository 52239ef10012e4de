package foreign_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/foreign"
	"github.com/amber-memory/amber/internal/must"
)

func TestBlocksOfEveryShape(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		``:        "",
		`null`:    "",
		`7`:       "",
		`{"a":1}`: "",
		`""`:      "",
		`"plain"`: "plain",
		`["x",1,null,{"type":"text","text":"kept"}]`:                                       "kept",
		`[{"type":"text","text":7},{"type":"text","text":"b"}]`:                            "b",
		`[{"type":"image","source":{}},{"type":"document"}]`:                               "[image]|[document]",
		`[{"type":"tool_result","content":"out"}]`:                                         "out",
		`[{"type":"tool_result","content":[{"type":"text","text":"a"},{"type":"image"}]}]`: "a\n[image]",
		`[{"type":"tool_result","content":[{"type":"tool_result","content":"deep"}]}]`:     "",
		`[{"type":"thinking","thinking":"hm"}]`:                                            "",
		`[{"type":"tool_use","name":"Read"}]`:                                              "",
		`[{"type":"text","text":"a"}`:                                                      "",
	} {
		var parts []string
		blocks, err := foreign.Blocks([]byte(content))
		must.Equal(t, content, err != nil, content == `[{"type":"text","text":"a"}`)
		for _, b := range blocks {
			if s := b.Plain(); s != "" {
				parts = append(parts, s)
			}
		}
		must.Equal(t, content, strings.Join(parts, "|"), want)
	}
}

func TestToolUseIsNamedAsHooksNameIt(t *testing.T) {
	t.Parallel()
	tool := func(name, input, status string) amber.Activity {
		return amber.Activity{Kind: amber.ActivityTool, Name: name, Detail: input, Status: status, Count: 1}
	}
	for name, c := range map[string]struct {
		use  foreign.ToolUse
		want []amber.Activity
	}{
		"a file": {
			foreign.ToolUse{Name: "Read", Input: json.RawMessage(`{"file_path":"/a/../b.go"}`), Over: true},
			[]amber.Activity{
				tool("Read", `{"file_path":"/a/../b.go"}`, "completed"),
				{Kind: amber.ActivityFile, Name: "/b.go", Status: "read", Count: 1},
			},
		},
		"a relative file": {
			foreign.ToolUse{Name: "Edit", Input: json.RawMessage(`{"path":"b.go"}`), Directory: "/src"},
			[]amber.Activity{tool("Edit", `{"path":"b.go"}`, ""), {Kind: amber.ActivityFile, Name: "/src/b.go", Status: "modified", Count: 1}},
		},
		"a command of two lines": {
			foreign.ToolUse{Name: "Bash", Input: json.RawMessage(`{"command":"ls\nrm x"}`), Over: true},
			[]amber.Activity{
				tool("Bash", `{"command":"ls\nrm x"}`, "completed"),
				{Kind: amber.ActivityCommand, Name: "ls", Detail: "ls\nrm x", Status: "completed", Count: 1},
			},
		},
		"words of a command": {
			foreign.ToolUse{Name: "shell", Input: json.RawMessage(`{"command":["go","test"]}`), Over: true},
			[]amber.Activity{
				tool("shell", `{"command":["go","test"]}`, "completed"),
				{Kind: amber.ActivityCommand, Name: "go test", Status: "completed", Count: 1},
			},
		},
		"a failure touches no file": {
			foreign.ToolUse{Name: "Write", Input: json.RawMessage(`{"file_path":"/b.go"}`), Over: true, Failed: true},
			[]amber.Activity{{Kind: amber.ActivityTool, Name: "Write", Detail: `{"file_path":"/b.go"}`, Status: "failed", Count: 1, Failed: 1}},
		},
		"things to do": {
			foreign.ToolUse{Name: "TodoWrite", Input: json.RawMessage(`{"todos":[{"id":"1","content":"Build","status":"in_progress"},{"content":""},{"id":2,"content":"Ship","status":"done"}]}`)},
			[]amber.Activity{
				tool("TodoWrite", `{"todos":[{"id":"1","content":"Build","status":"in_progress"},{"content":""},{"id":2,"content":"Ship","status":"done"}]}`, ""),
				{Kind: amber.ActivityTask, Name: "Build", Detail: "1", Status: "in_progress", Count: 1},
				{Kind: amber.ActivityTask, Name: "Ship", Detail: "2", Status: "completed", Count: 1},
			},
		},
		"no name, no input": {foreign.ToolUse{}, []amber.Activity{tool("unknown", "", "")}},
		"odd types":         {foreign.ToolUse{Name: "Read", Input: json.RawMessage(`{"file_path":7}`)}, []amber.Activity{tool("Read", `{"file_path":7}`, "")}},
	} {
		must.Equal(t, name, c.use.Activity(), c.want, cmp.AllowUnexported(amber.Time{}))
	}
}

func TestToolUseFitsAStore(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\xff\x00ä", 5000)
	use := foreign.ToolUse{Name: long, Input: json.RawMessage(`{"command":"` + strings.Repeat("ä", 5000) + `"}`), Over: true}
	list := append(use.Activity(), foreign.Failure(long, long))
	for _, a := range list {
		a.SessionID = "s"
		must.Do(t, must.Err(a.Normalize()))
	}
}
