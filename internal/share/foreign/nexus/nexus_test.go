package nexus_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/share/foreign/nexus"
	"github.com/amber-memory/amber/internal/test/must"
)

// nexusFile is a buffer as nexus-memory-hooks writes it: three entries, the second repeats what the first held.
func nexusFile(t testing.TB) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join("testdata", "claude-code.json")))(t)
}

func today() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC) }

var nexusOptions = nexus.Options{Clock: today, Redact: redact.New()}

func readNexus(b []byte) (events []journal.HostEvent, report nexus.Report, err error) {
	report, err = nexus.Read(bytes.NewReader(b), nexusOptions, func(ev journal.HostEvent) error {
		events = append(events, ev)
		return nil
	})
	return events, report, err
}

var sameTimes = cmpopts.EquateComparable(amber.Time{})

// gist is an event in one line.
func gist(ev journal.HostEvent) string {
	parts := []string{string(ev.SessionID), string(ev.Kind), ev.NativeEvent, ev.Prompt, ev.Answer, ev.Message}
	if ev.Tool != nil {
		parts = append(parts, "$ "+ev.Tool.Command)
	}
	for _, f := range ev.Files {
		parts = append(parts, fmt.Sprint(f.Action, " ", f.Path))
	}
	for _, k := range ev.Tasks {
		parts = append(parts, k.Status+" "+k.Text)
	}
	if ev.Raw != nil {
		parts = append(parts, "raw")
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " | ")
}

func gists(events []journal.HostEvent) []string {
	var out []string
	for _, ev := range events {
		out = append(out, gist(ev))
	}
	return out
}

// TestConversationIsReadBackAsText reads back the text of everything the buffer held, not a count of it.
func TestConversationIsReadBackAsText(t *testing.T) {
	t.Parallel()
	events, report, err := readNexus(nexusFile(t))
	must.Do(t, err)
	last := string(events[len(events)-1].SessionID)
	want := []string{
		"s-1 | prompt | nexus.conversation | Which database do we use?",
		"s-1 | turn.end | nexus.conversation | PostgreSQL, for JSONB.",
		"s-1 | tool.after | nexus.commands_run | $ go test ./...",
		"s-1 | other | nexus.entry.checkpoint | raw",
		"s-1 | other | nexus.conversation | Context was compacted. | raw",
		"s-1 | turn.end | nexus.decisions | ## Key Decisions\n- Keep PostgreSQL (rationale: JSONB indexes beat a document store here; alternatives: MongoDB, SQLite; impact: one database to run) | raw",
		"s-1 | other | nexus.files | modified /src/db.go | raw",
		"s-1 | task | nexus.tasks | in_progress Add an index | raw",
		"s-1 | turn.end | nexus.insights | ## Key Insights\n- GIN indexes are slow to build",
		"s-1 | error | nexus.errors | Timeout: migration took too long\nat migrate.go:7 | raw",
		"s-1 | subagent.end | nexus.subagent_executions | review the migration\ntwo remarks | raw",
		"s-1 | tool.after | nexus.commands_run | $ go test ./...",
		"s-1 | tool.after | nexus.commands_run | $ export DB_PASSWORD=[REDACTED:env-assignment]",
		"s-1 | other | nexus.entry.compact | raw",
		last + " | prompt | nexus.conversation | Grüße \u2028 and a smile 😀",
		last + " | other | nexus.entry.test | raw",
	}
	must.Equal(t, "events", gists(events), want)
	wantReport := nexus.Report{Entries: 3, Salvaged: 3, Events: len(want), Sessions: []amber.SessionID{"s-1", amber.SessionID(last)}}
	must.Equal(t, "report", report, wantReport)
	if !strings.HasPrefix(last, "nexus-") || amber.CheckID("session id", last) != nil {
		t.Errorf("a session without a name is called %q", last)
	}
	first := events[0]
	if first.Host != "claude-code" || !first.Native || first.Schema != journal.HostEventSchema ||
		first.ObservedAt.String() != "2026-01-02T03:00:01.000Z" || first.NativeAt != first.ObservedAt {
		t.Errorf("the first event is %+v", first)
	}
	if raw := string(events[13].Raw); !strings.Contains(raw, `"branch":"main"`) || strings.Contains(raw, "JSONB") {
		t.Errorf("the rest of the second entry is %s", raw)
	}
}

