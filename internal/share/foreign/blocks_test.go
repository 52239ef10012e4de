package foreign_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/test/must"
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
		use     foreign.Block
		outcome foreign.Outcome
		want    []amber.Activity
	}{
		"a file": {
			foreign.Block{Name: "Edit", Input: json.RawMessage(`{"path":"b.go"}`)},
			foreign.Unknown,
			[]amber.Activity{tool("Edit", `{"path":"b.go"}`, ""), {Kind: amber.ActivityFile, Name: "/src/b.go", Status: "modified", Count: 1}},
		},
		"a command of two lines": {
			foreign.Block{Name: "Bash", Input: json.RawMessage(`{"command":"ls\nrm x"}`)},
			foreign.Completed,
			[]amber.Activity{
				tool("Bash", `{"command":"ls\nrm x"}`, "completed"),
				{Kind: amber.ActivityCommand, Name: "ls", Detail: "ls\nrm x", Status: "completed", Count: 1},
			},
		},
		"a failure touches no file": {
			foreign.Block{Name: "Write", Input: json.RawMessage(`{"file_path":"/b.go"}`)},
			foreign.Failed,
			[]amber.Activity{{Kind: amber.ActivityTool, Name: "Write", Detail: `{"file_path":"/b.go"}`, Status: "failed", Count: 1, Failed: 1}},
		},
		"things to do": {
			foreign.Block{Name: "TodoWrite", Input: json.RawMessage(`{"todos":[{"id":"1","content":"Build","status":"in_progress"},{"content":""},{"id":2,"content":"Ship","status":"done"},{"content":"Wait","status":"blocked"}]}`)},
			foreign.Unknown,
			[]amber.Activity{
				tool("TodoWrite", `{"todos":[{"id":"1","content":"Build","status":"in_progress"},{"content":""},{"id":2,"content":"Ship","status":"done"},{"content":"Wait","status":"blocked"}]}`, ""),
				{Kind: amber.ActivityTask, Name: "Build", Detail: "1", Status: "in_progress", Count: 1},
				{Kind: amber.ActivityTask, Name: "Ship", Detail: "2", Status: "completed", Count: 1},
				{Kind: amber.ActivityTask, Name: "Wait", Status: "failed", Count: 1}, // no tool has failed
			},
		},
		"no name, no input": {foreign.Block{}, foreign.Unknown, []amber.Activity{tool("unknown", "", "")}},
		"odd types":         {foreign.Block{Name: "Read", Input: json.RawMessage(`{"file_path":7}`)}, foreign.Unknown, []amber.Activity{tool("Read", `{"file_path":7}`, "")}},
	} {
		must.Equal(t, name, c.use.Activity("/src", c.outcome), c.want, cmp.AllowUnexported(amber.Time{}))
	}
}

func TestToolUseFitsAStore(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\xff\x00ä", 5000)
	use := foreign.Block{Name: long, Input: json.RawMessage(`{"command":"` + strings.Repeat("ä", 5000) + `"}`)}
	list := append(use.Activity("", foreign.Completed), foreign.Failure(long, long))
	for _, a := range list {
		a.SessionID = "s"
		must.Do(t, must.Err(a.Normalize()))
	}
}

// A detail is cut behind a word: redaction would not recognise half a secret.
func TestActivityIsCutBehindAWord(t *testing.T) {
	t.Parallel()
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	for _, before := range []int{1, 10, 20, 39, 40, 41} {
		pad := strings.Repeat("a ", amber.MaxActivityDetailBytes)[:amber.MaxActivityDetailBytes-before]
		for _, input := range []string{pad[:len(pad)-1] + " " + secret + " and more", "\x00" + pad[:len(pad)-1] + "'" + secret + "' more"} {
			b := foreign.Block{Name: "Bash", Input: must.Get(json.Marshal(input))(t)}
			for _, a := range b.Activity("/w", foreign.Completed) {
				if at := strings.Index(a.Detail, "ghp_"); at >= 0 && !strings.HasPrefix(a.Detail[at:], secret) {
					t.Errorf("%d before the end: detail ends with %q", before, a.Detail[at:])
				}
			}
		}
		line := must.Get(json.Marshal(map[string]string{"command": strings.Repeat("b ", amber.MaxActivityNameBytes)[:amber.MaxActivityNameBytes-before-1] + " " + secret}))(t)
		for _, a := range (foreign.Block{Name: "Bash", Input: line}).Activity("/w", foreign.Completed) {
			if at := strings.Index(a.Name, "ghp_"); at >= 0 && !strings.HasPrefix(a.Name[at:], secret) {
				t.Errorf("%d before the end: name ends with %q", before, a.Name[at:])
			}
		}
	}
}
