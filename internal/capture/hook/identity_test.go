package hook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

// read reads a recorded payload with some members changed; nil removes one.
func read(t *testing.T, host hook.Host, name string, change map[string]any) journal.HostEvent {
	t.Helper()
	payload, ok := recorded(t, host)[name]
	if !ok {
		t.Fatalf("%s has no payload %s", host, name)
	}
	var m map[string]any
	must.Do(t, json.Unmarshal([]byte(payload), &m))
	for k, v := range change {
		if v == nil {
			delete(m, k)
		} else {
			m[k] = v
		}
	}
	b := must.Get(json.Marshal(m))(t)
	event, _, _ := strings.Cut(name, "@")
	in := input(host, event, string(b))
	in.Process.PID++ // another process reports the event
	in.At = in.At.Add(1e9)
	return hook.Read(in)
}

type change = map[string]any

func TestTheSameEventHasTheSameID(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		a, b   journal.HostEvent
		native bool
	}{
		{
			"told twice",
			read(t, hook.ClaudeCode, "PostToolUse@bash", nil), read(t, hook.ClaudeCode, "PostToolUse@bash", nil), true,
		}, {
			"another duration",
			read(t, hook.ClaudeCode, "PostToolUse@bash", nil), read(t, hook.ClaudeCode, "PostToolUse@bash", change{"duration_ms": 7}), true,
		}, {
			"codex, hook and notify",
			read(t, hook.Codex, "Stop", nil), read(t, hook.Codex, "agent-turn-complete", nil), true,
		}, {
			"cursor, through the settings of claude",
			read(t, hook.Cursor, "postToolUse", nil), read2(t, hook.ClaudeCode, "postToolUse", change{"hook_event_name": "PostToolUse"}), true,
		}, {
			"cursor's prompt, through the settings of claude",
			read(t, hook.Cursor, "beforeSubmitPrompt", nil), read2(t, hook.ClaudeCode, "beforeSubmitPrompt", change{"hook_event_name": "UserPromptSubmit"}), true,
		}, {
			"cursor's file edit, without native ids",
			read(t, hook.Cursor, "afterFileEdit", nil), read2(t, hook.ClaudeCode, "afterFileEdit", change{"cwd": "/home/ana/shop"}), false,
		}, {
			"gemini, another time in the payload",
			read(t, hook.Gemini, "AfterTool@write", nil), read(t, hook.Gemini, "AfterTool@write", change{"timestamp": "2026-01-02T03:04:06Z"}), false,
		}, {
			"copilot, another time in the payload",
			read(t, hook.Copilot, "userPromptSubmitted", nil), read(t, hook.Copilot, "userPromptSubmitted", change{"timestamp": 1767323046000}), false,
		}, {
			"an unknown event",
			read(t, hook.Gemini, "AfterModel", nil), read(t, hook.Gemini, "AfterModel", change{"timestamp": "2026-01-02T03:04:06Z"}), false,
		}, {
			"the same prompt, later",
			read(t, hook.ClaudeCode, "UserPromptSubmit@no-prompt-id", nil), read(t, hook.ClaudeCode, "UserPromptSubmit@no-prompt-id", nil), false,
		}, {
			"the same session, resumed",
			read(t, hook.Codex, "SessionStart", nil), read(t, hook.Codex, "SessionStart", nil), false,
		},
	} {
		if c.a.EventID != c.b.EventID {
			t.Errorf("%s: two ids", c.name)
		}
		if c.a.Native != c.native || c.b.Native != c.native {
			t.Errorf("%s: native is %v and %v, want %v", c.name, c.a.Native, c.b.Native, c.native)
		}
	}
}

// read2 is read for a payload of Cursor that another host's settings sent.
func read2(t *testing.T, through hook.Host, name string, change change) journal.HostEvent {
	t.Helper()
	var m map[string]any
	must.Do(t, json.Unmarshal([]byte(recorded(t, hook.Cursor)[name]), &m))
	for k, v := range change {
		m[k] = v
	}
	b := must.Get(json.Marshal(m))(t)
	ev := hook.Read(input(through, "", string(b)))
	if ev.Host != string(hook.Cursor) {
		t.Errorf("%s is %s's", name, ev.Host)
	}
	return ev
}

func TestDifferentEventsHaveDifferentIDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		a, b journal.HostEvent
	}{
		{
			"before and after a tool",
			read(t, hook.ClaudeCode, "PreToolUse", nil), read(t, hook.ClaudeCode, "PostToolUse@bash", nil),
		}, {
			"another session",
			read(t, hook.ClaudeCode, "Stop", nil), read(t, hook.ClaudeCode, "Stop", change{"session_id": "other"}),
		}, {
			"another host",
			read(t, hook.ClaudeCode, "UserPromptSubmit@no-prompt-id", nil), read(t, hook.Droid, "UserPromptSubmit", change{
				"session_id": string(read(t, hook.ClaudeCode, "Stop", nil).SessionID), "prompt": "continue",
			}),
		}, {
			"a turn that goes on after its end",
			read(t, hook.ClaudeCode, "Stop", nil), read(t, hook.ClaudeCode, "Stop", change{"stop_hook_active": true}),
		}, {
			"a turn that ends twice",
			read(t, hook.ClaudeCode, "Stop", change{"stop_hook_active": true}),
			read(t, hook.ClaudeCode, "Stop", change{"stop_hook_active": true, "last_assistant_message": "Now it is done."}),
		}, {
			"cursor, an answer and the end",
			read(t, hook.Cursor, "afterAgentResponse", nil), read(t, hook.Cursor, "stop", nil),
		}, {
			"two tools with secret ids",
			read(t, hook.ClaudeCode, "PostToolUse@bash", change{"tool_use_id": secret("one")}),
			read(t, hook.ClaudeCode, "PostToolUse@bash", change{"tool_use_id": secret("two")}),
		}, {
			"opencode, two parts",
			read(t, hook.OpenCode, "experimental.text.complete", nil), read(t, hook.OpenCode, "experimental.text.complete", change{"partID": "prt_2"}),
		}, {
			"without a session, another directory",
			read(t, hook.Copilot, "userPromptSubmitted@old", nil), read(t, hook.Copilot, "userPromptSubmitted@old", change{"cwd": "/elsewhere"}),
		},
	} {
		if c.a.EventID == c.b.EventID {
			t.Errorf("%s: one id", c.name)
		}
	}
}

// TestRecordedEventsAreDifferent: no two of a host's recorded events are taken
// for one, but for those that are.
func TestRecordedEventsAreDifferent(t *testing.T) {
	t.Parallel()
	same := map[string]bool{"Stop agent-turn-complete": true, "agent-turn-complete Stop": true}
	for _, host := range hook.Hosts() {
		seen := map[string]string{}
		for name, payload := range recorded(t, host) {
			event, _, _ := strings.Cut(name, "@")
			id := hook.Read(input(host, event, payload)).EventID
			if was, ok := seen[id]; ok && !same[name+" "+was] {
				t.Errorf("%s: %s and %s have one id", host, name, was)
			}
			seen[id] = name
		}
	}
}

// TestIDsStay guards the way ids are made: stores know them.
func TestIDsStay(t *testing.T) {
	t.Parallel()
	ev := hook.Read(input(hook.ClaudeCode, "PostToolUse", `{"session_id":"s","tool_use_id":"toolu_1"}`))
	if want := "74a49843d029ab7b7cda2c9a68d1fcd1"; ev.EventID != want || !ev.Native {
		t.Errorf("native id %s, want %s", ev.EventID, want)
	}
	ev = hook.Read(input(hook.ClaudeCode, "UserPromptSubmit", `{"session_id":"s","prompt":"continue"}`))
	if want := "01e3a486ab35051950d41c28afaf4131"; ev.EventID != want || ev.Native {
		t.Errorf("content id %s, want %s", ev.EventID, want)
	}
}