// TestTornBufferGivesWhatIsWhole cuts the file off here and there, also before its last byte: what is whole before the cut is read, the same
// events under the same ids as from the whole file.
func TestTornBufferGivesWhatIsWhole(t *testing.T) {
	t.Parallel()
	file := nexusFile(t)
	all, _, err := readNexus(file)
	must.Do(t, err)
	known := map[string]journal.HostEvent{}
	for _, ev := range all {
		known[ev.EventID] = ev
	}
	before := 0
	for cut := (len(file) - 1) % 5; cut < len(file); cut += 5 {
		events, report, err := readNexus(file[:cut])
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if !report.Truncated || report.Partial > 1 || report.Entries > 3 {
			t.Fatalf("cut at %d: %+v", cut, report)
		}
		shared := 0
		for _, ev := range events {
			whole, ok := known[ev.EventID]
			if !ok && !strings.HasPrefix(ev.NativeEvent, "nexus.torn") {
				t.Fatalf("cut at %d: %s is not in the whole file", cut, gist(ev))
			}
			if ok && !reflect.DeepEqual(whole, ev) {
				t.Fatalf("cut at %d: %s differs from the whole file", cut, gist(ev))
			}
			if ok && !strings.HasPrefix(ev.NativeEvent, "nexus.entry") {
				shared++
			}
		}
		if shared < before {
			t.Fatalf("cut at %d: %d events, a few bytes less gave %d", cut, shared, before)
		}
		before = shared
	}
	must.Equal(t, "events of the file without its last byte", before, len(all)-3)
}

// TestReadingCanBeRepeated imports the buffer as it grew: no event is another one the second time.
func TestReadingCanBeRepeated(t *testing.T) {
	t.Parallel()
	file := nexusFile(t)
	first, _, err := readNexus(file)
	must.Do(t, err)
	again, _, err := readNexus(file)
	must.Do(t, err)
	must.Equal(t, "the second time", again, first, sameTimes)
	ids := map[string]bool{}
	for _, ev := range first {
		if ids[ev.EventID] || len(ev.EventID) != 32 {
			t.Errorf("%s has the id %q", gist(ev), ev.EventID)
		}
		ids[ev.EventID] = true
	}
}

// TestUnknownAndMissingFieldsAreRead reads buffers of versions that have more fields, and fewer.
func TestUnknownAndMissingFieldsAreRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file string
		want       []string
	}{
		{
			"a new field of a message", `{"entries":[{"context":{"session_id":"s","conversation":[{"role":"user","content":"hi","timestamp":"2026-01-01T00:00:00Z","tokens":7}]}}]}`,
			[]string{"s | prompt | nexus.conversation | hi | raw", "s | other | nexus.entry | raw"},
		},
		{
			"a message without a time", `{"entries":[{"context":{"session_id":"s","conversation":[{"role":"assistant","content":"hi"}]}}]}`,
			[]string{"s | turn.end | nexus.conversation | hi | raw", "s | other | nexus.entry | raw"},
		},
		{
			"a message of another shape", `{"entries":[{"context":{"session_id":"s","conversation":["hi",7,{"role":1,"content":["x"]}]}}]}`,
			[]string{"s | other | nexus.conversation | raw", "s | other | nexus.conversation | raw", "s | other | nexus.conversation | raw", "s | other | nexus.entry | raw"},
		},
		{"a list that is an object", `{"entries":[{"context":{"session_id":"s","files":{"a":1}}}]}`, []string{"s | other | nexus.entry | raw"}},
		{
			"a file of an unknown action", `{"entries":[{"context":{"session_id":"s","files":[{"path":"a","action":"renamed"}]}}]}`,
			[]string{"s | other | nexus.files | raw", "s | other | nexus.entry | raw"},
		},
		{
			"a subagent at work", `{"entries":[{"context":{"session_id":"s","subagent_executions":[{"subagent_type":"r","task":"look","status":"running","started_at":"2026-01-01T00:00:00Z"}]}}]}`,
			[]string{"s | subagent.start | nexus.subagent_executions | look | raw", "s | other | nexus.entry | raw"},
		},
		{
			"a subagent that is done", `{"entries":[{"context":{"session_id":"s","subagent_executions":[{"subagent_type":"r","task":"look","status":"Completed","completed_at":null}]}}]}`,
			[]string{"s | subagent.end | nexus.subagent_executions | look | raw", "s | other | nexus.entry | raw"},
		},
		{
			"an insight on two lines, and again", `{"entries":[{"context":{"session_id":"s","insights":["a\n- b"]}},{"context":{"session_id":"s","insights":["a\n- b",7]}}]}`,
			[]string{"s | turn.end | nexus.insights | ## Key Insights\n- a - b | raw", "s | other | nexus.entry | raw", "s | other | nexus.insights | raw", "s | other | nexus.entry | raw"},
		},
		{
			"a decision without a summary", `{"entries":[{"context":{"session_id":"s","decisions":[{"what":"x"},{"summary":"go on"}]}}]}`,
			[]string{"s | other | nexus.decisions | raw", "s | turn.end | nexus.decisions | ## Key Decisions\n- go on | raw", "s | other | nexus.entry | raw"},
		},
		{
			"entries before anything else", `{"entries":[{"context":{"session_id":"s","insights":["a"]}}],"started_at":"2026-01-01T00:00:00Z"}`,
			[]string{"s | turn.end | nexus.insights | ## Key Insights\n- a", "s | other | nexus.entry | raw"},
		},
		{"a byte order mark", "\xef\xbb\xbf" + `{"entries":[]}`, nil},
		{"a type that is no word", `{"entries":[{"context_type":"a\u001b[2J b","context":{"session_id":"s"}}]}`, []string{"s | other | nexus.entry | raw"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			events, report, err := readNexus([]byte(tt.file))
			if err != nil || report.Truncated || report.BytesUnread != 0 {
				t.Fatalf("%+v, %v", report, err)
			}
			must.Equal(t, "events", gists(events), tt.want)
		})
	}
}

