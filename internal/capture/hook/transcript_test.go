package hook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

// house is a home with transcripts in it.
type house struct {
	t    *testing.T
	home string
	wait []func() // what happens each time the host is waited for
}

func newHouse(t *testing.T) *house {
	t.Helper()
	home := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	return &house{t: t, home: home}
}

func (h *house) path(name string) string { return filepath.Join(h.home, filepath.FromSlash(name)) }

// write writes lines to a file.
func (h *house) write(name string, lines ...string) string {
	h.t.Helper()
	path := h.path(name)
	must.Do(h.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(h.t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	return path
}

// stop reads the end of a turn, with more members.
func (h *house) stop(host hook.Host, transcript string, more map[string]any) journal.HostEvent {
	h.t.Helper()
	payload := map[string]any{"hook_event_name": "Stop", "session_id": "s-1", "transcript_path": transcript, "timestamp": "2026-01-02T03:04:05.100Z"}
	for k, v := range more {
		payload[k] = v
	}
	return h.read(host, payload)
}

func (h *house) read(host hook.Host, payload map[string]any) journal.HostEvent {
	h.t.Helper()
	b := must.Get(json.Marshal(payload))(h.t)
	in, n := input(host, "", string(b)), 0
	in.Files = &hook.Files{Home: h.home, Wait: func() bool {
		if n >= len(h.wait) {
			return false
		}
		h.wait[n]()
		n++
		return true
	}}
	return hook.Read(in)
}

const (
	copilotLog = ".copilot/session-state/s-1/events.jsonl"
	droidLog   = ".factory/sessions/-home-ana-shop/s-1.jsonl"
	vsCodeLog  = ".config/Code/User/workspaceStorage/0a1b/GitHub.copilot-chat/transcripts/s-1.jsonl"
)

// Lines as Copilot CLI 1.0.102 writes them, without the members that Amber does not read.
func copilotUser(turn, text string) string {
	return fmt.Sprintf(`{"type":"user.message","data":{"content":%q,"transformedContent":"<current_datetime>x</current_datetime>","interactionId":%q},"id":"e1"}`, text, turn)
}

func copilotSays(turn, text, more string) string {
	return fmt.Sprintf(`{"type":"assistant.message","data":{"messageId":"m","content":%q,"interactionId":%q%s},"id":"e2"}`, text, turn, more)
}

const (
	copilotTool = `,"toolRequests":[{"toolCallId":"c1","name":"bash"}]`
	copilotDone = `,"toolRequests":[]`
	turnEnd     = `{"type":"assistant.turn_end","data":{"turnId":"1"}}`
	stopHook    = `{"type":"hook.start","data":{"hookType":"agentStop","input":{"transcriptPath":"x.message\""}}}`
	stopDone    = `{"type":"hook.end","data":{"hookType":"agentStop","success":true}}`
)

// TestTheAnswerIsReadFromTheTranscript: Stop of Copilot CLI, and of VS Code,
// names a transcript and does not say the answer.
func TestTheAnswerIsReadFromTheTranscript(t *testing.T) {
	t.Parallel()
	before := []string{copilotUser("i0", "first"), copilotSays("i0", "old answer", copilotDone), turnEnd, stopHook, stopDone}
	asked := append(before[:5:5], copilotUser("i1", "second"))
	for name, c := range map[string]struct{ now, later []string }{
		"whole":           {now: append(asked[:6:6], copilotSays("i1", "", copilotTool), copilotSays("i1", "new answer", copilotDone), turnEnd, stopHook)},
		"not yet answer":  {asked, []string{copilotSays("i1", "new answer", copilotDone), turnEnd}},
		"not yet prompt":  {before, []string{copilotUser("i1", "second"), copilotSays("i1", "new answer", copilotDone), turnEnd, stopHook}},
		"not yet the end": {append(asked[:6:6], copilotSays("i1", "I look", copilotTool)), []string{copilotSays("i1", "new answer", copilotDone)}},
		"half a line":     {append(asked[:6:6], `{"type":"assistant.message","data":{"content":"new`), []string{copilotSays("i1", "new answer", copilotDone)}},
		"subagent":        {now: append(asked[:6:6], copilotSays("i1", "new answer", copilotDone), copilotSays("i9", "of a subagent", `,"parentToolCallId":"c1"`))},
	} {
		for host, log := range map[hook.Host]string{hook.Copilot: copilotLog, hook.VSCode: vsCodeLog} {
			h := newHouse(t)
			path := h.write(log, c.now...)
			h.wait = []func(){func() {}, func() { h.write(log, append(c.now[:len(c.now):len(c.now)], c.later...)...) }}
			if ev := h.stop(host, path, nil); ev.Answer != "new answer" || ev.TurnID != "i1" || ev.Prompt != "" || ev.Kind != journal.HostTurnEnd || !ev.Native {
				t.Errorf("%s of %s: %q of turn %q, prompt %q", name, host, ev.Answer, ev.TurnID, ev.Prompt)
			}
		}
	}
}

// Lines as Droid 0.215.0 writes them.
func droidSays(id, role, text, more string) string {
	return fmt.Sprintf(`{"type":"message","id":%q,"message":{"role":%q,"content":[{"type":"text","text":%q}%s}}`, id, role, text, more)
}

// TestATurnOfDroidIsReadFromTheTranscript: `droid exec` tells neither what the
// user nor what the agent said.
func TestATurnOfDroidIsReadFromTheTranscript(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"type":"session_start","id":"s-1","title":"message"}`,
		droidSays("u0", "user", "first", "]"), droidSays("a0", "assistant", "old answer", "]"),
		droidSays("h", "user", "of a hook", `],"visibility":"user_only","hookEventName":"SessionStart"`),
		droidSays("context-u1", "user", "<system-reminder>tools</system-reminder>", `,{"type":"text","text":"today is Monday"}]`),
		droidSays("u1", "user", ownBlock+"Fix the build.", `,{"type":"text","text":"<system-reminder>mind</system-reminder>"}]`),
		droidSays("a1", "assistant", "I look", `,{"type":"tool_use","id":"c1","name":"Execute"}]`),
		`{"type":"message","id":"r1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"out"}]}}`,
	}
	last := droidSays("a2", "assistant", "Fixed.", "]")
	for name, more := range map[string]map[string]any{"id": {"message_id": "a2"}, "no id": nil} {
		h := newHouse(t)
		path := h.write(droidLog, lines...)
		h.wait = []func(){func() { h.write(droidLog, append(lines[:len(lines):len(lines)], last)...) }}
		ev := h.stop(hook.Droid, path, more)
		if ev.Prompt != "Fix the build." || ev.Answer != "Fixed." || ev.TurnID != "u1" || !ev.Native {
			t.Errorf("%s: %q, %q of turn %q", name, ev.Prompt, ev.Answer, ev.TurnID)
		}
		// In a terminal there is an event for the prompt, too. Both are of one turn,
		// so that the prompt is stored once.
		told := h.read(hook.Droid, map[string]any{"hook_event_name": "UserPromptSubmit", "session_id": "s-1", "message_id": "u1", "prompt": "Fix the build."})
		if told.TurnID != ev.TurnID || told.Prompt != ev.Prompt || told.SessionID != ev.SessionID || told.Host != ev.Host {
			t.Errorf("the prompt is %+v", told)
		}
	}
}

