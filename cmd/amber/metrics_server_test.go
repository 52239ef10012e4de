//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// still are metrics that show 0 where all is well.
const still = `amber_operations_in_flight amber_label_overflow_total
amber_journal_undrained_entries amber_journal_oldest_undrained_age_seconds amber_journal_quarantined_files amber_journal_damaged_places
amber_snapshots_damaged amber_retention_orphans_removed_total amber_retention_errors_total amber_sync_open_conflicts
amber_nats_failed_total amber_nats_skipped_total amber_nats_lag_entries
amber_worker_failures_total amber_audit_failures_total amber_audit_damaged`

// TestEveryMetricMovesInAServer does one thing of each family over HTTP and MCP,
// and finds every metric of docs/metrics.md moved. Beside, spans arrive where
// the environment says, and logs know the requests.
func TestEveryMetricMovesInAServer(t *testing.T) {
	t.Parallel()
	s, station := newSetting(t, true), newStation(t)
	s.set("OTEL_EXPORTER_OTLP_ENDPOINT", station.URL)
	s.set("AMBER_EVENTS__NATS_URL", s.broker().ClientURL())
	s.set("AMBER_SNAPSHOT__GC__GRACE", "4s")
	s.set("AMBER_SOURCES__TOOL__FILES", s.file("tool.txt", noise(100_000)))
	s.leaveGarbage()
	s.useVault()
	s.set("AMBER_VAULT__SCHEDULE", "1d")
	s.does("note", "write", "plan", "x")
	// The memory of an agent that its server has never seen.
	s.does("vault", "backup", "--label", "default/default/strange")
	s.does("--agent", "strange", "--new-agent", "note", "write", "plan", "y")
	root, reader, other := s.token("--all-tenants", "--scope", "admin"), s.token("--scope", "read"), s.token("--tenant", "other", "--all-agents", "--scope", "admin")

	w := s.process("--log-json", "--log-level", "debug")
	w.beRefused(root, reader)
	w.token = root
	w.doEverything()
	w.findDamage()
	want := map[string]bool{}
	for _, name := range documentedMetrics(t) {
		want[name] = !strings.HasPrefix(name, "amber_database_") // of a PostgreSQL database: TestReadyToRead has one
	}
	var left []string
	defer func() {
		if len(left) > 0 {
			t.Errorf("these do not move: %v", left)
		}
	}()
	await(t, func() bool {
		w.ask("POST", "/v1/tenants/default/gc", `{}`)
		left = w.motionless(want)
		return len(left) == 0
	})
	w.token = other
	w.checkIsolation()
	w.token = ""
	if code := w.end(); code != 0 {
		t.Errorf("exit %d\n%s", code, w.log.String())
	}
	checkLog(t, w.log.String())
	for _, name := range []string{"long_term.write", "snapshots.snapshot", "POST /v1/tenants/{tenant}/agents/{agent}/memories"} {
		if station.traces[name] == "" {
			t.Errorf("there is no span %s", name)
		}
	}
	if station.traces["long_term.write"] != traceID {
		t.Errorf("a write is of trace %q", station.traces["long_term.write"])
	}
}

// traceID is the trace of the client that writes.
const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"

// leaveGarbage leaves snapshots that retention deletes and packs that no snapshot needs.
func (s *setting) leaveGarbage() {
	s.Helper()
	s.does("remember", "x")
	first := s.snapshot("--source", "tool")
	s.snapshot("--label", "auto:scheduled")
	s.does("snapshot", "delete", first, "--yes")
	s.does("snapshot", "gc", "--yes")
	s.set("AMBER_SNAPSHOT__RETENTION__KEEP_LAST", s.onlyRule("last"))
	s.snapshot("--label", "auto:scheduled")
	s.does("journal", "append", "--session", "s0", "--type", "prompt", "x")
}

// token makes one.
func (s *setting) token(args ...string) string {
	s.Helper()
	name := fmt.Sprint("t", len(args), len(strings.Join(args, "")))
	return s.does(append([]string{"--quiet", "token", "create", name}, args...)...)
}

// beRefused asks in every way that is not allowed.
func (w *waiter) beRefused(root, reader string) {
	w.Helper()
	for _, one := range []struct{ token, method, path string }{
		{"", "GET", "/v1/tenants/default/agents/default/stats"},
		{root[:len(root)-4] + "aaaa", "GET", "/v1/tenants/default/agents/default/stats"},
		{reader, "DELETE", "/v1/tenants/default/agents/default/notes/a"},
	} {
		w.token = one.token
		if status, text := w.ask(one.method, one.path, ""); status/100 != 4 {
			w.Errorf("%s %s: %d %s", one.method, one.path, status, text)
		}
	}
}

