package claudemem_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/claudemem"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

func contents(t testing.TB) *foreigntest.Contents {
	created := foreigntest.At(t, "2026-01-02T03:05:05.678Z")
	memory := func(n int, m amber.Memory) amber.Memory {
		m.ID, m.CreatedAt, m.UpdatedAt = amber.MemoryID(fmt.Sprintf("01890a5d-ac96-774b-bcce-%012d", n)), created, created
		return m
	}
	summary := "## Request\n\nFix it\n\n## Next steps\n\nShip <it>\n\n## Other\n\nx"
	return &foreigntest.Contents{
		MemoryList: []amber.Memory{
			memory(1, amber.Memory{Kind: amber.ProjectFact, Identities: amber.Identities{SessionID: "s1", ProjectID: "shop"}, Title: "Title", Content: "One\n\n- two", Summary: "sum", Tags: []string{"a", "b:c"}, SourceRefs: []amber.SourceRef{{Kind: "url", Value: "u"}, {Kind: "file", Value: "total.go"}}}),
			memory(2, amber.Memory{Kind: amber.Constraint, Content: "No \"session\" & no title", Foreign: map[string]json.RawMessage{"claude-mem": json.RawMessage(`{"type":"security_note"}`)}}),
			memory(3, amber.Memory{Kind: amber.WorkspaceFact, Title: "Same", Content: "x"}),
			memory(4, amber.Memory{Kind: amber.WorkspaceFact, Title: "Same", Content: "y"}),
			memory(5, amber.Memory{Kind: amber.SessionSummary, Identities: amber.Identities{SessionID: "s1"}, Content: summary}),
			memory(6, amber.Memory{Kind: amber.SessionSummary, Identities: amber.Identities{SessionID: "s1"}, Content: summary + " again"}),
			memory(7, amber.Memory{Kind: amber.SessionSummary, Identities: amber.Identities{SessionID: "s2"}, Content: "Without headings"}),
		},
		SessionList: []amber.Session{{ID: "s1", Name: "Coupons", Project: "shop", StartedAt: created, UpdatedAt: created}, {ID: "s3", StartedAt: created}},
		TurnList: map[amber.SessionID][]amber.Turn{"s1": {
			{ID: "t1", Role: amber.RoleUser, Content: "Fix the total", CreatedAt: created},
			{ID: "t2", Role: amber.RoleAssistant, Content: "Done", CreatedAt: created},
			{ID: "t3", Role: amber.RoleUser, Content: "Thanks", CreatedAt: created},
		}},
	}
}

func write(t testing.TB, c foreign.Contents) (dir string) {
	t.Helper()
	dir = t.TempDir()
	o := foreign.WriteOptions{At: foreigntest.At(t, "2026-01-03T00:00:00Z")}
	must.Do(t, claudemem.Format.Write(context.Background(), c, o, foreigntest.Folder(dir)))
	return dir
}

func TestAWrittenExportIsReadBack(t *testing.T) {
	t.Parallel()
	c := contents(t)
	dir := write(t, c)
	r := read(t, dir)
	got := map[string]foreign.Memory{}
	for _, m := range r.Memories {
		got[m.AmberID] = m
	}
	for _, m := range c.MemoryList {
		must.Equal(t, "content", got[string(m.ID)].Content, m.Content)
		must.Equal(t, "session", got[string(m.ID)].SessionID, m.SessionID)
		must.Equal(t, "tags", got[string(m.ID)].Tags, m.Tags)
	}
	must.Equal(t, "kind", got[string(c.MemoryList[1].ID)].Kind, amber.Constraint)
	must.Equal(t, "sessions: Amber has them", len(r.Sessions), 0)
	must.Equal(t, "warning", len(r.Warnings), 1)
	must.Equal(t, "skipped", r.Skips, nil)
	must.Equal(t, "again", string(must.Get(os.ReadFile(filepath.Join(write(t, c), "claude-mem-001.json")))(t)),
		string(must.Get(os.ReadFile(filepath.Join(dir, "claude-mem-001.json")))(t)))
}

type written struct {
	TotalObservations, TotalSessions, TotalSummaries, TotalPrompts int
	Observations, Sessions, Summaries, Prompts                     []map[string]any
}

func parse(t testing.TB, file string) (w written) {
	t.Helper()
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(file))(t), &w))
	return w
}

