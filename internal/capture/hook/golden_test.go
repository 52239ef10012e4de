package hook_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/test/must"
)

var update = flag.Bool("update", false, "write the golden files")

var (
	now      = amber.At(time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC))
	redactor = redact.New()
)

// input is a hook process of a host in a directory.
func input(host hook.Host, event, payload string) hook.Input {
	return hook.Input{
		Host: host, Event: event, Payload: strings.NewReader(payload), At: now, Directory: "/home/ana/elsewhere",
		Process: amber.HostProcess{PID: 4711, Start: 99, Boot: "b00t"},
		Project: func(dir string) string { return filepath.Base(dir) },
		Redact:  redactor,
	}
}

// TestRecordedPayloads reads what hosts say. A payload lies in a file with the
// name of its event.
func TestRecordedPayloads(t *testing.T) {
	t.Parallel()
	for _, host := range hook.Hosts() {
		t.Run(string(host), func(t *testing.T) {
			t.Parallel()
			events := map[string]journal.HostEvent{}
			for name, payload := range recorded(t, host) {
				event, _, _ := strings.Cut(name, "@")
				events[name] = hook.Read(input(host, event, payload))
			}
			compareGolden(t, filepath.Join("testdata", "golden", string(host)+".json"), events)
		})
	}
}

// recorded returns the payloads of a host by the names of their files.
func recorded(t testing.TB, host hook.Host) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", string(host), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has %d payloads, %v", host, len(files), err)
	}
	payloads := map[string]string{}
	for _, f := range files {
		b := must.Get(os.ReadFile(f))(t)
		payloads[strings.TrimSuffix(filepath.Base(f), ".json")] = string(b)
	}
	return payloads
}

func compareGolden(t *testing.T, file string, events map[string]journal.HostEvent) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	must.Do(t, e.Encode(events))
	if *update {
		must.Do(t, os.WriteFile(file, b.Bytes(), 0o644))
	}
	want := must.Get(os.ReadFile(file))(t)
	must.Equal(t, file, b.String(), string(want))
}

// TestEveryKindIsRecorded guards the recorded payloads: a kind that no recorded
// payload has is not tested.
func TestEveryKindIsRecorded(t *testing.T) {
	t.Parallel()
	missing := map[journal.EventKind]bool{
		journal.HostSessionStart: true, journal.HostSessionEnd: true, journal.HostPrompt: true, journal.HostToolBefore: true,
		journal.HostToolAfter: true, journal.HostTurnEnd: true, journal.HostCompactBefore: true, journal.HostCompactAfter: true,
		journal.HostSubagentStart: true, journal.HostSubagentEnd: true, journal.HostTaskChange: true, journal.HostError: true,
		journal.HostOther: true,
	}
	for _, host := range hook.Hosts() {
		for name, payload := range recorded(t, host) {
			event, _, _ := strings.Cut(name, "@")
			delete(missing, hook.Read(input(host, event, payload)).Kind)
		}
	}
	if len(missing) > 0 {
		t.Errorf("nobody says %v", missing)
	}
}
