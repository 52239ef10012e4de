package hook_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/capture/journal"
)

func TestParseHost(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]hook.Host{
		"claude": hook.ClaudeCode, "Claude-Code": hook.ClaudeCode, "claude_code": hook.ClaudeCode, "factory": hook.Droid, "vs-code": hook.VSCode,
		"gemini-cli": hook.Gemini, "github-copilot": hook.Copilot,
	} {
		if got, err := hook.ParseHost(name); got != want || err != nil {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	for _, host := range hook.Hosts() {
		if got, err := hook.ParseHost(string(host)); got != host || err != nil {
			t.Errorf("%s is %q, %v", host, got, err)
		}
	}
	for _, name := range []string{"", "emacs", "\xff\n"} {
		_, err := hook.ParseHost(name)
		if amber.KindOf(err) != amber.KindInvalid || !strings.Contains(err.Error(), "opencode") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestThePayloadNamesTheEvent(t *testing.T) {
	t.Parallel()
	ev := hook.Read(input(hook.ClaudeCode, "Stop", `{"hook_event_name":"SessionEnd"}`))
	if ev.Kind != journal.HostSessionEnd {
		t.Errorf("kind %s", ev.Kind)
	}
	ev = hook.Read(input(hook.Generic, "session-end", `{"type":{"not":"a name"}}`))
	if ev.Kind != journal.HostSessionEnd || string(ev.Raw) != `{"type":{"not":"a name"}}` {
		t.Errorf("kind %s, raw %s", ev.Kind, ev.Raw)
	}
}

// TestGenericUnderstandsEveryHost: names of events mean the same to the generic
// host as to their own.
func TestGenericUnderstandsEveryHost(t *testing.T) {
	t.Parallel()
	for _, host := range hook.Hosts() {
		for name := range recorded(t, host) {
			event, _, _ := strings.Cut(name, "@")
			own, any := hook.Read(input(host, event, "{}")), hook.Read(input(hook.Generic, event, "{}"))
			if own.Kind != any.Kind && own.Kind != journal.HostOther {
				t.Errorf("%s of %s is %s, generic %s", event, host, own.Kind, any.Kind)
			}
		}
	}
}

func TestToolsBeforeTheyRunAreKeptSmall(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("content ", 4000)
	ev := hook.Read(input(hook.ClaudeCode, "PreToolUse", `{"tool_name":"Write","tool_use_id":"t","tool_input":{"file_path":"/a","content":"`+long+`"},"novel":"`+long+`"}`))
	if n := len(keepable(t, ev)); n > 2000 {
		t.Errorf("the entry has %d bytes", n)
	}
	if ev.Files != nil || ev.Truncated == 0 || !strings.Contains(string(ev.Tool.Input), "/a") {
		t.Errorf("the event is %+v", ev)
	}
}

func TestLongOutputKeepsItsEnds(t *testing.T) {
	t.Parallel()
	long := "first" + strings.Repeat("é", 30_000) + "last"
	ev := hook.Read(input(hook.ClaudeCode, "PostToolUse", `{"tool_name":"Bash","tool_response":{"stdout":"`+long+`","stderr":""}}`))
	out := ev.Tool.Output
	if !strings.HasPrefix(out, "first") || !strings.HasSuffix(out, "last") || len(out) > 17<<10 || !strings.Contains(out, "bytes left out") {
		t.Errorf("the output has %d bytes and ends %q", len(out), out[len(out)-20:])
	}
	if ev.Truncated < 40_000 {
		t.Errorf("%d bytes were left out", ev.Truncated)
	}
}
