package letta_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/letta"
	"github.com/amber-memory/amber/internal/test/must"
)

// Both samples say the same; one is a JSON string that holds the JSON.
func TestTheSamples(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"agent.af", "double.af"} {
		r := foreigntest.Read(t, letta.Format, filepath.Join("testdata", file))
		at, end := foreigntest.At(t, "2026-01-02T03:04:05.678Z"), foreigntest.At(t, "2026-01-02T03:04:09Z")
		must.Equal(t, file+" memories", r.Memories, []foreign.Memory{{
			Place: foreign.Place{File: file, At: "block 1"}, Key: foreign.Key{"amber", "project_fact/checkout"}, Kind: amber.WorkspaceFact,
			Title: "project_fact/checkout", Topic: "project_fact/checkout", Content: "Round half to even", Summary: "amber 01890a5d",
			CreatedAt: at, UpdatedAt: at, Foreign: foreign.Object{"limit": json.Number("20000")}, AmberID: "x",
		}}, foreigntest.Times)
		turns := []foreign.Turn{
			{
				Place: foreign.Place{File: file, At: "agent 1, message 1"}, Role: amber.RoleUser, Content: "the total is wrong", At: at,
				Key: foreign.Key{"amber", "2026-01-02T03:04:05.678Z", "user", foreign.Hex(foreign.Digest("the total is wrong"))},
			},
			{
				Place: foreign.Place{File: file, At: "agent 1, message 2"}, Role: amber.RoleAssistant, Content: "Rounded twice.", At: end,
				Key: foreign.Key{"amber", "2026-01-02T03:04:09.000Z", "assistant", foreign.Hex(foreign.Digest("Rounded twice."))},
			},
		}
		must.Equal(t, file+" session", r.Sessions, []foreign.Session{{
			Place: foreign.Place{File: file, At: "agent 1"}, ID: "letta-amber", Name: "amber", StartedAt: at, EndedAt: end, Turns: 2,
			State: strings.Join(turns[1].Key, " "),
		}}, foreigntest.Times)
		must.Equal(t, file+" turns", r.Turns["letta-amber"], turns, foreigntest.Times)
		must.Equal(t, file+" skips", r.Skips, nil)
	}
}

// agent makes an agent file with blocks and messages.
func agent(blocks, messages string) string {
	return `{"agents": [{"id": "agent-0", "name": "sam", "block_ids": ["block-0", "block-1"], "messages": [` + messages + `]}], "blocks": [` + blocks + `]}`
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	dir := foreigntest.Files(t, map[string]string{"a.af": agent(`
		{"id": "block-0", "label": "human", "value": "Ada", "description": "the user", "limit": "x", "tags": ["a", 3], "read_only": true, "metadata": {"x": 1}},
		{"id": "block-1", "label": "persona", "value": "  "},
		{"id": "block-1", "label": "twice", "value": "x"},
		{"id": "block-2", "label": "free", "value": "text", "created_at": "2026-01-05T00:00:00"},
		{"id": "block-3", "label": "old", "value": "text", "created_at": "1970-01-01T00:00:00Z"},
		{"label": "none", "value": "text"}, 7, {"id": "block-4", "label": "free", "value": "again"}`, "")})
	r := foreigntest.Read(t, letta.Format, dir)
	var got []string
	for _, m := range r.Memories {
		got = append(got, fmt.Sprintf("%q %s %s %s %v %v", []string(m.Key), m.Kind, m.Content, m.Summary, m.Tags, m.Foreign))
	}
	must.Equal(t, "memories", strings.Join(got, "\n"), `["sam" "human"] user_fact Ada the user [a 3] map[limit:x metadata:map[x:1] read_only:true]`+"\n"+
		`["" "free"] workspace_fact text  [] <nil>`)
	must.Equal(t, "time", r.Memories[1].CreatedAt, foreigntest.At(t, "2026-01-05"), foreigntest.Times)
	must.Equal(t, "skips", strings.Join(r.Skips, "\n"), strings.Join([]string{
		`a.af: block 2: block "persona" is empty`,
		`a.af: block 3: block has the id of another block, or the blocks of the file have more than 67108864 bytes`,
		`a.af: block 6: block has no id`,
		`a.af: block 7: found 7, want an object`,
		`a.af: block 5: time is 1970-01-01T00:00:00Z, want one from 1990 to 2099`,
		`a.af: block 8: the block free of an agent of this name is in a.af: block 4 already`,
	}, "\n"))
}

