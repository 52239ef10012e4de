package hook_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/test/must"
)

// secret makes up a key, so that no file holds anything that looks like one.
// The same seed gives the same key.
func secret(seed string) string {
	var n uint64
	for _, c := range seed {
		n = n*31 + uint64(c)
	}
	r := rand.New(rand.NewPCG(n, 1))
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, 93)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return "sk-ant-" + "api03-" + string(b) + "AA"
}

// password makes up what only its name tells to be secret.
func password(seed string) string { return secret(seed)[20:44] }

// TestNoSecretIsKept puts a secret into every place a payload has.
func TestNoSecretIsKept(t *testing.T) {
	t.Parallel()
	s := secret("a")
	quoted, _ := json.Marshal(map[string]string{"command": "curl -H 'x: " + s + "'"})
	for name, payload := range map[string]any{
		"prompt":            map[string]any{"prompt": "use " + s + " please"},
		"tool input":        map[string]any{"tool_input": map[string]any{"command": "export KEY=" + s}, "tool_name": "Bash"},
		"argv":              map[string]any{"tool_input": map[string]any{"command": []string{"curl", "-H", s}}, "tool_name": "shell"},
		"key":               map[string]any{"tool_input": map[string]any{s: 1}, "tool_name": "x"},
		"top-level key":     map[string]any{s: "x"},
		"output":            map[string]any{"tool_response": map[string]any{"stdout": "token " + s}},
		"parts":             map[string]any{"tool_response": []any{map[string]any{"type": "text", "text": s}}},
		"JSON in a text":    map[string]any{"tool_input": string(quoted), "tool_name": "Bash"},
		"cwd":               map[string]any{"cwd": "/tmp/" + s},
		"roots":             map[string]any{"workspace_roots": []string{"/tmp/" + s}},
		"transcript":        map[string]any{"transcript_path": "/tmp/" + s},
		"session":           map[string]any{"session_id": s},
		"turn":              map[string]any{"turn_id": s, "tool_use_id": s, "agent_id": s, "agent_type": s, "model": s},
		"event name":        map[string]any{"hook_event_name": s},
		"answer":            map[string]any{"last_assistant_message": s, "text": s, "message": s, "error": s, "compact_summary": s},
		"unknown member":    map[string]any{"novel": map[string]any{"deep": []any{1, s}}},
		"todo":              map[string]any{"tool_name": "TodoWrite", "tool_input": map[string]any{"todos": []any{map[string]any{"id": s, "content": s, "status": s}}}},
		"file":              map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": "/x/" + s}},
		"patch":             map[string]any{"tool_name": "apply_patch", "tool_input": "*** Add File: " + s + "\n+" + s},
		"not even JSON":     "cut off " + s,
		"private block":     map[string]any{"prompt": "<private>" + s + "</private>", "text": "<private>" + s},
		"timestamp":         map[string]any{"timestamp": s, "duration_ms": s},
		"an array":          []any{s},
		"a bare text":       s,
		"notify":            map[string]any{"input-messages": []string{s}, "last-assistant-message": s},
		"errors as objects": map[string]any{"error": map[string]any{"name": s, "message": s, "data": map[string]any{"message": s}}},
	} {
		b := must.Get(json.Marshal(payload))(t)
		if name == "not even JSON" {
			b = []byte(`{"prompt":"` + payload.(string))
		}
		for _, host := range hook.Hosts() {
			for _, event := range []string{
				"PostToolUse", "PreToolUse", "UserPromptSubmit", "Stop", "SessionStart", "TaskCreated", "StopFailure", "PostCompact",
				"agent-turn-complete", "afterFileEdit", "AfterTool", "AfterAgent", "chat.message", "tool.execute.after", "unknown",
			} {
				in := input(host, event, string(b))
				in.Directory += "/" + s
				ev := hook.Read(in)
				if kept := keepable(t, ev); strings.Contains(string(kept), s) {
					t.Errorf("%s, %s of %s: %s", name, event, host, kept)
				}
				if len(ev.Redactions) == 0 && name != "session" && name != "turn" {
					t.Errorf("%s, %s of %s: nothing was counted", name, event, host)
				}
			}
		}
	}
}

// TestNamesTellSecrets: a value that looks like nothing is a secret when its
// key, or the option before it, says so.
func TestNamesTellSecrets(t *testing.T) {
	t.Parallel()
	p := password("b")
	for _, payload := range []any{
		map[string]any{"tool_input": map[string]any{"password": p}},
		map[string]any{"tool_input": map[string]any{"env": map[string]any{"DB_PASSWORD": p}}},
		map[string]any{"tool_input": map[string]any{"api_key": []string{p}}},
		map[string]any{"tool_name": "shell", "tool_input": map[string]any{"command": []string{"login", "--password", p}}},
		map[string]any{"tool_name": "Bash", "tool_input": `{"command":"login --password ` + p + `"}`},
	} {
		b, _ := json.Marshal(payload)
		if kept := keepable(t, hook.Read(input(hook.ClaudeCode, "PostToolUse", string(b)))); strings.Contains(string(kept), p) {
			t.Errorf("%s is kept as %s", b, kept)
		}
	}
}

// TestNoHalfOfASecretIsKept moves a secret over the place where a long string is
// cut.
func TestNoHalfOfASecretIsKept(t *testing.T) {
	t.Parallel()
	s := secret("c")
	const cut = 64 << 10
	for _, filler := range []string{"word ", "x", "é"} {
		for _, end := range []int{cut, cut + 4<<10} {
			for offset := -2 * len(s); offset <= len(s); offset += 23 {
				n := (end + offset) / len(filler)
				payload := fmt.Sprintf(`{"prompt":"%s %s %s"}`, strings.Repeat(filler, n), s, strings.Repeat(filler, 9<<10))
				ev := hook.Read(input(hook.ClaudeCode, "UserPromptSubmit", payload))
				if strings.Contains(ev.Prompt, s[:20]) {
					t.Fatalf("filler %q, offset %d: the prompt ends %q", filler, offset, ev.Prompt[len(ev.Prompt)-2*len(s):])
				}
				if len(ev.Prompt) > cut || len(ev.Prompt) < cut/2 || ev.Truncated == 0 {
					t.Fatalf("the prompt has %d bytes, %d were left out", len(ev.Prompt), ev.Truncated)
				}
			}
		}
	}
}
