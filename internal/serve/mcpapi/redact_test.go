package mcpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// githubToken is a secret that the rules recognise by its form.
const githubToken = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

// writesOfText are calls of tools that store text, with a secret in it.
func writesOfText(id string) map[string]object {
	secret := "the token is " + githubToken
	return map[string]object{
		"memory_save":         {"content": secret, "title": secret, "tags": []any{githubToken}, "topic": githubToken},
		"memory_update":       {"id": id, "content": secret + ", too"},
		"session_start":       {"id": "s", "name": githubToken, "directory": "/home/" + githubToken},
		"session_summary":     {"id": "s", "content": secret},
		"session_end":         {"id": "s", "summary": secret},
		"task_save":           {"id": "t", "goal": secret},
		"task_event":          {"task_id": "t", "from": "queued", "to": "queued", "reason": secret},
		"approval_request":    {"task_id": "t", "node_id": "n", "summary": secret, "payload": object{"k": secret}},
		"result_save":         {"task_id": "t", "node_id": "n", "producer": "p", "status": "ok", "payload": secret},
		"queue_publish":       {"entry_id": "e", "task_id": "t", "node_id": "n", "payload": secret},
		"mem_save":            {"title": secret, "content": secret + " of Engram"},
		"mem_session_summary": {"content": secret + " at the end", "project": "p"},
		"mem_save_prompt":     {"content": secret},
		"mem_capture_passive": {"content": "## Key Learnings:\n\n1. We use the token " + githubToken + " for the mirror of packages\n"},
		"mem_update":          {"id": id, "title": secret},
		"create_entities":     {"entities": []any{object{"name": "mirror", "entityType": "host", "observations": []any{secret}}}},
		"add_observations":    {"observations": []any{object{"entityName": "mirror", "contents": []any{secret + " again"}}}},
		"memory":              {"command": "create", "path": "/memories/plan", "file_text": secret},
		"snapshot_create":     {"label": githubToken},
		"consolidation_begin": {"run": githubToken},
	}
}

// TestSecretsAreTakenOutOfEveryTool: what a tool stores has none, and the answer
// says what was taken, never the secret.
func TestSecretsAreTakenOutOfEveryTool(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	rules := redact.New()
	r.desk.Redact = func() *redact.Redactor { return rules }
	c := r.local("all")
	saved, _ := c.call("memory_save", object{"content": "nothing secret"})
	has(t, "something was taken", saved, object{"redacted": nil})
	calls := writesOfText(saved["id"].(string))
	for _, tool := range []string{
		"memory_save", "memory_update", "session_start", "session_summary", "session_end", "task_save", "task_event", "approval_request", "result_save", "queue_publish",
		"mem_save", "mem_session_summary", "mem_save_prompt", "mem_capture_passive", "mem_update", "create_entities", "add_observations", "memory", "snapshot_create", "consolidation_begin",
	} {
		out, text := c.call(tool, calls[tool])
		b := must.Get(json.Marshal(out))(t)
		counts, _ := out["redacted"].(object)
		if n, _ := counts["github-token"].(float64); n < 1 || !strings.Contains(text, "Secrets were removed before storing: github-token=") {
			t.Errorf("%s does not tell: %s %s", tool, b, text)
		}
		must.Hides(t, tool, string(b)+text, githubToken)
	}
	// An entity is found again by the name it was given, also where that had a
	// secret in it, and a title is not half of one.
	host := object{"entities": []any{object{"name": "host " + githubToken, "entityType": "host", "observations": []any{"up"}}}}
	c.call("create_entities", host)
	must.Equal(t, "the same entity again", c.count("entities", "create_entities", host), 0)
	runs := object{"from": "mirror", "to": "host " + githubToken, "relationType": "runs_on"}
	out, text := c.call("create_relations", object{"relations": []any{runs}})
	must.Hides(t, "a relation", fmt.Sprint(out)+text, githubToken)
	c.call("mem_capture_passive", object{"content": "## Key Learnings:\n\n1. " + strings.Repeat("word ", 10) + "token " + githubToken + "\n"})
	edit := object{"command": "str_replace", "path": "/memories/plan", "old_str": "the token", "new_str": "key " + githubToken}
	out, text = c.call("memory", edit)
	must.Hides(t, "an edit", fmt.Sprint(out)+text, githubToken)
	everywhere := r.everything()
	if at := strings.Index(everywhere, githubToken[4:16]); at >= 0 {
		t.Errorf("a secret was stored: ...%s...", everywhere[max(0, at-200):at])
	}
	_, text = c.fails("session_start", object{"id": "s-" + githubToken})
	must.Says(t, "an id", text, "check session id: the value holds a secret (github-token=1)")
	must.Hides(t, "an id", text, githubToken)
}

// everything is all that the default agent holds.
func (r *rig) everything() string {
	r.t.Helper()
	s, ctx := r.store(), r.t.Context()
	memories, err1 := s.Memories.List(ctx, amber.ListQuery{All: true, Limit: 1000})
	var history []amber.Memory
	for _, m := range memories.Items {
		h := must.Get(amber.All(ctx, s.Memories.History, m.ID))(r.t)
		history = append(history, h...)
	}
	sessions, err2 := s.Sessions.ListSessions(ctx, amber.SessionQuery{})
	tasks, err3 := s.Tasks.ListTasks(ctx, amber.TaskQuery{})
	approvals, err4 := amber.All(ctx, s.Approvals.ListApprovals, "t")
	results, err5 := amber.All(ctx, s.Results.ListResults, "t")
	turns, err6 := amber.LastTurns(ctx, s.Turns, "manual-save", 10)
	claim, err7 := s.Queue.Claim(ctx, "c")
	note, err8 := s.Notes.ReadNote(ctx, "plan")
	events, err9 := amber.All(ctx, s.Events.ListEvents, "t")
	snaps, err10 := r.agents["default/default"].Snapshots.ListSnapshots(ctx, wire.SnapshotQuery{Tenant: "default", Agent: "default"})
	for _, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8, err9, err10} {
		must.Do(r.t, err)
	}
	b := must.Get(json.Marshal([]any{history, sessions, tasks, approvals, results, turns, claim, note, events, snaps}))(r.t)
	return string(b)
}

// TestSecretsStayWhereThatIsSwitchedOff keeps what was written, and says nothing.
func TestSecretsStayWhereThatIsSwitchedOff(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.desk.Redact = func() *redact.Redactor { return nil }
	c := r.local("default")
	saved, _ := c.call("memory_save", object{"content": githubToken})
	got, _ := c.call("memory_get", object{"id": saved["id"]})
	must.Equal(t, "redacted", saved["redacted"], nil)
	must.Equal(t, "content", got["content"], githubToken)
}
