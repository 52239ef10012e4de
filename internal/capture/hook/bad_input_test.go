package hook_test

import (
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// keepable checks what every event must be, and returns its entry.
func keepable(t testing.TB, ev journal.HostEvent) []byte {
	t.Helper()
	_, entry, err := hook.Entry(ev)
	if err != nil {
		t.Fatalf("Entry: %v", err)
	}
	var back journal.HostEvent
	if err := json.Unmarshal(entry.Payload, &back); err != nil {
		t.Fatalf("the entry is not an event: %v", err)
	}
	if len(ev.EventID) != 32 || back.EventID != ev.EventID || back.Kind == "" || back.Schema != journal.HostEventSchema {
		t.Fatalf("the entry is %s", entry.Payload)
	}
	return entry.Payload
}

func TestNothingIsAnEvent(t *testing.T) {
	t.Parallel()
	for name, payload := range map[string]io.Reader{
		"no payload":   nil,
		"empty":        strings.NewReader(""),
		"white space":  strings.NewReader(" \r\n\t\n"),
		"null":         strings.NewReader("null"),
		"unreadable":   iotest.ErrReader(errors.New("EIO")),
		"never a byte": neverReader{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := input(hook.ClaudeCode, "SessionEnd", "")
			in.Payload = payload
			ev := hook.Read(in)
			keepable(t, ev)
			if ev.Kind != journal.HostSessionEnd || ev.Raw != nil || ev.Directory != "/home/ana/elsewhere" || ev.Project != "elsewhere" {
				t.Errorf("the event is %+v", ev)
			}
			if !strings.HasPrefix(string(ev.SessionID), "none-") {
				t.Errorf("the session is %q", ev.SessionID)
			}
		})
	}
}

// neverReader is a reader that has neither a byte nor an error.
type neverReader struct{}

func (neverReader) Read([]byte) (int, error) { return 0, nil }

func TestNothingAtAllIsAnEvent(t *testing.T) {
	t.Parallel()
	ev := hook.Read(hook.Input{})
	keepable(t, ev)
	if ev.Kind != journal.HostOther || ev.Host != "generic" {
		t.Errorf("the event is %+v", ev)
	}
}

func TestWhatIsNoJSONIsKeptAsText(t *testing.T) {
	t.Parallel()
	for name, payload := range map[string]string{
		"text":          "agent says hello",
		"cut literal":   `{"a":tru`,
		"two colons":    `{"a"::1}`,
		"no quotes":     `{a:1}`,
		"unclosed":      `["a"`,
		"comma":         `{"a":1,}`,
		"bad number":    `{"a":01}`,
		"bad escape":    `{"a":"\u12g4"}`,
		"lone bracket":  `}`,
		"UTF-16":        "\xff\xfe{\x00}\x00",
		"only a number": `12`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ev := hook.Read(input(hook.Gemini, "BeforeAgent", payload))
			keepable(t, ev)
			if name == "only a number" {
				if string(ev.Raw) != payload {
					t.Errorf("raw is %s", ev.Raw)
				}
				return
			}
			var raw string
			if err := json.Unmarshal(ev.Raw, &raw); err != nil || raw != strings.ToValidUTF8(payload, "\uFFFD") {
				t.Errorf("raw is %s, %v", ev.Raw, err)
			}
			if ev.Kind != journal.HostOther || ev.NativeEvent != "BeforeAgent" {
				t.Errorf("the event is %s %q", ev.Kind, ev.NativeEvent)
			}
		})
	}
}

// TestTruncatedJSONKeepsItsSession cuts a payload everywhere, as when the host
// dies while it writes.
func TestTruncatedJSONKeepsItsSession(t *testing.T) {
	t.Parallel()
	payload := `{"session_id":"s-1","hook_event_name":"Stop","cwd":"/p","last_assistant_message":"said \u00e9 \"so\"","x":[1,{"y":null}]}`
	for n := 1; n < len(payload); n++ {
		ev := hook.Read(input(hook.ClaudeCode, "", payload[:n]))
		keepable(t, ev)
		var raw string
		if err := json.Unmarshal(ev.Raw, &raw); err != nil || raw != payload[:n] || ev.Kind != journal.HostOther {
			t.Fatalf("cut at %d: kind %s, raw %s, %v", n, ev.Kind, ev.Raw, err)
		}
		if n > strings.Index(payload, `,"hook`) && ev.SessionID != "s-1" {
			t.Fatalf("cut at %d: the session is %q", n, ev.SessionID)
		}
		if n > strings.Index(payload, `,"last`) && (ev.NativeEvent != "Stop" || ev.Directory != "/p") {
			t.Fatalf("cut at %d: the event is %q in %q", n, ev.NativeEvent, ev.Directory)
		}
	}
}

