package hook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestReplies lists every event that is answered with context, and how. All
// others are answered nothing.
func TestReplies(t *testing.T) {
	t.Parallel()
	const said = "Recalled: \"<coupons>\"\n\xffonce"
	const clean = `"Recalled: \"<coupons>\"\n` + "\uFFFD" + `once"`
	specific := func(event string) string {
		return `{"hookSpecificOutput":{"additionalContext":` + clean + `,"hookEventName":"` + event + `"}}` + "\n"
	}
	want := map[string]string{
		"claude-code SessionStart":                  specific("SessionStart"),
		"claude-code SessionStart@compact":          specific("SessionStart"),
		"claude-code UserPromptSubmit":              specific("UserPromptSubmit"),
		"claude-code UserPromptSubmit@no-prompt-id": specific("UserPromptSubmit"),
		"codex SessionStart":                        specific("SessionStart"),
		"codex UserPromptSubmit":                    specific("UserPromptSubmit"),
		"droid SessionStart":                        specific("SessionStart"),
		"droid UserPromptSubmit":                    specific("UserPromptSubmit"),
		"gemini SessionStart":                       specific("SessionStart"),
		"gemini BeforeAgent":                        specific("BeforeAgent"),
		"vscode SessionStart":                       specific("SessionStart"),
		"copilot SessionStart@snake":                `{"additionalContext":` + clean + `}` + "\n",
		"copilot UserPromptSubmit@snake":            `{"additionalContext":` + clean + `}` + "\n",
		"copilot sessionStart":                      `{"additionalContext":` + clean + `}` + "\n",
		"copilot userPromptSubmitted":               `{"additionalContext":` + clean + `}` + "\n",
		"copilot userPromptSubmitted@old":           `{"additionalContext":` + clean + `}` + "\n",
		"cursor sessionStart":                       `{"additional_context":` + clean + `}` + "\n",
		"opencode session.created":                  `{"context":` + clean + `}` + "\n",
		"opencode chat.message":                     `{"context":` + clean + `}` + "\n",
	}
	got := map[string]string{}
	for _, host := range hook.Hosts() {
		for name, payload := range recorded(t, host) {
			event, _, _ := strings.Cut(name, "@")
			ev := hook.Read(input(host, event, payload))
			if b := hook.Reply(ev, " \n"); len(b) > 0 {
				t.Errorf("%s of %s without context is answered %s", name, host, b)
			}
			b := hook.Reply(ev, said)
			if hook.WantsContext(ev) != (len(b) > 0) {
				t.Errorf("%s of %s wants context: %v, is answered %s", name, host, hook.WantsContext(ev), b)
			}
			if len(b) == 0 {
				continue
			}
			got[string(host)+" "+name] = string(b)
			if !json.Valid(b) {
				t.Errorf("no JSON: %s", b)
			}
		}
	}
	must.Equal(t, "replies", got, want)
}
