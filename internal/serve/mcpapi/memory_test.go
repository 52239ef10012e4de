package mcpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestWhatACallNamesIsTheScope saves with a session and a project of the call
// and no scope: the memory is of the narrower, and is found there alone.
func TestWhatACallNamesIsTheScope(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := r.options("")
	o.Identities = amber.Identities{}
	c := r.session(o, everything, "default", "default")
	for _, tt := range []struct {
		args object
		want string
	}{
		{object{"content": "one"}, "global"},
		{object{"content": "two", "project": "acme/shop"}, "project"},
		{object{"content": "three", "session": "s1"}, "session"},
		{object{"content": "four", "session": "s1", "project": "acme/shop"}, "session"},
		{object{"content": "five", "session": "s1", "scope": "global"}, "global"},
	} {
		must.Equal(t, fmt.Sprint("scope of ", tt.args), c.out("memory_save", tt.args)["scope"], any(tt.want))
	}
	for session, want := range map[string]int{"s1": 1, "s2": 0} {
		must.Equal(t, "hits of session "+session, c.count("hits", "memory_recall", object{"query": "three", "session": session}), want)
	}
	o.Identities = amber.Identities{UserID: "ann"}
	must.Equal(t, "scope of a connection of one user",
		r.session(o, everything, "default", "default").out("memory_save", object{"content": "six"})["scope"], "user")
}

// TestTheSameTextAgainAddsToTheMemory: the answer to a second save names what that save has added, and what it has
// not.
func TestTheSameTextAgainAddsToTheMemory(t *testing.T) {
	t.Parallel()
	c := newRig(t).local("default,engram")
	c.call("memory_save", object{"content": "We chose PostgreSQL", "tags": []string{"db"}})
	more, text := c.call("memory_save", object{"content": "We chose PostgreSQL", "tags": []string{"sql"}})
	if more["revision"] != 2.0 || more["deduplicated"] != true || fmt.Sprint(more["added"]) != "[tags]" || !strings.Contains(text, "Added: tags.") {
		t.Errorf("saved with another tag: %v, %q", more, text)
	}
	c.call("mem_save", object{"title": "t", "content": "x", "type": "decision"})
	other, text := c.call("mem_save", object{"title": "t", "content": "x", "type": "architecture"})
	if other["revision"] != 1.0 || fmt.Sprint(other["not_taken"]) != "[metadata.type]" || !strings.Contains(text, "Not taken") {
		t.Errorf("saved with another type: %v, %q", other, text)
	}
}

// TestLongTextsComeInPages reads a long memory page by page: nothing is missing,
// and no character is cut.
func TestLongTextsComeInPages(t *testing.T) {
	t.Parallel()
	c := newRig(t).local("")
	text := strings.Repeat("größer – 長い ", 4000)
	saved, _ := c.call("memory_save", object{"content": text})
	var read strings.Builder
	offset := 0.0
	for pages := 1; ; pages++ {
		got, shown := c.call("memory_get", object{"id": saved["id"], "offset": offset})
		read.WriteString(got["content"].(string))
		if len(shown) > 20<<10 {
			t.Errorf("a page has %d bytes", len(shown))
		}
		if got["truncated"] != true {
			break
		}
		if !strings.Contains(shown, "[cut: call again with offset") || pages > 100 {
			t.Fatalf("page %d: %q", pages, shown[len(shown)-80:])
		}
		offset = got["next_offset"].(float64)
	}
	if read.String() != text {
		t.Error("the pages are not the text")
	}
	found, _ := c.call("memory_recall", object{"query": "größer"})
	if b, _ := json.Marshal(found); len(b) > 4<<10 {
		t.Errorf("a hit has %d bytes", len(b))
	}
}

func TestForeignMemoriesAreLabelledAndNotInjected(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, err := r.store().LongTerm.Write(context.Background(), amber.WriteRequest{Content: "deploy with rm -rf", Title: "deploy", Trust: amber.TrustImported})
	must.Do(t, err)
	c := r.local("")
	c.call("memory_save", object{"content": "deploy with make release"})
	found, text := c.call("memory_recall", object{"query": "deploy"})
	trusts := map[any]int{}
	for _, h := range found["hits"].([]any) {
		trusts[h.(object)["trust"]]++
	}
	must.Equal(t, "imported", trusts["imported"], 1)
	must.Says(t, "imported", text, ", imported]")
	block, _ := c.call("memory_context", object{"goal": "deploy"})
	if s := block["text"].(string); strings.Contains(s, "rm -rf") || !strings.Contains(s, "make release") || !strings.HasPrefix(s, "<amber-memory ") {
		t.Errorf("injected: %q", s)
	}
}

func TestSessionsHoldWhatIsSavedInThem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.local("")
	c.failsAs("an end without a beginning", amber.KindInvalid, "session_end", object{}, "session_start")
	s, _ := c.call("session_start", object{"name": "mending"})
	saved, _ := c.call("memory_save", object{"content": "in a session"})
	c.call("memory_save", object{"content": "also in it"})
	must.Equal(t, "session", saved["session"], s["id"])
	around, _ := c.call("memory_timeline", object{"id": saved["id"], "before": 0})
	must.Equal(t, "memories around", len(around["memories"].([]any)), 2)
	first, _ := c.call("session_summary", object{"content": "mended it"})
	second, _ := c.call("session_summary", object{"content": "mended all of it"})
	must.Equal(t, "id", first["id"], second["id"])
	must.Equal(t, "session", second["session"], s["id"])
	ended, _ := c.call("session_end", object{"summary": "done"})
	if ended["id"] != s["id"] || ended["ended_at"] == nil {
		t.Errorf("ended %v", ended)
	}
	after, _ := c.call("memory_save", object{"content": "after it"})
	has(t, "saved after the end", after, object{"session": nil})
}

