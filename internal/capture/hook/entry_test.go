package hook_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// TestEntriesFit makes events of which every part is as long as it can be, in the
// characters that JSON makes longest.
func TestEntriesFit(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`\u0001`, 80_000)
	var files, todos, keys []string
	for i := range 250 {
		path := fmt.Sprintf(`"/%d%s"`, i, strings.Repeat(`\u0001`, 1200))
		files = append(files, path)
		todos = append(todos, `{"content":`+path+`}`)
		keys = append(keys, fmt.Sprintf(`"k%d":"%s"`, i, strings.Repeat(`\u0001`, 1800)))
	}
	for name, c := range map[string]struct{ event, payload string }{
		"prompt":     {"UserPromptSubmit", `{"prompt":"L"}`},
		"error":      {"StopFailure", `{"error":"L","error_details":"L","last_assistant_message":"L","novel":"L"}`},
		"everything": {"PostToolUse", `{"error":"L","tool_response":"L","tool_input":{"command":"L","x":"L"},"tool_name":"Bash","y":"L"}`},
		"files":      {"PostToolUse", `{"tool_name":"edit","tool_input":{"files":[` + strings.Join(files, ",") + `]}}`},
		"todos":      {"PostToolUse", `{"tool_name":"TodoWrite","tool_input":{"todos":[` + strings.Join(todos, ",") + `]}}`},
		"roots":      {"Stop", `{"workspace_roots":[` + strings.Join(files, ",") + `]}`},
		"raw":        {"unknown", `{` + strings.Join(keys, ",") + `}`},
		"input":      {"PostToolUse", `{"tool_name":"x","tool_input":{` + strings.Join(keys, ",") + `}}`},
	} {
		ev := hook.Read(input(hook.ClaudeCode, c.event, strings.ReplaceAll(c.payload, `"L"`, `"`+long+`"`)))
		kept := keepable(t, ev)
		if len(kept) > journal.MaxPayload {
			t.Errorf("%s: %d bytes", name, len(kept))
		}
		var back journal.HostEvent
		if err := json.Unmarshal(kept, &back); err != nil || back.Truncated < ev.Truncated || back.Truncated == 0 {
			t.Errorf("%s: truncated %d, before %d, %v", name, back.Truncated, ev.Truncated, err)
		}
	}
}

func TestEntryDoesNotChangeTheEvent(t *testing.T) {
	t.Parallel()
	big := json.RawMessage(`"` + strings.Repeat("x", 2<<20) + `"`)
	ev := journal.HostEvent{Host: "generic", SessionID: "s", Raw: big, Tool: &journal.HostTool{Input: big, Output: string(big)}}
	_, e, err := hook.Entry(ev)
	if err != nil || len(e.Payload) > journal.MaxPayload {
		t.Fatalf("%d bytes, %v", len(e.Payload), err)
	}
	if len(ev.Raw) != len(big) || len(ev.Tool.Input) != len(big) || len(ev.Tool.Output) != len(big) {
		t.Error("the event has changed")
	}
}

func TestWhatMayBeDropped(t *testing.T) {
	t.Parallel()
	droppable := map[journal.EventKind]bool{journal.HostToolBefore: true, journal.HostToolAfter: true, journal.HostOther: true}
	for _, host := range hook.Hosts() {
		for name, payload := range recorded(t, host) {
			event, _, _ := strings.Cut(name, "@")
			ev := hook.Read(input(host, event, payload))
			s, e, err := hook.Entry(ev)
			if err != nil || e.Droppable != droppable[ev.Kind] || e.About != string(ev.Kind) || s.ID != ev.SessionID {
				t.Errorf("%s of %s: %+v %v %q, %v", name, host, s, e.Droppable, e.About, err)
			}
		}
	}
}

func TestEntryRefusesWhatReadNeverMakes(t *testing.T) {
	t.Parallel()
	for _, ev := range []journal.HostEvent{
		{Host: "generic"},
		{SessionID: "s"},
		{Host: "generic", SessionID: "s", Model: strings.Repeat("m", journal.MaxPayload)},
		{Host: "generic", SessionID: "s", Raw: json.RawMessage("{")},
	} {
		if _, _, err := hook.Entry(ev); amber.KindOf(err) != amber.KindInvalid {
			t.Errorf("error %v", err)
		}
	}
}