func TestMessages(t *testing.T) {
	t.Parallel()
	dir := foreigntest.Files(t, map[string]string{"a.af": agent("", `
		{"role": "system", "content": "secret prompt", "created_at": "2026-01-01T00:00:00Z"},
		{"role": "user", "content": "{\"type\": \"login\"}", "created_at": "2026-01-01T00:00:01Z"},
		{"role": "user", "content": [{"type": "text", "text": "{\"type\": \"user_message\", \"message\": \"hello\", \"time\": \"x\"}"}], "created_at": "2026-01-01T00:00:02Z"},
		{"role": "assistant", "content": "thought", "created_at": "2026-01-01T00:00:03Z", "tool_calls": [
			{"id": "c", "type": "function", "function": {"name": "send_message", "arguments": "{\"message\": \"Hi!\"}"}},
			{"function": {"name": "archival_memory_search", "arguments": "{\"query\": \"x\"}"}}]},
		{"role": "tool", "name": "send_message", "content": "{\"status\": \"OK\", \"message\": \"None\"}"},
		{"role": "tool", "name": "x", "content": [{"type": "text", "text": "{\"status\": \"OK\", \"message\": \"found\"}"}]},
		{"role": "tool", "content": null, "tool_returns": [{"status": "success", "func_response": "returned"}]},
		{"role": "assistant", "content": null, "tool_calls": [{"name": "send_message", "arguments": "{\"message\": \"Only here\"}"}]},
		{"role": "assistant", "content": [{"type": "reasoning", "reasoning": "no"}, {"type": "text", "text": "a"}, {"type": "image"}, 5], "created_at": "2026-01-01T00:00:05Z"},
		{"role": "summary", "content": "so far", "created_at": "2026-01-01T00:00:06Z"},
		{"role": "user", "content": "again", "created_at": "2026-01-01T00:00:07Z"},
		{"role": "user", "content": "again", "created_at": "2026-01-01T00:00:07Z"},
		{"role": "user", "content": "late", "created_at": "2226-01-01T00:00:07Z"},
		{"role": "robot", "content": "x"}, 5, {"role": "user", "content": {"odd": 1}},
		{"role": "user", "content": "{\"type\": \"json of mine\"}", "created_at": "2026-01-01T00:00:08Z"}`)})
	r := foreigntest.Read(t, letta.Format, dir)
	turns := r.Turns["letta-sam"]
	must.Equal(t, "texts", foreigntest.Texts(turns), "user: hello\nassistant: Hi!\ntool: found\ntool: returned\nassistant: Only here\nassistant: a\n[image]\n"+
		"user: again\nuser: again\nuser: {\"type\": \"json of mine\"}\n")
	must.Equal(t, "activity", turns[1].Activity, []amber.Activity{{Kind: amber.ActivityTool, Name: "archival_memory_search", Detail: `{"query": "x"}`, Count: 1}}, foreigntest.Times)
	must.Equal(t, "time of a message without one", turns[2].At, foreigntest.At(t, "2026-01-01T00:00:03Z"), foreigntest.Times)
	must.Equal(t, "compaction", turns[6].Compaction, "so far")
	must.Equal(t, "session", fmt.Sprint(r.Sessions[0].Turns, r.Sessions[0].StartedAt, r.Sessions[0].EndedAt), "10 2026-01-01T00:00:02.000Z 2026-01-01T00:00:08.000Z")
	must.Equal(t, "skips", strings.Join(r.Skips[2:], "\n"), `a.af: agent 1, message 13: time is 2226-01-01T00:00:07Z, want one from 1990 to 2099`+"\n"+
		`a.af: agent 1, message 14: message has the role "robot", want user, assistant or tool`+"\n"+`a.af: agent 1, message 15: message is no object`)
}