// TestATranscriptIsHostile: what is no transcript of the session is not read,
// and what is read has no secrets and ends somewhere.
func TestATranscriptIsHostile(t *testing.T) {
	t.Parallel()
	answer := copilotSays("i1", "new answer", copilotDone)
	h := newHouse(t)
	waited := 0
	h.wait = []func(){func() { waited++ }}
	for name, path := range map[string]string{
		"elsewhere":       h.write("elsewhere/s-1/events.jsonl", answer),
		"another session": h.write(".copilot/session-state/s-2/events.jsonl", answer),
		"another name":    h.write(".copilot/session-state/s-1/other.jsonl", answer),
		"a folder":        filepath.Dir(h.write(".copilot/session-state/s-1/events.jsonl/x", answer)),
		"above":           h.path(".copilot/session-state") + "/s-1/../../../elsewhere/s-1/events.jsonl",
		"nothing":         h.path(".copilot/session-state/s-9/events.jsonl"),
		"no path":         "\x00",
		"relative":        "session-state/s-1/events.jsonl",
	} {
		if ev := h.stop(hook.Copilot, path, nil); ev.Answer != "" || ev.Kind != journal.HostTurnEnd {
			t.Errorf("%s: %q", name, ev.Answer)
		}
	}
	if ev := h.stop(hook.Copilot, h.path("elsewhere/s-1/events.jsonl"), map[string]any{"session_id": "../../elsewhere/s-1"}); ev.Answer != "" {
		t.Errorf("a session that is a path: %q", ev.Answer)
	}
	if waited > 0 {
		t.Errorf("%d of them were waited for", waited)
	}
}