func TestTrailingGarbageAndDuplicateKeys(t *testing.T) {
	t.Parallel()
	payload := "\xef\xbb\xbf" + `{"session_id":"a","prompt":"one","prompt":"two","session_id":"b"} garbage`
	ev := hook.Read(input(hook.ClaudeCode, "UserPromptSubmit", payload))
	if ev.SessionID != "b" || ev.Prompt != "two" {
		t.Errorf("session %q, prompt %q", ev.SessionID, ev.Prompt)
	}
}

// TestPayloadEndsWithItsValue: a host that keeps its end of the pipe open is
// not waited for.
func TestPayloadEndsWithItsValue(t *testing.T) {
	t.Parallel()
	in := input(hook.ClaudeCode, "Stop", "")
	in.Payload = io.MultiReader(strings.NewReader(`{"session_id":"s"}`), blockedReader{t})
	if ev := hook.Read(in); ev.SessionID != "s" {
		t.Errorf("session %q", ev.SessionID)
	}
}

type blockedReader struct{ t *testing.T }

func (r blockedReader) Read([]byte) (int, error) {
	r.t.Error("read beyond the value")
	return 0, io.EOF
}

func TestInvalidUTF8IsReplaced(t *testing.T) {
	t.Parallel()
	ev := hook.Read(input(hook.ClaudeCode, "UserPromptSubmit", "{\"prompt\":\"a\xff\xfeb \\ud83d\\ude00 \\ud83d \\ude00\\ud83dx\",\"\xc3\":\"\x01\"}"))
	keepable(t, ev)
	if want := "a\uFFFDb 😀 \uFFFD \uFFFD\uFFFDx"; ev.Prompt != want {
		t.Errorf("prompt %q, want %q", ev.Prompt, want)
	}
	if want := "{\"\uFFFD\":\"\\u0001\"}"; string(ev.Raw) != want {
		t.Errorf("raw %s, want %s", ev.Raw, want)
	}
}

func TestHostileSessionIDs(t *testing.T) {
	t.Parallel()
	seen := map[amber.SessionID]string{}
	for _, id := range []string{
		"../../etc/passwd", "/abs", "a\x00b", " padded ", "line\nbreak", strings.Repeat("x", 201), "\u202eevil",
		strings.Repeat("é", 5000), secret("t"),
	} {
		b, _ := json.Marshal(map[string]string{"session_id": id})
		ev := hook.Read(input(hook.ClaudeCode, "SessionStart", string(b)))
		keepable(t, ev)
		if was, ok := seen[ev.SessionID]; ok {
			t.Errorf("%q and %q are both %q", id, was, ev.SessionID)
		}
		seen[ev.SessionID] = id
		if id != "../../etc/passwd" && id != "/abs" && (!strings.HasPrefix(string(ev.SessionID), "x-") || len(ev.SessionID) != 34) {
			t.Errorf("%q is %q", id, ev.SessionID)
		}
	}
}

func TestHostilePaths(t *testing.T) {
	t.Parallel()
	for cwd, want := range map[string]string{
		"/a/../b/.":                      "/b",
		"relative/x":                     "/home/ana/elsewhere/relative/x",
		"/nul\x00":                       "/home/ana/elsewhere",
		"/" + strings.Repeat("p/", 4000): "/home/ana/elsewhere",
		"":                               "/home/ana/elsewhere",
	} {
		b, _ := json.Marshal(map[string]any{"cwd": cwd})
		ev := hook.Read(input(hook.ClaudeCode, "Stop", string(b)))
		if filepath.ToSlash(ev.Directory) != want {
			t.Errorf("%.40q is %q, want %q", cwd, ev.Directory, want)
		}
	}
	ev := hook.Read(input(hook.ClaudeCode, "Stop", `{"cwd":7,"workspace_roots":["/root/one","/two"]}`))
	if filepath.ToSlash(ev.Directory) != "/root/one" || ev.Project != "one" || len(ev.Roots) != 2 {
		t.Errorf("directory %q, project %q, roots %q", ev.Directory, ev.Project, ev.Roots)
	}
}