func TestTheOlderForm(t *testing.T) {
	t.Parallel()
	dir := foreigntest.Files(t, map[string]string{"old.af": `{"agent_type": "memgpt_agent", "core_memory": [
		{"label": "human", "value": "Ada", "limit": 5000, "created_at": "2025-01-02T03:04:05.678901+00:00"}, {"label": "persona", "value": "Sam"}],
		"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}], "created_at": "2025-01-02T03:04:06"}],
		"tool_exec_environment_variables": [{"key": "TOKEN", "value": "secret"}], "name": "sam", "version": "0.7.1"}`})
	r := foreigntest.Read(t, letta.Format, dir)
	must.Equal(t, "memories", len(r.Memories), 2)
	must.Equal(t, "key", r.Memories[0].Key, foreign.Key{"sam", "human"})
	must.Equal(t, "time", r.Memories[0].CreatedAt, foreigntest.At(t, "2025-01-02T03:04:05.678Z"), foreigntest.Times)
	must.Equal(t, "texts", foreigntest.Texts(r.Turns["letta-sam"]), "user: hi\n")
	must.Equal(t, "skips", r.Skips, nil)
}

// An agent that was exported twice is read from its last file.
func TestAnAgentInTwoFiles(t *testing.T) {
	t.Parallel()
	block := `{"id": "block-0", "label": "human", "value": "Ada"}, {"id": "block-1", "label": "x", "value": "y"}`
	dir := foreigntest.Files(t, map[string]string{
		"a.af": agent(block, `{"role": "user", "content": "old", "created_at": "2026-01-01T00:00:00Z"}`),
		"b.af": agent(block, `{"role": "user", "content": "new", "created_at": "2026-01-01T00:00:00Z"}`),
	})
	must.Do(t, os.Chtimes(filepath.Join(dir, "a.af"), foreigntest.At(t, "2026-01-01").Time(), foreigntest.At(t, "2026-01-01").Time()))
	r := foreigntest.Read(t, letta.Format, dir)
	must.Equal(t, "texts", foreigntest.Texts(r.Turns["letta-sam"]), "user: new\n")
	must.Equal(t, "memories", len(r.Memories), 2)
	must.Equal(t, "skips", len(r.Skips), 3)
}

func TestMemoryFoldersAreNotes(t *testing.T) {
	t.Parallel()
	persona := "---\ndescription: who\nread_only: true\n---\nSam\n"
	home := foreigntest.Files(t, map[string]string{
		"agents/agent-1/memory/system/persona.md": persona, "agents/agent-1/memory/topics/rounding.md": "text", "agents/agent-2/memory/empty.md": "",
		"agents/agent-1/memory/x.txt": "no", "settings.json": "{}",
	})
	r := foreigntest.Read(t, letta.Format, home)
	got := map[string]string{}
	for _, n := range r.Notes {
		got[n.Name] = n.Content
	}
	must.Equal(t, "notes", got, map[string]string{"letta/agent-1/system/persona": persona, "letta/agent-1/topics/rounding": "text"})
	for _, folder := range []string{"", "memory/"} {
		alone := foreigntest.Files(t, map[string]string{folder + "system/persona.md": persona, folder + "b.md": "text"})
		r := foreigntest.Read(t, letta.Format, alone)
		must.Equal(t, "notes", len(r.Notes), 2)
		must.Equal(t, "name", r.Notes[1].Name, "letta/system/persona")
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]foreign.Match{
		`{"agents": [], "mcp_servers": []}`: foreign.Sure, `{"agents": []}`: foreign.No, `{"core_memory": [], "messages": []}`: foreign.Sure,
		`[{"agents": 1, "block_ids": 2}]`: foreign.No, ``: foreign.No, `"text"`: foreign.No, `{"conversations": []}`: foreign.No,
	} {
		for _, name := range []string{"a.af", "a.json"} {
			foreigntest.Detects(t, letta.Format, map[string]foreign.Match{filepath.Join(foreigntest.Files(t, map[string]string{name: text}), name): want})
		}
	}
	for _, files := range []map[string]string{
		{"system/a.md": "---\ntitle: x\ndescription: y\n---\n"},
		{"system/a.md": "text"},
		{"agents/x.md": "text"},
		{"a.json": `{"agents":[],"mcp_servers":[]}`},
		{"agents/helper/memory/a.md": "text"},
	} {
		foreigntest.Detects(t, letta.Format, map[string]foreign.Match{foreigntest.Files(t, files): foreign.No})
	}
}

