package nexus_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/test/must"
)

// smallBuffer is a buffer of some entries, and where each of them lies.
func smallBuffer(t *testing.T, entries int, indent string) (file []byte, spans [][2]int) {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(`{"started_at":"2026-01-01T00:00:00Z","entries":[`)
	for i := range entries {
		fmt.Fprintf(&b, `{"timestamp":"2026-01-01T00:00:0%dZ","context_type":"t","context":{"session_id":"s","conversation":[{"role":"user","content":"{\"q%[1]d\": [","timestamp":"2026-01-01T00:00:0%[1]dZ"}]}}`, i)
		if i+1 < entries {
			b.WriteByte(',')
		}
	}
	b.WriteString(`],"last_flush":null,"agent_type":"pi"}`)
	file = b.Bytes()
	if indent != "" {
		var pretty bytes.Buffer
		must.Do(t, json.Indent(&pretty, file, "", indent))
		file = pretty.Bytes()
	}
	for at := 0; len(spans) < entries; {
		start := at + bytes.IndexByte(file[at:], '{')
		if len(spans) == 0 && at == 0 {
			at = 1 // the file's own bracket
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(file[start:]))
		var raw json.RawMessage
		must.Do(t, dec.Decode(&raw))
		at = start + len(raw)
		spans = append(spans, [2]int{start, at})
	}
	return file, spans
}