// The file has what the program's importer asks for.
func TestAWrittenExportIsWhatTheProgramTakes(t *testing.T) {
	t.Parallel()
	w := parse(t, filepath.Join(write(t, contents(t)), "claude-mem-001.json"))
	must.Equal(t, "totals", []int{w.TotalObservations, w.TotalSessions, w.TotalSummaries, w.TotalPrompts}, []int{6, 3, 1, 2})
	known, taken := map[any]bool{}, map[string]bool{}
	for _, s := range w.Sessions {
		known[s["memory_session_id"]] = true
		must.Equal(t, "session", fmt.Sprint(s["platform_source"], s["status"], s["started_at"], s["completed_at"] != nil, s["project"] != ""), "claudecompleted2026-01-02T03:05:05.678Ztrue true")
	}
	for _, o := range append(w.Observations, w.Summaries...) {
		must.Hold(t, known[o["memory_session_id"]], "%v has no session", o)
		key := fmt.Sprint(o["memory_session_id"], o["title"], o["created_at_epoch"])
		must.Hold(t, !taken[key], "%s is there twice", key)
		taken[key] = true
		for _, column := range []string{"facts", "concepts", "files_read", "files_modified"} {
			if text, ok := o[column].(string); ok {
				var list []string
				must.Do(t, json.Unmarshal([]byte(text), &list))
			} else if o["request"] == nil {
				t.Errorf("%s is %v, want a list as text", column, o[column])
			}
		}
		must.Equal(t, "tokens", o["discovery_tokens"], any(0.0))
	}
	must.Equal(t, "first", fmt.Sprint(w.Observations[0]["type"], w.Observations[0]["concepts"], w.Observations[0]["files_read"]),
		`decision["a","b:c","amber-01890a5d-ac96-774b-bcce-000000000001"]["total.go"]`)
	must.Equal(t, "second", fmt.Sprint(w.Observations[1]["type"], w.Observations[1]["title"]), `security_note`+`No "session" & no title`)
	must.Equal(t, "prompts", fmt.Sprint(w.Prompts[1]["prompt_number"], w.Prompts[1]["prompt_text"]), "2Thanks")
}

// The program's importer keeps these columns and drops every other member of a row. Amber must still recognise a row
// by these columns.
func TestAMemoryIsRecognisedInWhatTheProgramKept(t *testing.T) {
	t.Parallel()
	c := contents(t)
	c.MemoryList = append(c.MemoryList, amber.Memory{
		ID: "21890a5d-ac96-774b-bcce-b302099a8057", Kind: amber.SessionSummary, Identities: amber.Identities{SessionID: "s3"}, CreatedAt: foreigntest.At(t, "2026-01-02T03:05:05Z"),
		Content: "## Request\n\nFix it\n\n## Notes\n\nSee amber-x\n\namber-y",
	})
	file := filepath.Join(write(t, c), "claude-mem-001.json")
	var all map[string]any
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(file))(t), &all))
	kept := map[string][]string{
		"observations": {"memory_session_id", "project", "text", "type", "title", "subtitle", "facts", "narrative", "concepts", "files_read", "files_modified", "prompt_number", "created_at", "created_at_epoch"},
		"summaries":    {"memory_session_id", "project", "request", "investigated", "learned", "completed", "next_steps", "files_read", "files_edited", "notes", "prompt_number", "created_at", "created_at_epoch"},
	}
	for list, columns := range kept {
		for _, row := range all[list].([]any) {
			maps.DeleteFunc(row.(map[string]any), func(column string, _ any) bool { return !slices.Contains(columns, column) })
		}
	}
	must.Do(t, os.WriteFile(file, must.Get(json.Marshal(all))(t), 0o600))
	got := map[string]string{}
	for _, m := range read(t, file).Memories {
		got[m.AmberID] = m.Content
	}
	for _, m := range c.MemoryList {
		must.Equal(t, "content of "+string(m.ID), got[string(m.ID)], m.Content)
	}
}

// No file is longer than the program takes, and each holds the sessions that it refers to.
func TestALargeExportIsSeveralFiles(t *testing.T) {
	t.Parallel()
	c := contents(t)
	for i := range 20 {
		m := c.MemoryList[0]
		m.ID, m.Content = amber.MemoryID(fmt.Sprintf("11890a5d-ac96-774b-bcce-%012d", i)), strings.Repeat("\"ä\n", 250_000)
		c.MemoryList = append(c.MemoryList, m)
	}
	dir := write(t, c)
	entries := must.Get(os.ReadDir(dir))(t)
	must.Hold(t, len(entries) >= 6, "%d files", len(entries))
	n := 0
	for i, e := range entries {
		must.Equal(t, "name", e.Name(), fmt.Sprintf("claude-mem-%03d.json", i+1))
		info := must.Get(e.Info())(t)
		must.Hold(t, info.Size() < 5_000_000, "%s has %d bytes", e.Name(), info.Size())
		w := parse(t, filepath.Join(dir, e.Name()))
		known := map[any]bool{}
		for _, s := range w.Sessions {
			known[s["memory_session_id"]], known[s["content_session_id"]] = true, true
		}
		for _, o := range append(append(w.Observations, w.Summaries...), w.Prompts...) {
			must.Hold(t, known[o["memory_session_id"]] || known[o["content_session_id"]], "%s: a row has no session", e.Name())
		}
		n += len(w.Observations) + len(w.Summaries)
	}
	must.Equal(t, "memories", n, len(c.MemoryList))
	must.Equal(t, "read back", len(read(t, dir).Memories), len(c.MemoryList))
}

func TestAnEmptyExportIsAFile(t *testing.T) {
	t.Parallel()
	r := read(t, write(t, &foreigntest.Contents{}))
	must.Equal(t, "items", r.Count(), 0)
	must.Equal(t, "skipped", r.Skips, nil)
}