// TestEntriesThatAreNoObjects keeps entries that no known program writes.
func TestEntriesThatAreNoObjects(t *testing.T) {
	t.Parallel()
	events, report, err := readNexus([]byte(`{"agent_type":"pi","entries":[1,"two",null,[{"a":1}],{"context":"text"}]}`))
	if err != nil || report.Salvaged != 5 || report.Truncated || len(events) != 5 {
		t.Fatalf("%d events, %+v, %v", len(events), report, err)
	}
	var raws []string
	for _, ev := range events {
		raws = append(raws, string(ev.Raw))
	}
	must.Equal(t, "raw", raws, []string{`1`, `"two"`, `null`, `[{"a":1}]`, `{"context":"text"}`})
}

// TestAgentIsNoPath reads agents and sessions that would lead elsewhere.
func TestAgentIsNoPath(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../../etc/passwd", "/abs", "a\x00b", " ", "", strings.Repeat("x", 5000), "a\nb"} {
		quoted := must.Get(json.Marshal(name))(t)
		file := fmt.Sprintf(`{"started_at":"2026-01-01T00:00:00Z","entries":[{"context":{"agent_type":%s,"session_id":%[1]s,"insights":["a"]}}]}`, quoted)
		events, _, err := readNexus([]byte(file))
		if err != nil || len(events) != 2 {
			t.Fatalf("%q: %d events, %v", name, len(events), err)
		}
		must.NoError(t, (journal.Session{Host: events[0].Host, ID: events[0].SessionID}).Check())
	}
}

// TestBufferIsBounded gives files that are too much in one way each.
func TestBufferIsBounded(t *testing.T) {
	t.Parallel()
	message := func(content string) string {
		return fmt.Sprintf(`{"entries":[{"context":{"session_id":"s","conversation":[{"role":"user","content":%q,"timestamp":"2026-01-01T00:00:00Z"}]}}]}`, content)
	}
	t.Run("a long message is cut", func(t *testing.T) {
		t.Parallel()
		events, report, err := readNexus([]byte(message(strings.Repeat("word ", 500_000))))
		if err != nil || len(events) != 2 {
			t.Fatalf("%d events, %v", len(events), err)
		}
		b, err := json.Marshal(events[0])
		if err != nil || len(b) > journal.MaxPayload || len(b) < journal.MaxPayload/2 {
			t.Errorf("an event of %d bytes, %v", len(b), err)
		}
		if ev := events[0]; int64(len(ev.Prompt))+ev.Truncated != 2_500_000 || report.BytesCut != ev.Truncated {
			t.Errorf("%d bytes kept and %d cut, %d reported", len(ev.Prompt), ev.Truncated, report.BytesCut)
		}
	})
	t.Run("long custom fields are left out", func(t *testing.T) {
		t.Parallel()
		file := fmt.Sprintf(`{"entries":[{"context":{"session_id":"s","insights":["kept"],"custom":{"x":%q}}}]}`, strings.Repeat("y", 2<<20))
		events, report, err := readNexus([]byte(file))
		if err != nil || len(events) != 2 || !strings.HasSuffix(events[0].Answer, "- kept") || events[1].Raw != nil || report.BytesCut < 2<<20 {
			t.Errorf("%q, %+v, %v", gists(events), report, err)
		}
	})
	t.Run("an entry that never ends", func(t *testing.T) {
		t.Parallel()
		endless := io.MultiReader(strings.NewReader(`{"entries":[{"context":{"session_id":"s","custom":{"x":"`), io.LimitReader(letters{}, 48<<20))
		report, err := nexus.Read(endless, nexusOptions, func(journal.HostEvent) error { return nil })
		if err != nil || !report.Truncated || report.BytesUnread < 48<<20 || report.Salvaged != 0 {
			t.Errorf("%+v, %v", report, err)
		}
	})
	t.Run("an entry in every line and no end", func(t *testing.T) {
		t.Parallel()
		_, report, err := readNexus(append([]byte("{\n  \"entries\": [\n"), bytes.Repeat([]byte("    {\n"), 200_000)...))
		if err != nil || !report.Truncated || report.Salvaged != 0 {
			t.Errorf("%+v, %v", report, err)
		}
	})
	t.Run("deeper than anybody looks", func(t *testing.T) {
		t.Parallel()
		_, report, err := readNexus([]byte(`{"entries":[` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000) + `]}`))
		if err != nil || report.Salvaged != 0 || report.Entries != 1 || report.BytesUnread == 0 {
			t.Errorf("%+v, %v", report, err)
		}
	})
	t.Run("a session in every entry", func(t *testing.T) {
		t.Parallel()
		var file strings.Builder
		file.WriteString(`{"entries":[`)
		for i := range 1001 {
			fmt.Fprintf(&file, `{"context":{"session_id":"s%d"}},`, i)
		}
		_, _, err := readNexus([]byte(file.String()))
		must.Kind(t, "read", err, amber.KindInvalid)
	})
}

