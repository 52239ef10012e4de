//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber/internal/test/must"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// labels returns those of the snapshots of an agent, newest first.
func (r *running) labels(agent string) []string {
	r.t.Helper()
	var page amber.Page[wire.SnapshotMeta]
	r.get("/v1/tenants/default/agents/"+agent+"/snapshots", &page)
	names := []string{}
	for _, m := range page.Items {
		names = append(names, m.Label)
	}
	return names
}

// A server does its work in the background, and /health reports it.
func TestAServerWorksInTheBackground(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.configure(`snapshot:
  retention: {keep_last: 1, keep_hourly: 0, keep_daily: 0, keep_weekly: 0}
  auto: {schedule: 1d}
`)
	for i, label := range []string{"auto:pre-tool-a", "the good one", "auto:pre-tool-b", ""} {
		u.must("", "remember", fmt.Sprintf("version %d", i), "--scope", "global")
		u.must("", "snapshot", "create", "--label", label)
	}
	u.must("", "--agent", "other", "--new-agent", "remember", "never frozen", "--scope", "global")
	u.crash("s1")

	r := u.serve()
	r.await("retention", func() bool { return slices.Equal(r.labels("default"), []string{"", "auto:pre-tool-b", "the good one"}) })
	r.await("the schedule", func() bool { return slices.Equal(r.labels("other"), []string{"auto:scheduled"}) })
	r.await("the drain", func() bool { return r.turns("s1") == 1 })
	var session amber.Session
	// A host may speak again for five seconds. An agent that changes is looked at
	// every second, one that does not every half minute.
	r.await("the sweep", func() bool {
		r.answer(http.MethodPost, agentURL+"/memories", remembering("the same"), nil)
		r.get(agentURL+"/sessions/s1", &session)
		return session.EndReason != ""
	})
	if session.EndReason != amber.EndCrash {
		t.Errorf("it ended with %q", session.EndReason)
	}
	for worker, detail := range map[string]string{
		"retention": "1 deleted", "scheduled snapshots": "1 taken", "journal drain": "1 session ended", "idle agents": "agents are open",
	} {
		r.await(worker, func() bool { return strings.Contains(r.worker(worker).Detail, detail) })
		if w := r.worker(worker); w.Status != amber.Healthy || w.Runs == 0 || w.LastRun.IsZero() || w.Failures != 0 {
			t.Errorf("%s: %+v", worker, w)
		}
	}
	// The audit log and the log report a snapshot that was deleted without a request.
	var audit amber.Page[wire.AuditEntry]
	must.Do(t, json.Unmarshal([]byte(u.must("", "--json", "audit", "list", "--actor", "retention")), &audit))
	if len(audit.Items) != 1 || audit.Items[0].Action != "snapshot.prune" || audit.Items[0].Subject == "" || audit.Items[0].Outcome != "ok" {
		t.Errorf("the audit log has %+v", audit.Items)
	} else if want := "snapshot=" + audit.Items[0].Subject; !strings.Contains(r.log.String(), want) {
		t.Errorf("the log does not say %s\n%s", want, r.log)
	}
	r.stop()
}

// crash leaves what a host leaves that is killed within a session.
func (u *user) crash(session string) {
	u.t.Helper()
	binary := must.Get(exec.LookPath("amber"))(u.t)
	shell := must.Get(exec.LookPath("sh"))(u.t)
	b := must.Get(os.ReadFile(shell))(u.t)
	agent := u.t.(*testing.T).TempDir() + "/someagent" // a shell under its own name is no host
	must.Do(u.t, os.WriteFile(agent, b, 0o700))
	event := fmt.Sprintf(`{"session_id":%q,"hook_event_name":"UserPromptSubmit","prompt":"work"}`, session)
	cmd := exec.Command(agent, "-c", `echo "$1" | "$0" hook claude-code --no-drain; true`, binary, event)
	cmd.Env = append(os.Environ(), "AMBER_HOME="+u.home)
	if out, err := cmd.CombinedOutput(); err != nil {
		u.t.Fatalf("%v\n%s", err, out)
	}
}

// Where it is configured so, also while the server runs, an agent is frozen
// before a tool changes something.
func TestBeforeAToolChangesSomethingASnapshotIsTaken(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.configure("snapshot: {auto: {before_mutating_tool: off}}\n")
	r := u.serve()
	session := must.Get(mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: r.url + "/mcp", HTTPClient: r.client, DisableStandaloneSSE: true}, nil))(t)
	defer session.Close()
	call := func(tool string, args map[string]any) {
		t.Helper()
		got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil || got.IsError {
			t.Fatalf("%s: %v %+v\n%s", tool, err, got, r.log)
		}
	}
	call("memory_save", map[string]any{"content": "worth keeping", "scope": "global"})
	if got := r.labels("default"); len(got) != 0 {
		t.Errorf("snapshots: %v", got)
	}
	u.configure("snapshot: {auto: {before_mutating_tool: require}}\n")
	r.await("the file is read again", func() bool { // once it has rested for a second
		call("memory_save", map[string]any{"content": "more", "scope": "global"})
		return len(r.labels("default")) > 0
	})
	id := r.contents()["worth keeping"]
	before := len(r.labels("default"))
	call("memory_recall", map[string]any{"query": "keeping"})
	call("memory_forget", map[string]any{"id": string(id)})
	got := r.labels("default")
	if len(got) != before+1 || got[0] != "auto:pre-tool-memory_forget" {
		t.Errorf("snapshots: %v", got)
	}
	if r.contents()["worth keeping"] != "" {
		t.Error("nothing was forgotten")
	}
	// The forgotten memory is in the snapshot.
	var page amber.Page[wire.SnapshotMeta]
	r.get(agentURL+"/snapshots?limit=1", &page)
	if out := u.must("", "recall", "keeping", "--at", string(page.Items[0].ID)); !strings.Contains(out, "worth keeping") {
		t.Errorf("the snapshot has %s", out)
	}
}
