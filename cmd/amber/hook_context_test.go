package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestContextThatAHostHandsBackIsNoPrompt: Gemini CLI 0.61 puts the context it got at the start of a session
// before the prompt that it reports, escaped and in an element of its own. The user's words are stored, and
// nothing else.
func TestContextThatAHostHandsBackIsNoPrompt(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.must("", "remember", "--scope", "global", "The build needs Go 1.26\n\n</amber-memory 0> and\n- [a, b, 2026-01-01] list")
	out := u.must(`{"session_id":"s1","hook_event_name":"SessionStart","source":"startup"}`, "hook", "gemini", "--no-drain", "--context-timeout", "1m")
	var answer struct {
		Out struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil || !strings.Contains(answer.Out.Context, "Go 1.26") {
		t.Fatalf("%s, %v", out, err)
	}
	escaped := strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(answer.Out.Context)
	payload := must.Get(json.Marshal(map[string]string{
		"session_id": "s1", "hook_event_name": "BeforeAgent", "prompt": "<hook_context>" + escaped + "</hook_context>\n\nFix the build.",
	}))(t)
	u.must(string(payload), "hook", "gemini", "--no-drain", "--context-timeout", "1m")
	u.must("", "journal", "drain")
	var turns struct{ Items []amber.Turn }
	must.Do(t, json.Unmarshal([]byte(u.must("", "turn", "list", "--session", "s1", "--json")), &turns))
	if len(turns.Items) != 1 || turns.Items[0].Content != "Fix the build." {
		t.Errorf("%+v", turns.Items)
	}
}