// TestLinksDoNotLeadOutOfTheFolder: neither the file nor a folder above it may
// be one that leads elsewhere; the host's own folder may be.
func TestLinksDoNotLeadOutOfTheFolder(t *testing.T) {
	t.Parallel()
	answer := copilotSays("i1", "new answer", copilotDone)
	link := func(h *house, to, from string) {
		must.Do(t, os.MkdirAll(filepath.Dir(h.path(from)), 0o755))
		if err := os.Symlink(h.path(to), h.path(from)); err != nil {
			if os.PathSeparator == '\\' {
				t.Skipf("on Windows only some users may make links: %v", err)
			}
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{copilotLog: "elsewhere/s-1/events.jsonl", filepath.ToSlash(filepath.Dir(copilotLog)): "elsewhere/s-1"} {
		h := newHouse(t)
		h.write("elsewhere/s-1/events.jsonl", answer)
		link(h, to, from)
		if ev := h.stop(hook.Copilot, h.path(copilotLog), nil); ev.Answer != "" {
			t.Errorf("%s: %q", from, ev.Answer)
		}
	}
	h := newHouse(t)
	h.write("dotfiles/copilot/session-state/s-1/events.jsonl", answer)
	link(h, "dotfiles/copilot", ".copilot")
	for _, path := range []string{copilotLog, "dotfiles/copilot/session-state/s-1/events.jsonl"} {
		if ev := h.stop(hook.Copilot, h.path(path), nil); ev.Answer != "new answer" {
			t.Errorf("%s through a link of the user: %q", path, ev.Answer)
		}
	}
}

// TestSecretsAndSizesOfTranscripts: what is read is cleaned and bounded like a
// payload.
func TestSecretsAndSizesOfTranscripts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 20_000)
	noise := `{"type":"tool.execution_complete","data":{"result":"` + strings.Repeat("x", 3<<20) + `"}}`
	many := strings.Repeat(`{"type":"system.message","data":{"content":"y"}}`+"\n", 200_000)
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"secret":        {[]string{copilotSays("i1", "use "+secret("t"), copilotDone)}, "use "},
		"long answer":   {[]string{copilotSays("i1", long, copilotDone)}, "word word"},
		"noise behind":  {[]string{copilotSays("i1", "new answer", copilotDone), noise}, "new answer"},
		"much behind":   {[]string{copilotSays("i1", "new answer", copilotDone), many}, ""},
		"no JSON":       {[]string{"assistant.message\" {{{{", `{"type":"assistant.message"`, "\x00\xff.message\""}, ""},
		"odd types":     {[]string{`{"type":"assistant.message","data":[]}`, `{"type":"assistant.message","data":{"content":{"a":1},"interactionId":7}}`}, ""},
		"empty":         {[]string{""}, ""},
		"deep":          {[]string{`{"type":"assistant.message","data":` + strings.Repeat("[", 100_000)}, ""},
		"id of a turn":  {[]string{copilotSays("../x\n", "new answer", copilotDone)}, "new answer"},
		"answer inside": {[]string{`{"type":"x","data":{"content":"\"assistant.message\" new answer"}}`}, ""},
	} {
		h := newHouse(t)
		ev := h.stop(hook.Copilot, h.write(copilotLog, c.lines...), nil)
		if !strings.HasPrefix(ev.Answer, c.want) || c.want == "" && ev.Answer != "" || len(ev.Answer) > 64<<10 || strings.Contains(ev.Answer, secret("t")) {
			t.Errorf("%s: %.80q, want %q", name, ev.Answer, c.want)
		}
		if err := amber.CheckID("turn", ev.TurnID); ev.TurnID != "" && err != nil {
			t.Errorf("%s: turn %q", name, ev.TurnID)
		}
	}
}
