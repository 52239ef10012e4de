package hook_test

import (
	"cmp"
	"os"
	"testing"

	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestHostsThatShareAFileAreToldApart: Copilot CLI and VS Code run the hooks in
// one file, and some of those of Claude Code; each gets the answer that it takes.
func TestHostsThatShareAFileAreToldApart(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	must.Do(t, os.MkdirAll(h.path(".copilot/session-state/cp-1"), 0o755))
	copilotStop, codeStop := "/home/ana/.copilot/session-state/cp-1/events.jsonl", "/home/ana/.config/Code/User/workspaceStorage/0/GitHub.copilot-chat/transcripts/vs-1.jsonl"
	const at = "2026-01-02T03:04:05.100Z"
	for name, c := range map[string]struct {
		want    hook.Host
		payload map[string]any
	}{
		"start of Copilot":       {hook.Copilot, map[string]any{"hook_event_name": "SessionStart", "session_id": "cp-1", "timestamp": at, "source": "new", "initial_prompt": "hi"}},
		"prompt of Copilot":      {hook.Copilot, map[string]any{"hook_event_name": "UserPromptSubmit", "session_id": "cp-1", "timestamp": at, "prompt": "hi"}},
		"tool of Copilot":        {hook.Copilot, map[string]any{"hook_event_name": "PostToolUse", "session_id": "cp-1", "timestamp": at, "tool_name": "Bash", "tool_result": map[string]any{"result_type": "success"}}},
		"stop of Copilot":        {hook.Copilot, map[string]any{"hook_event_name": "Stop", "session_id": "cp-1", "timestamp": at, "transcript_path": copilotStop, "stop_reason": "end_turn"}},
		"Copilot on Windows":     {hook.Copilot, map[string]any{"hook_event_name": "Stop", "session_id": "cp-1", "transcript_path": `C:\Users\ana\.copilot\session-state\cp-1\events.jsonl`}},
		"camel case":             {hook.Copilot, map[string]any{"sessionId": "cp-1", "timestamp": 1767323045100, "prompt": "hi"}},
		"start of VS Code":       {hook.VSCode, map[string]any{"hook_event_name": "SessionStart", "session_id": "vs-1", "timestamp": at, "source": "new", "transcript_path": codeStop}},
		"prompt of VS Code":      {hook.VSCode, map[string]any{"hook_event_name": "UserPromptSubmit", "session_id": "vs-1", "timestamp": at, "prompt": "hi"}},
		"old prompt of VS Code":  {hook.VSCode, map[string]any{"hookEventName": "UserPromptSubmit", "sessionId": "vs-1", "timestamp": at, "prompt": "hi"}},
		"tool of VS Code":        {hook.VSCode, map[string]any{"hook_event_name": "PostToolUse", "session_id": "vs-1", "tool_name": "editFiles", "tool_use_id": "t1", "tool_response": "ok"}},
		"stop of VS Code":        {hook.VSCode, map[string]any{"hook_event_name": "Stop", "session_id": "vs-1", "timestamp": at, "transcript_path": codeStop}},
		"VS Code on Windows":     {hook.VSCode, map[string]any{"hook_event_name": "Stop", "session_id": "vs-1", "transcript_path": `C:\Users\ana\AppData\Roaming\Code\User\workspaceStorage\0\GitHub.copilot-chat\transcripts\vs-1.jsonl`}},
		"subagent of VS Code":    {hook.VSCode, map[string]any{"hook_event_name": "SubagentStart", "session_id": "vs-1", "timestamp": at, "agent_id": "a"}},
		"session that is a path": {"", map[string]any{"hook_event_name": "UserPromptSubmit", "session_id": "../session-state/cp-1", "prompt": "hi"}},
	} {
		for _, through := range []hook.Host{hook.Copilot, hook.VSCode} {
			want := cmp.Or(c.want, through)
			if name == "camel case" && through == hook.VSCode {
				continue // its payloads name no event; none are asked for there
			}
			if ev := h.read(through, c.payload); ev.Host != string(want) {
				t.Errorf("%s through hooks of %s is taken for %s", name, through, ev.Host)
			}
		}
	}
	for path, want := range map[string]hook.Host{copilotStop: hook.Copilot, codeStop: hook.VSCode, "/home/ana/.claude/projects/x/cl-1.jsonl": hook.ClaudeCode} {
		if ev := h.read(hook.ClaudeCode, map[string]any{"hook_event_name": "SessionStart", "session_id": "x", "transcript_path": path}); ev.Host != string(want) {
			t.Errorf("%s through hooks of claude-code is taken for %s", path, ev.Host)
		}
	}
}