// TestDamageLosesOnlyWhatItTouches overwrites one to eight bytes at every place of a buffer: all events of every other entry are read, under
// the ids they have in the whole file, and the report says so.
func TestDamageLosesOnlyWhatItTouches(t *testing.T) {
	t.Parallel()
	patterns := []string{"\x00\xff\"{]", "\"", " ", "]}{[", `"{":[],`, `\`, "e,", "}],", `"":`}
	for _, indent := range []string{"", " "} {
		file, spans := smallBuffer(t, 3, indent)
		all, whole, err := readNexus(file)
		if err != nil || whole.Salvaged != len(spans) || len(all) != 2*len(spans) {
			t.Fatalf("%d events, %+v, %v", len(all), whole, err)
		}
		for n := 1; n <= 8; n++ {
			t.Run(fmt.Sprintf("%q%d", indent, n), func(t *testing.T) {
				t.Parallel()
				for at := range len(file) - n + 1 {
					bad := bytes.Clone(file)
					copy(bad[at:at+n], strings.Repeat(patterns[at%len(patterns)], 8))
					checkDamaged(t, bad, all, spans, [2]int{at, at + n})
				}
			})
		}
	}
}

func checkDamaged(t *testing.T, bad []byte, all []journal.HostEvent, spans [][2]int, hit [2]int) {
	t.Helper()
	events, report, err := readNexus(bad)
	if err != nil {
		t.Fatalf("%v: %v\n%s", hit, err, bad)
	}
	got := map[string]bool{}
	for _, ev := range events {
		got[ev.EventID] = true
	}
	intact := 0
	for i, span := range spans {
		if hit[0] < span[1] && span[0] < hit[1] {
			continue
		}
		intact++
		for _, ev := range all[2*i : 2*i+2] {
			if !got[ev.EventID] {
				t.Fatalf("%v loses %s of entry %d: %+v\n%s", hit, gist(ev), i, report, bad)
			}
		}
	}
	if report.Salvaged < intact || report.Salvaged+report.Partial > report.Entries || report.BytesUnread > int64(len(bad)) ||
		report.Salvaged < len(spans) && report.BytesUnread == 0 {
		t.Fatalf("%v: %d are intact, the report is %+v\n%s", hit, intact, report, bad)
	}
}

// TestManyDamages has two damaged entries side by side, one more, and a torn end.
func TestManyDamages(t *testing.T) {
	t.Parallel()
	file, spans := smallBuffer(t, 9, "")
	for _, i := range []int{1, 2, 5} {
		file[spans[i][1]-8] = '"'
	}
	events, report, err := readNexus(file[:spans[8][1]-4])
	if err != nil || report.Entries != 9 || report.Salvaged != 5 || report.Partial != 4 || !report.Truncated {
		t.Errorf("%q, %+v, %v", gists(events), report, err)
	}
}

// TestResyncIsLinear has entries that begin inside of one another and do not end.
func TestResyncIsLinear(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]string{
		"entries":      `{"timestamp":"","context":{"a":`,
		"other things": `{"context":1,"a":`,
		"between":      `{"timestamp":"","context":{}},{"a":`,
		"brackets":     `{`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, report, err := readNexus([]byte(`{"entries":[` + strings.Repeat(open, 9000)))
			if err != nil || !report.Truncated || report.BytesUnread == 0 {
				t.Errorf("%+v, %v", report, err)
			}
		})
	}
}

// TestKeepsNoSecret puts one secret at every place that is not plain text of a message.
func TestKeepsNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "ghp_Zx81mQ04vLkT27bRnYc93sWdHf65jPgAe0uX"
	if out, _ := redact.New().String(secret); out == secret {
		t.Fatal("no rule knows the secret")
	}
	file := `{"agent_type":"KEY","started_at":"KEY","entries":[
		{"timestamp":"2026-01-01T00:00:00Z","context_type":"KEY","context":{"session_id":"KEY"}},
		{"timestamp":"KEY","context":{"session_id":"s","agent_type":"KEY","KEY":1,"custom":{"a":"x\nKEY","KEY":2,"\tKEY":3}}},
		{"context":{"session_id":"s","conversation":[{"role":"KEY","content":"\nKEY","more":["\tKEY","\u0067hp_Zx81mQ04vLkT27bRnYc93sWdHf65jPgAe0uX"]}]}},
		{"context":{"session_id":"s","insights":["\nKEY"],"decisions":[{"summary":"a","alternatives":["\nKEY"]}],"tasks":[{"description":"KEY","status":"KEY"}]}},
		{"context":{"session_id":"s","subagent_executions":[{"subagent_type":"KEY","status":"KEY"}],"errors":[{"stack_trace":"\nKEY"}],"commands_run":["KEY"]}},
		"KEY", {"KEY":"\nKEY`
	events, report, err := readNexus([]byte(strings.ReplaceAll(file, "KEY", secret)))
	if err != nil || report.Entries != 7 || report.Salvaged != 6 {
		t.Fatalf("%+v, %v", report, err)
	}
	kept := must.Get(json.Marshal(map[string]any{"events": events, "report": report}))(t)
	for _, part := range []string{secret, secret[4:]} {
		if at := bytes.Index(kept, []byte(part)); at >= 0 {
			t.Errorf("it is kept: %s", kept[max(0, at-200):min(len(kept), at+60)])
		}
	}
	for _, id := range []string{events[0].Host, string(events[0].SessionID)} {
		if id != journal.SafeID(nexusOptions.Redact, secret) || len(id) != 34 {
			t.Errorf("an id is called %q", id)
		}
	}
}

// TestIDsAreOfWhatTheFileSays has two commands that are the same once their secrets are gone, so ids do not hang on the rules for secrets.
func TestIDsAreOfWhatTheFileSays(t *testing.T) {
	t.Parallel()
	const entry = `{"timestamp":"2026-01-01T00:00:00Z","context":{"session_id":"s","custom":{"a":%[1]q},"tasks":[{"description":%[1]q,"started_at":"2026-01-01T00:00:00Z"}]}}`
	file := fmt.Sprintf(`{"entries":[`+entry+`,`+entry+`]}`, "ghp_Zx81mQ04vLkT27bRnYc93sWdHf65jPgAe0uX")
	once, _, err := readNexus([]byte(file))
	if err != nil || len(once) != 2 {
		t.Fatalf("%q, %v", gists(once), err)
	}
	other, _, err := readNexus([]byte(strings.ReplaceAll(file, "ghp_Zx81", "ghp_Yw72")))
	if err != nil || len(other) != 2 {
		t.Fatalf("%q, %v", gists(other), err)
	}
	for i := range once {
		if gist(once[i]) != gist(other[i]) || string(once[i].Raw) != string(other[i].Raw) {
			t.Errorf("%s is not %s", gist(once[i]), gist(other[i]))
		}
		if once[i].EventID == other[i].EventID {
			t.Errorf("the id of %s hangs on the rules for secrets", gist(once[i]))
		}
	}
}