func TestHomes(t *testing.T) {
	t.Parallel()
	must.Equal(t, "homes", letta.Format.Homes(os.Getenv, "/home/ada"), []string{filepath.Join("/home/ada", ".letta")})
}

func TestDamage(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"agent.af", "double.af"} {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, file), must.Get(os.ReadFile(filepath.Join("testdata", file)))(t), 0o600))
		foreigntest.Damage(t, letta.Format, dir, file, -1)
	}
}

func TestHostileFiles(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "null", `"`, `"{`, `"{\"agents\": [{\"block_ids\": `, `{"agents": ` + strings.Repeat("[", 100_000), `{"agents": [` + strings.Repeat(`{"a":`, 50_000),
		`{"agents": {}, "block_ids": 1, "blocks": {"id": 1}}`, `{"agents": [null, [], 1, {"block_ids": "block-9", "messages": {"a": 1}}]}`,
		"{\"agents\": [{\"block_ids\": [\"\\ud800\"], \"name\": \"\xff\x00\", \"messages\": [{\"role\": \"user\", \"content\": \"\xff\"}]}]}",
		"{}", `{"core_memory": [1, {}], "messages": [2, {"role": {}, "created_at": 1e999}]}`,
	} {
		r := foreigntest.ReadAny(t, letta.Format, foreigntest.Files(t, map[string]string{"a.af": text}))
		must.Equal(t, "memories", len(r.Memories), 0)
		if len(r.Skips) == 0 && r.Count() == 0 {
			t.Errorf("%.40q: nothing was read and nothing was said", text)
		}
	}
}

const memoryID = "01890a5d-ac96-774b-bcce-b302099a8057"

func contents(t testing.TB) *foreigntest.Contents {
	t.Helper()
	at := foreigntest.At(t, "2026-01-02T03:04:05.678Z")
	return &foreigntest.Contents{
		MemoryList: []amber.Memory{
			{
				ID: memoryID, Kind: amber.ProjectFact, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "shop"}, Title: "Checkout", Summary: "s",
				Content: strings.Repeat("é", 30_000), Tags: []string{"a"}, Topic: "checkout", CreatedAt: at, UpdatedAt: at,
			},
			{ID: "01890a5d-ac96-774b-bcce-b302099a8058", Kind: amber.UserFact, Scope: amber.ScopeGlobal, Content: "Uses <tabs>\n\u2028"},
		},
		SessionList: []amber.Session{{ID: "s-1", Name: "Coupons"}, {ID: "s-2", Name: "Empty"}, {ID: "s-3", Name: "Long"}},
		TurnList: map[amber.SessionID][]amber.Turn{
			"s-1": {{Role: amber.RoleUser, Content: "Why?", CreatedAt: at}, {Role: amber.RoleTool, Content: "no", CreatedAt: at}, {Role: amber.RoleAssistant, Content: "So.", CreatedAt: at}},
			"s-3": manyTurns(at),
		},
	}
}

func manyTurns(at amber.Time) (out []amber.Turn) {
	for i := range 40 {
		out = append(out, amber.Turn{Role: amber.RoleUser, Content: fmt.Sprint("turn ", i), CreatedAt: at.Add(1e9 * 60)})
	}
	return out
}

func TestExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := foreign.WriteOptions{At: foreigntest.At(t, "2026-02-01"), Agent: "main"}
	c := contents(t)
	must.Do(t, letta.Format.Write(context.Background(), c, o, foreigntest.Folder(dir)))
	b := must.Get(os.ReadFile(filepath.Join(dir, "out")))(t)
	checkReferences(t, b)
	must.Do(t, os.Rename(filepath.Join(dir, "out"), filepath.Join(dir, "main.af")))
	r := foreigntest.Read(t, letta.Format, filepath.Join(dir, "main.af"))
	must.Equal(t, "memories", len(r.Memories), 2)
	for i, m := range r.Memories {
		want := c.MemoryList[i]
		must.Equal(t, "memory", m, foreign.Memory{
			Place: m.Place, Key: m.Key, Kind: want.Kind, Scope: want.Scope, Identities: want.Identities, Title: want.Title, Content: want.Content,
			Summary: want.Summary, Topic: want.Topic, Tags: want.Tags, CreatedAt: o.At, UpdatedAt: o.At, AmberID: string(want.ID),
		}, foreigntest.Times)
	}
	must.Equal(t, "sessions", fmt.Sprintf("%d %s %s %s", len(r.Sessions), r.Sessions[0].ID, r.Sessions[0].Name, r.Sessions[1].ID), "2 s-1 Coupons s-3")
	must.Equal(t, "texts", foreigntest.Texts(r.Turns["s-1"]), "user: Why?\nassistant: So.\n")
	must.Equal(t, "turns", len(r.Turns["s-3"]), 40)
	must.Equal(t, "skips", r.Skips, nil)
}

// checkReferences holds a file against what Letta's importer asks: all lists, ids of its form that are unique, and
// references that lead somewhere.
func checkReferences(t *testing.T, b []byte) {
	t.Helper()
	var doc map[string]any
	must.Do(t, json.Unmarshal(b, &doc))
	for _, list := range []string{"agents", "groups", "blocks", "files", "sources", "tools", "mcp_servers"} {
		if _, ok := doc[list].([]any); !ok {
			t.Errorf("%s is %T, want a list", list, doc[list])
		}
	}
	ids := map[string]bool{}
	see := func(v any) { ids[v.(map[string]any)["id"].(string)] = true }
	a := doc["agents"].([]any)[0].(map[string]any)
	see(a)
	labels := map[string]bool{}
	for _, v := range doc["blocks"].([]any) {
		see(v)
		b := v.(map[string]any)
		labels[b["label"].(string)] = true
		if n := len([]rune(b["value"].(string))); float64(n) > b["limit"].(float64) {
			t.Errorf("block has %d characters, its limit is %v", n, b["limit"])
		}
	}
	for _, v := range a["messages"].([]any) {
		see(v)
	}
	must.Equal(t, "ids", len(ids), 1+2+43)
	must.Equal(t, "labels", len(labels), 2)
	context := a["in_context_message_ids"].([]any)
	must.Equal(t, "messages in context", len(context), 20)
	must.Equal(t, "the first in context", context[0].(string), "message-0")
	for _, id := range append(context, a["block_ids"].([]any)...) {
		if !ids[id.(string)] {
			t.Errorf("%v is not in the file", id)
		}
	}
}

func TestAnEmptyExport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(t, letta.Format.Write(context.Background(), &foreigntest.Contents{}, foreign.WriteOptions{}, foreigntest.Folder(dir)))
	var doc map[string]any
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(dir, "out")))(t), &doc))
	must.Equal(t, "agents", len(doc["agents"].([]any)), 1)
	blocked := filepath.Join(dir, "out", "x")
	must.Error(t, "a folder that is a file", letta.Format.Write(context.Background(), contents(t), foreign.WriteOptions{}, foreigntest.Folder(blocked)))
}

func FuzzAgentFile(f *testing.F) {
	foreigntest.Fuzz(f, letta.Format, "a.af", must.Get(os.ReadFile("testdata/agent.af"))(f), must.Get(os.ReadFile("testdata/double.af"))(f),
		[]byte(`{"core_memory":[{"label":"human","value":"x"}],"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"send_message","arguments":"{\"message\":\"a\"}"}}]}],"name":"a"}`))
}