// doEverything does one thing of each family.
func (w *waiter) doEverything() {
	w.Helper()
	w.trace = "00-" + traceID + "-00f067aa0ba902b7-01"
	w.changeEverything()
	w.trace = ""
	w.ofAgent("POST", "/recall", `{"text":"x"}`)
	w.ofAgent("GET", "/memories", "")
	w.ofAgent("POST", "/queue", `{"entry_id":"e1","task_id":"t1","node_id":"n"}`)
	w.ofAgent("POST", "/queue", `{"entry_id":"e2","task_id":"t1","node_id":"n"}`)
	w.ofAgent("POST", "/queue/claim", `{"consumer_id":"c"}`)
	w.ofAgent("POST", "/snapshots", `{}`)
	w.tool("memory_save", map[string]any{"content": "y"})
}

// findDamage damages the repository of another tenant and has it checked.
func (w *waiter) findDamage() {
	w.Helper()
	const agent = "/v1/tenants/broken/agents/a"
	w.expect("POST", agent+"/memories", `{"content":"x"}`)
	id := w.idOf(w.expect("POST", agent+"/snapshots", `{}`))
	packs, err := filepath.Glob(w.path("home/tenants/broken/repo/packs/*/*.pack"))
	if err != nil || len(packs) == 0 {
		w.Fatal(packs, err)
	}
	for _, p := range packs {
		b := must.Get(os.ReadFile(p))(w)
		b[len(b)/2] ^= 1
		must.Do(w, os.Chmod(p, 0o600))
		must.Do(w, os.WriteFile(p, b, 0o600))
	}
	w.ask("POST", agent+"/snapshots/"+id+"/verify", `{"read_data":true}`)
	w.ask("POST", "/v1/tenants/broken/check", `{"read_data":true}`)
}

// documentedMetrics are the names in docs/metrics.md.
func documentedMetrics(t *testing.T) (names []string) {
	t.Helper()
	text := must.Get(os.ReadFile("../../docs/metrics.md"))(t)
	for _, m := range regexp.MustCompile("(?m)^\\| `(amber_[a-z_]+)` \\|").FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	if len(names) < 50 {
		t.Fatalf("only %v", names)
	}
	return names
}

// motionless returns the metrics that are not there, or show 0 and should not.
func (w *waiter) motionless(want map[string]bool) (left []string) {
	w.Helper()
	status, text := w.ask("GET", "/metrics", "")
	if status != http.StatusOK {
		w.Fatal(text)
	}
	largest := map[string]float64{}
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, _, _ = strings.Cut(name, "{")
		name = strings.TrimSuffix(name, "_count")
		v, err := strconv.ParseFloat(line[strings.LastIndexByte(strings.TrimSpace(line), ' ')+1:len(line)-1], 64)
		if err == nil && want[name] {
			largest[name] = max(largest[name], v)
		}
	}
	for name := range want {
		if !want[name] {
			continue
		}
		v, there := largest[name]
		if !there || v == 0 && !strings.Contains(" "+strings.Join(strings.Fields(still), " ")+" ", " "+name+" ") {
			left = append(left, name)
		}
	}
	return left
}

// checkIsolation checks that a caller of another tenant sees only the numbers of that tenant.
func (w *waiter) checkIsolation() {
	w.Helper()
	w.expect("POST", "/v1/tenants/other/agents/mine/memories", `{"content":"x"}`)
	_, text := w.ask("GET", "/metrics", "")
	own := 0
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.Contains(line, `tenant="other"`):
			own++
		default:
			w.Errorf("another tenant sees %s", line)
		}
	}
	if own == 0 {
		w.Error("nobody sees their own")
	}
}

// checkLog checks that every line is JSON, and every request has its id.
func checkLog(t *testing.T, log string) {
	t.Helper()
	mine := 0
	for line := range strings.Lines(log) {
		var e struct {
			Msg       string
			RequestID string `json:"request_id"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Errorf("%v in the log: %s", err, line)
		}
		if e.Msg == "request" && e.RequestID == "" {
			t.Errorf("a request without an id: %s", line)
		}
		if e.RequestID == requestName {
			mine++
		}
	}
	if mine == 0 {
		t.Errorf("no line is about request %s", requestName)
	}
}

// requestName is what requests of these tests call themselves.
const requestName = "of-a-test"