func TestTypesAreNotTrusted(t *testing.T) {
	t.Parallel()
	for _, host := range hook.Hosts() {
		for name := range recorded(t, host) {
			event, _, _ := strings.Cut(name, "@")
			for _, v := range []string{"1", "true", "[]", "[1]", "{}", `{"a":"b"}`, `""`, `[{}]`} {
				payload := `{"prompt":V,"tool_name":V,"tool_input":V,"tool_response":V,"error":V,"cwd":V,"model":V,"todos":V,"source":V,
					"workspace_roots":V,"timestamp":V,"session_id":V,"text":V,"edits":V,"file_path":V,"args":V,"metadata":V,"input-messages":V}`
				keepable(t, hook.Read(input(host, event, strings.ReplaceAll(payload, "V", v))))
			}
		}
	}
}

// endless repeats a text until so many bytes were read.
type endless struct {
	head, body, tail string
	many             string // the body, over and over
	left             int64
}

func (r *endless) Read(b []byte) (int, error) {
	switch {
	case r.head != "":
		n := copy(b, r.head)
		r.head = r.head[n:]
		return n, nil
	case r.left > 0:
		if r.many == "" {
			r.many = strings.Repeat(r.body, max(1, 32<<10/len(r.body)))
		}
		n := copy(b, r.many[:min(len(b)/len(r.body)*len(r.body), len(r.many))])
		r.left -= int64(n)
		return n, nil
	case r.tail != "":
		n := copy(b, r.tail)
		r.tail = r.tail[n:]
		return n, nil
	}
	return 0, io.EOF
}

// TestHugePayloadsCostNoMemory reads 50 MB of output, and 8 MB of each hostile
// form. The scanner still reads the members behind them.
func TestHugePayloadsCostNoMemory(t *testing.T) {
	for name, r := range map[string]*endless{
		"one string":      {head: `{"tool_response":"`, body: "word ", tail: `"`},
		"escapes":         {head: `{"tool_response":"`, body: `\n\"\u00e9`, tail: `"`},
		"many strings":    {head: `{"tool_response":["`, body: `aaaa","`, tail: `"]`},
		"many numbers":    {head: `{"tool_response":[1`, body: `,12345`, tail: `]`},
		"many keys":       {head: `{"tool_response":{"a":1`, body: `,"key":1`, tail: `}`},
		"members":         {head: `{"a":1`, body: `,"another":1`},
		"depth":           {head: `{"tool_response":`, body: `[`, tail: strings.Repeat("]", 1<<20)},
		"a long number":   {head: `{"tool_response":1`, body: `0`},
		"a long key":      {head: `{"`, body: `k`, tail: `":{}`},
		"white space":     {head: `{`, body: " \n", tail: `"a":1`},
		"no JSON":         {body: "nonsense "},
		"brackets inside": {head: `{"tool_response":{"a":[[[[`, body: `"]}{[\"",`, tail: `1]]]]}`},
	} {
		t.Run(name, func(t *testing.T) {
			r.left = 8 << 20
			switch name {
			case "one string":
				r.left = 50 << 20
			case "depth":
				r.left = 1 << 20 // and as much behind
			}
			r.tail += `,"session_id":"behind","hook_event_name":"PostToolUse"}`
			in := input(hook.ClaudeCode, "", "")
			in.Payload = r
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			ev := hook.Read(in)
			runtime.ReadMemStats(&after)
			const most = 16 << 20
			if total := after.TotalAlloc - before.TotalAlloc; total > most {
				t.Errorf("%d bytes were allocated", total)
			}
			keepable(t, ev)
			if ev.Truncated < 1<<19 && name != "white space" && name != "members" {
				t.Errorf("only %d bytes were left out", ev.Truncated)
			}
			if name != "no JSON" && name != "members" && (ev.SessionID != "behind" || ev.Kind != journal.HostToolAfter) {
				t.Errorf("session %q, kind %s, raw %.80s", ev.SessionID, ev.Kind, ev.Raw)
			}
		})
	}
}