// letters is an endless text.
type letters struct{}

func (letters) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

func TestRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"[]", "text", "{}", `{"a":1}`, `{"entries":7}`, `{"entries":"x"}`, "\x00\x00\x00\x00", `{1:2}`, `{"entries"`[:1] + "}"} {
		events, _, err := readNexus([]byte(file))
		must.Kind(t, file, err, amber.KindInvalid)
		if events != nil {
			t.Errorf("%s gives %q", file, gists(events))
		}
	}
	for _, file := range []string{"", " ", "{", `{"started_at": "2026`, `{"entries": [`, `{""`, `{"":`, `{"entries":`} {
		events, report, err := readNexus([]byte(file))
		if err != nil || events != nil || !report.Truncated {
			t.Errorf("%q: %q, %+v, %v, want an empty file that was cut off", file, gists(events), report, err)
		}
	}
}

// TestErrorsEnd hands on what the reader and the receiver say, and reads however the bytes come.
func TestErrorsEnd(t *testing.T) {
	t.Parallel()
	file, broken := nexusFile(t), errors.New("broken")
	_, err := nexus.Read(bytes.NewReader(file), nexusOptions, func(journal.HostEvent) error { return broken })
	must.Is(t, "the receiver", err, broken)
	for cut := 0; cut < len(file); cut += 97 {
		r := io.MultiReader(bytes.NewReader(file[:cut]), iotest.ErrReader(broken))
		must.Is(t, fmt.Sprintf("a reader that fails at %d", cut), must.Err(nexus.Read(r, nexusOptions, func(journal.HostEvent) error { return nil })), broken)
	}
	n := 0
	report, err := nexus.Read(iotest.OneByteReader(bytes.NewReader(file)), nexusOptions, func(journal.HostEvent) error { n++; return nil })
	if err != nil || report.Salvaged != 3 || n != report.Events {
		t.Errorf("byte by byte: %+v, %v", report, err)
	}
}

// FuzzRead reads anything as a buffer. It ends; every event can be appended and has an id of its own, the same every time.
func FuzzRead(f *testing.F) {
	file := nexusFile(f)
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Add(file[:len(file)-40])
	for _, seed := range []string{
		"", "{", `{"entries":[{}]}`, `{"entries":[1,"",null,{"context":{"conversation":[{}],"files":[{"path":"a","action":"read"}]}}]}`,
		`{"started_at":"9999-01-01T00:00:00Z","agent_type":"x","entries":[{"timestamp":"0001-01-01T00:00:00Z","context":{"custom":{"a":[[]]}}}]}`,
		"{\n \"entries\": [\n  {\n   \"a\": \"\n  {\n  }\n ]\n}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		events, report, err := readNexus(b)
		if err != nil && amber.KindOf(err) != amber.KindInvalid {
			t.Fatal(err)
		}
		if report.Events != len(events) || report.Salvaged+report.Partial > report.Entries ||
			report.BytesUnread < 0 || report.BytesUnread > int64(len(b)) {
			t.Fatalf("%d events, %+v of %d bytes", len(events), report, len(b))
		}
		ids := map[string]bool{}
		for _, ev := range events {
			payload, err := json.Marshal(ev)
			if err != nil || len(payload) > journal.MaxPayload {
				t.Fatalf("an event of %d bytes, %v", len(payload), err)
			}
			if ids[ev.EventID] || (journal.Session{Host: ev.Host, ID: ev.SessionID}).Check() != nil || ev.ObservedAt.UnixMilli() <= 0 {
				t.Fatalf("event %+v", ev)
			}
			ids[ev.EventID] = true
		}
		if again, _, _ := readNexus(b); !reflect.DeepEqual(events, again) {
			t.Fatal("the second time gives other events")
		}
	})
}
