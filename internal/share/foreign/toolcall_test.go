package foreign_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestToolCallActivity(t *testing.T) {
	names := func(c foreign.ToolCall) string {
		var out []string
		for _, a := range c.Activity() {
			a.SessionID = "s"
			must.NoError(t, must.Err(a.Normalize()))
			out = append(out, string(a.Kind)+" "+a.Name+" "+a.Status)
		}
		return strings.Join(out, "; ")
	}
	for _, c := range []struct {
		tool, input, want string
	}{
		{"Bash", `{"command":"go test\ngo vet"}`, "tool Bash completed; command go test completed"},
		{"run_shell_command", `"{\"command\":\"ls\"}"`, "tool run_shell_command completed; command ls completed"},
		{"shell", `{"command":["a","b"]}`, "tool shell completed; command a b completed"},
		{"shell", `{"command":{"x":1}}`, "tool shell completed"},
		{"Read", `{"file_path":"a/../b.go"}`, "tool Read completed; file /src/b.go read"},
		{"read_many_files", `{"paths":["/a","/b","/a",{"path":"c"}]}`, "tool read_many_files completed; file /a read; file /b read; file /src/c read"},
		{"write_file", `[1]`, "tool write_file completed"},
		{"", ``, "tool unknown completed"},
		{"x\x00y", `null`, "tool x y completed"},
	} {
		must.Equal(t, c.tool+" "+c.input, names(foreign.ToolCall{Name: c.tool, Input: json.RawMessage(c.input), Directory: "/src"}), c.want)
	}
	failed := foreign.ToolCall{Name: "Read", Input: json.RawMessage(`{"file_path":"/a"}`), Failed: true, Output: "gone\nfor good"}
	must.Equal(t, "a failed call", names(failed), "tool Read failed; error Read: gone ")
}

func TestToolCallIsBounded(t *testing.T) {
	secret := strings.Repeat("k", 100)
	input := `{"command":"` + strings.Repeat("echo ", 810) + `token=` + secret + secret + `"}`
	for _, a := range (foreign.ToolCall{Name: "bash", Input: json.RawMessage(input)}).Activity() {
		a.SessionID = "s"
		must.NoError(t, must.Err(a.Normalize()))
		must.Hides(t, "detail", a.Detail+a.Name, "kkkk")
	}
	var patch strings.Builder
	for i := range 1000 {
		patch.WriteString("*** Add File: f" + strings.Repeat("x", i%700) + string(rune('a'+i%26)) + "\n")
	}
	call := foreign.ToolCall{Name: "apply_patch", Input: must.Get(json.Marshal(patch.String()))(t)}
	must.Equal(t, "activities of a large patch", len(call.Activity()), 201)
}

func TestParseItem(t *testing.T) {
	for raw, want := range map[string]foreign.Item{
		`{"role":"user","content":"x"}`: {Type: "message", Role: "user", Parts: []string{"x"}},
		`{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"},{"type":"output_text","text":"b"},{"type":"input_file"},3]}`: {
			Type: "message", Role: "assistant", Parts: []string{"no", "b", "[file]"},
		},
		`{"type":"function_call_output","call_id":"c","output":"Exit code: 2\nWall time: 1\nOutput:\nbad"}`: {
			Type: "function_call_output", CallID: "c", Output: "Exit code: 2\nWall time: 1\nOutput:\nbad", Failed: true,
		},
		`{"type":"function_call_output","call_id":"c","output":"Chunk ID: 1\nProcess exited with code 0\nOutput:\nExit code: 1"}`: {
			Type: "function_call_output", CallID: "c", Output: "Chunk ID: 1\nProcess exited with code 0\nOutput:\nExit code: 1",
		},
		`{"type":"custom_tool_call_output","call_id":7,"output":[{"type":"input_text","text":"a"},{"type":"input_image"}]}`: {
			Type: "custom_tool_call_output", CallID: "7", Output: "a\n[image]",
		},
		`{"type":"function_call_output","output":{"content":"x","success":false}}`:           {Type: "function_call_output", Output: "x", Failed: true},
		`{"type":"function_call_output","output":{"output":{"output":"x"},"success":false}}`: {Type: "function_call_output", Output: "x", Failed: true},
		`{"type":"function_call","name":"f","call_id":"c","arguments":"{}"}`:                 {Type: "function_call", CallID: "c", Call: &foreign.ToolCall{Name: "f", Input: json.RawMessage(`"{}"`)}},
		`{"type":"file_search_call","id":"i","arguments":null}`:                              {Type: "file_search_call", CallID: "i", Call: &foreign.ToolCall{Name: "file_search"}},
		`{"type":{},"role":[],"content":{}}`:                                                 {},
	} {
		got := must.Get(foreign.ParseItem([]byte(raw)))(t)
		must.Equal(t, raw, got, want, cmpopts.EquateEmpty())
	}
	for _, raw := range []string{"", "[]", "null", "{", `{} {}`, strings.Repeat("[", 20_000)} {
		must.Error(t, raw[:min(len(raw), 10)], must.Err(foreign.ParseItem([]byte(raw))))
	}
}