// TestASessionOfTheHostIsReopened lets an agent name the session that hooks
// have started.
func TestASessionOfTheHostIsReopened(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	must.Do(t, must.Err(r.store().Sessions.StartSession(context.Background(), amber.SessionStart{ID: "host-1", Binding: "claude-code"})))
	s, _ := r.local("").call("session_start", object{"id": "host-1"})
	must.Equal(t, "session", s["id"], "host-1")
}

func TestBadArgumentsAreToldPrecisely(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.local("all")
	for _, test := range []struct {
		tool string
		args object
		want string // in the text
	}{
		{"memory_save", object{}, "invalid: read arguments: content is missing"},
		{"memory_save", object{"content": nil}, "content is missing"},
		{"memory_save", object{"content": 7}, "content is a whole number where a string is wanted"},
		{"memory_save", object{"content": "x", "contnet": "y"}, `there is no "contnet"; there are: content, title`},
		{"memory_save", object{"Content": "x"}, `there is no "Content"`},
		{"memory_save", object{"content": "x", "kind": "opinion"}, `kind is "opinion", not one of user_preference`},
		{"memory_save", object{"content": "x", "tags": "a"}, "tags is a string where a list is wanted"},
		{"memory_save", object{"content": "x", "tags": []any{1}}, "tags is a number where a string is wanted"},
		{"memory_save", object{"content": "a\x00b"}, "control character U+0000"},
		{"memory_save", object{"content": "  "}, "content is empty"},
		{"memory_save", object{"content": strings.Repeat("x", amber.MaxContentBytes+1)}, "the limit is"},
		{"memory_save", object{"content": "x", "scope": "user"}, "scope user needs a user id"},
		{"memory_recall", object{"query": "x", "limit": 1.5}, "limit is a number that is not whole where a whole number is wanted"},
		{"memory_recall", object{"query": "x", "limit": 65}, "limit is 65, not 1 to 64"},
		{"memory_recall", object{"query": "x", "kind": "opinion"}, `"opinion"`},
		{"memory_recall", object{"query": "x", "limit": -1}, "limit is -1, not 1 to 64"},
		{"memory_save", object{"content": "x", "b": 1, "a": 2}, `there is no "a"`},
		{"memory_get", object{"id": "nonsense"}, `"nonsense" is not a UUID`},
		{"memory_get", object{"id": "01a1e0bd-8d64-7842-a5fa-7c515473c677"}, "not_found: "},
		{"memory_update", object{"id": "01a1e0bd-8d64-7842-a5fa-7c515473c677"}, "nothing is to be changed"},
		{"memory_context", object{"max_bytes": 1}, "max_bytes is 1, not 512 to 65536"},
		{"queue_ack", object{"lease": "x"}, "lease is a string where an object is wanted"},
		{"memory", object{"command": "dance"}, `command is "dance", not one of view`},
	} {
		if kind, text := c.fails(test.tool, test.args); !strings.Contains(text, test.want) || len(text) > 2200 {
			t.Errorf("%s: %s: %q does not say %q", test.tool, kind, text, test.want)
		}
	}
	// A whole number may be written with a point, and null is none.
	c.call("memory_recall", object{"query": "x", "limit": 5.0, "kind": nil})
	must.Equal(t, "memories", must.Get(r.store().Stats.Stats(context.Background()))(t).Memories, 0)
}

// No other session sees a session of no project, nor its summary.
func TestSummaryWithoutAProjectIsOfItsSession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := r.options("")
	o.Identities = amber.Identities{}
	c := r.session(o, everything, "default", "default")
	c.call("session_start", object{"id": "one"})
	must.Equal(t, "scope", c.out("session_summary", object{"content": "canary"})["scope"], "session")
	other := r.session(o, everything, "default", "default")
	other.call("session_start", object{"id": "two"})
	_, text := other.call("memory_context", object{"goal": "canary"})
	must.Hides(t, "what another session is shown", text, "canary")
}

// TestKindsHaveCommonNames: an agent says "decision", and finds it again so. The
// schema lists the kinds, also where they narrow a search.
func TestKindsHaveCommonNames(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.local("default")
	saved, _ := c.call("memory_save", object{"content": "we chose PostgreSQL", "kind": "decision"})
	must.Equal(t, "kind", c.out("memory_get", object{"id": saved["id"]})["kind"], "project_fact")
	for _, kind := range []string{"decision", "Decisions", "project_fact"} {
		must.Equal(t, kind, c.count("hits", "memory_recall", object{"query": "PostgreSQL", "kind": kind}), 1)
	}
	c.call("memory_update", object{"id": saved["id"], "kind": "bugfix"})
	must.Equal(t, "kind after the update", c.out("memory_get", object{"id": saved["id"]})["kind"], "historical_case")
	for tool, args := range map[string]object{"memory_save": {"content": "x", "kind": "rumour"}, "memory_recall": {"query": "x", "kind": "rumour"}} {
		c.failsAs(tool, amber.KindInvalid, tool, args, `kind is "rumour", not one of user_preference`)
	}
}
