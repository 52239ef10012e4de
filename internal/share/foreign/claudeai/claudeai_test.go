package claudeai

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	account     = "22222222-2222-4222-8222-222222222222"
	shop        = "44444444-4444-4444-8444-444444444444"
	memoryFile  = "memories/" + account + ".json"
	projectFile = "projects/" + shop + ".json"
	coupons     = amber.SessionID("claude-ai-11111111-1111-4111-8111-111111111111")
)

func sample(t testing.TB, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name))))(t))
}

// readTalk reads one conversation with messages in JSON.
func readTalk(t testing.TB, messages ...string) *foreigntest.Recorder {
	t.Helper()
	text := `[{"uuid":"c","name":"Talk","created_at":"2026-01-01T00:00:00Z","chat_messages":[` + strings.Join(messages, ",") + `]}]`
	return foreigntest.Read(t, Format, foreigntest.Files(t, map[string]string{"conversations.json": text}))
}

func TestTheSample(t *testing.T) {
	t.Parallel()
	r := foreigntest.Read(t, Format, "testdata")
	talk := func(at string) foreign.Place {
		return foreign.Place{File: "conversations.json", At: "conversation 1" + at}
	}
	first, second := "33333333-3333-4333-8333-333333333331", "33333333-3333-4333-8333-333333333332"
	begin := foreigntest.At(t, "2026-01-02T03:04:05.678Z")
	must.Equal(t, "sessions", r.Sessions, []foreign.Session{{
		Place: talk(""), ID: coupons, Name: "Coupons", StartedAt: begin, EndedAt: foreigntest.At(t, "2026-01-02T03:05:05.678Z"), Turns: 3, State: second,
	}}, foreigntest.Times)
	must.Equal(t, "turns", r.Turns[coupons], []foreign.Turn{
		{Place: talk(", message " + first), Key: foreign.Key{first}, Role: amber.RoleUser, Content: "Why twice?", At: begin},
		{
			Place: talk(", message " + first + ", attachment 1"), Key: foreign.Key{first, "attachment", "1"}, Role: amber.RoleUser,
			Content: "[attachment total.go]\npackage shop", At: begin,
		},
		{Place: talk(", message " + second), Key: foreign.Key{second}, Role: amber.RoleAssistant, Content: "Because each coupon rounds.", At: foreigntest.At(t, "2026-01-02T03:04:15Z")},
	}, foreigntest.Times)
	place := func(at string) foreign.Place { return foreign.Place{File: memoryFile, At: at} }
	must.Equal(t, "memories", r.Memories, []foreign.Memory{
		{
			Place: place("conversations_memory Work context"), Key: foreign.Key{account, "conversations", "Work context"}, Kind: amber.UserFact, Scope: amber.ScopeUser,
			Title: "Work context", Topic: "Work context", Content: "Ada maintains a shop.",
		}, {
			Place: place("conversations_memory Personal context"), Key: foreign.Key{account, "conversations", "Personal context"}, Kind: amber.UserFact, Scope: amber.ScopeUser,
			Title: "Personal context", Topic: "Personal context", Content: "Drinks oolong.",
		}, {
			Place: place("project " + shop), Key: foreign.Key{shop}, Kind: amber.ProjectFact, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "Shop"},
			Content: "Totals round half to even.", Foreign: map[string]string{"project_uuid": shop},
		}, {
			Place: place("memory file 1"), Key: foreign.Key{account, "/preferences.md"}, Kind: amber.UserFact, Scope: amber.ScopeUser, Topic: "/preferences.md",
			Content: "- Short answers", CreatedAt: foreigntest.At(t, "2026-01-02T03:04:05Z"), UpdatedAt: foreigntest.At(t, "2026-01-02T03:04:05Z"),
		},
	}, foreigntest.Times)
	must.Equal(t, "notes", r.Notes, []foreign.Note{
		{Place: foreign.Place{File: projectFile, At: "prompt_template"}, Name: "claude-ai/Shop/instructions", Content: "Answer briefly.", UpdatedAt: foreigntest.At(t, "2026-01-01")},
		{Place: foreign.Place{File: projectFile, At: "document 1"}, Name: "claude-ai/Shop/rules.md", Content: "# Rules\nRound once.", UpdatedAt: foreigntest.At(t, "2026-01-01")},
	}, foreigntest.Times)
	must.Equal(t, "skips and warnings", len(r.Skips)+len(r.Warnings), 0)
}

// Every generation of the export gives the same.
func TestGenerations(t *testing.T) {
	t.Parallel()
	talks, remembered, project := sample(t, "conversations.json"), sample(t, memoryFile), sample(t, projectFile)
	want := foreigntest.Read(t, Format, "testdata")
	for name, files := range map[string]map[string]string{
		"one zip of old":      {"data-2025-batch-0000.zip": foreigntest.Zip(t, map[string]string{"users.json": "[]", "conversations.json": talks, "projects.json": "[" + project + "]", "memories.json": "[" + remembered + "]"})},
		"one zip of later":    {"data-2026-batch-0000.zip": foreigntest.Zip(t, map[string]string{"users.json": "[]", "conversations.json": talks, projectFile: project, "memories.json": remembered})},
		"unpacked":            {"data/conversations.json": talks, "data/projects.json": "[" + project + "]", "data/memories.json": "[" + remembered + "]"},
		"zip files of kinds":  {"conversations-000.zip": foreigntest.Zip(t, map[string]string{"conversations.json": talks}), "projects-000.zip": foreigntest.Zip(t, map[string]string{projectFile: project}), "memories-000.zip": foreigntest.Zip(t, map[string]string{memoryFile: remembered}), "light_metadata-000.zip": foreigntest.Zip(t, map[string]string{"users.json": "[]"})},
		"zip with a folder":   {"export.zip": foreigntest.Zip(t, map[string]string{"export/conversations.json": talks, "export/" + projectFile: project, "export/" + memoryFile: remembered})},
		"marks and no breaks": {"conversations.json": "\xef\xbb\xbf" + compact(t, talks), "projects.json": "[" + compact(t, project) + "]", "memories.json": "\xef\xbb\xbf" + compact(t, remembered)},
	} {
		dir := foreigntest.Files(t, files)
		r := foreigntest.Read(t, Format, dir)
		same(t, name, r, want)
		if entries := must.Get(os.ReadDir(dir))(t); len(entries) == 1 && strings.HasSuffix(entries[0].Name(), ".zip") {
			same(t, name+" alone", foreigntest.Read(t, Format, filepath.Join(dir, entries[0].Name())), want)
		}
	}
}

func compact(t testing.TB, text string) string {
	t.Helper()
	return string(must.Get(json.Marshal(json.RawMessage(text)))(t))
}

// same compares what was read, but for the places.
func same(t testing.TB, name string, got, want *foreigntest.Recorder) {
	t.Helper()
	places := cmpopts.IgnoreTypes(foreign.Place{})
	must.Equal(t, name+": sessions", got.Sessions, want.Sessions, foreigntest.Times, places)
	must.Equal(t, name+": turns", got.Turns, want.Turns, foreigntest.Times, places)
	byKey := cmpopts.SortSlices(func(a, b foreign.Memory) bool { return strings.Join(a.Key, "/") < strings.Join(b.Key, "/") })
	must.Equal(t, name+": memories", got.Memories, want.Memories, foreigntest.Times, places, byKey)
	must.Equal(t, name+": notes", got.Notes, want.Notes, foreigntest.Times, places)
	must.Equal(t, name+": skips", strings.Join(got.Skips, "\n"), "")
}

// Each file of an export may be given alone, under any name.
func TestFilesAlone(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"conversations.json": 4, memoryFile: 4, projectFile: 2} {
		dir := foreigntest.Files(t, map[string]string{"mine.json": sample(t, name)})
		must.Equal(t, name, foreigntest.Read(t, Format, filepath.Join(dir, "mine.json")).Count(), want)
	}
}

// So may a folder of it.
func TestFoldersAlone(t *testing.T) {
	t.Parallel()
	r := foreigntest.Read(t, Format, "testdata/memories")
	must.Equal(t, "memories", r.Count(), 4)
	must.Equal(t, "key", r.Memories[0].Key[0], account)
	must.Equal(t, "projects", foreigntest.Read(t, Format, "testdata/projects").Count(), 2)
}

func TestDetect(t *testing.T) {
	t.Parallel()
	talk := compact(t, sample(t, "conversations.json"))
	for name, tc := range map[string]struct {
		files map[string]string
		want  foreign.Match
	}{
		"conversations":      {map[string]string{"conversations.json": talk}, foreign.Sure},
		"longer than a head": {map[string]string{"conversations.json": `[{"uuid":"u","chat_messages":[{"text":"` + strings.Repeat("x", 100_000)}, foreign.Sure},
		"memories":           {map[string]string{"memories.json": `[{"conversations_memory":"` + strings.Repeat("x", 100_000) + `"}]`}, foreign.Sure},
		"projects":           {map[string]string{"projects/x.json": `{"uuid":"u","name":"n","prompt_template":""}`}, foreign.Sure},
		"ChatGPT":            {map[string]string{"conversations.json": `[{"title":"x","mapping":{},"id":"u"}]`}, foreign.No},
		"empty lists":        {map[string]string{"conversations.json": "[]", "memories.json": "[]", "projects.json": "[]"}, foreign.No},
		"other memories":     {map[string]string{"memories.json": `[{"id":"1","memory":"x","user_id":"ada"}]`, "memories/x.json": `{"memory_files":[]}`}, foreign.No},
		"other projects":     {map[string]string{"projects.json": `[{"name":"n","docs":[]}]`, "projects/x.json": `{"uuid":"u","name":"n"}`}, foreign.No},
		"deep in a folder":   {map[string]string{"a/b/c/conversations.json": talk}, foreign.No},
		"Claude Code":        {map[string]string{"projects/-src/x.jsonl": `{"type":"user","uuid":"u"}`, "projects/-src/memory/MEMORY.md": "x"}, foreign.No},
	} {
		tree := must.Get(foreign.Open(foreigntest.Files(t, tc.files)))(t)
		must.Equal(t, name, Format.Detect(tree), tc.want)
		must.Do(t, tree.Close())
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	r := readTalk(t,
		`{"uuid":"a","sender":"human","text":"flat","content":[{"type":"text","text":"one"},{"type":"voice_note","text":"two"},{"type":"token_budget"}],"files":[{"file_name":"photo.png"},{}]}`,
		`{"uuid":"b","sender":"assistant","text":"This block is not supported.","content":[{"type":"thinking","thinking":"hm"},
			{"type":"tool_use","id":"t1","name":"web_search","input":{ "query": "tea" }},{"type":"tool_result","tool_use_id":"t1","content":[]},
			{"type":"tool_use","id":"t2","name":"repl","input":null},{"type":"tool_result","tool_use_id":"t2","is_error":true},
			{"type":"tool_use","id":"t3","name":"artifacts"},{"type":"tool_use","input":{}}]}`,
		`{"uuid":"c","sender":"assistant","text":"legacy"}`,
		`{"uuid":"d","sender":"assistant","text":"","content":[{"type":"thinking","thinking":"hm"}]}`,
		`{"uuid":"e","sender":"human","text":"","attachments":[{"file_name":"","extracted_content":"pasted"},{"file_name":"x.bin","extracted_content":""},{"file_name":"y.txt","extracted_content":"y"}],"files":[{"file_name":"x.bin"},{"file_name":"y.txt"}]}`,
		`{"uuid":"f","sender":"system","text":"who?"}`)
	must.Equal(t, "turns", foreigntest.Texts(r.Turns["claude-ai-c"]),
		"user: one\n\ntwo\n\n[file photo.png]\nassistant: legacy\nuser: [file x.bin]\nuser: pasted\nuser: [attachment y.txt]\ny\n")
	must.Equal(t, "activity", r.Turns["claude-ai-c"][1].Activity, []amber.Activity{
		{Kind: amber.ActivityTool, Name: "web_search", Detail: `{"query":"tea"}`, Status: "completed", Count: 1},
		{Kind: amber.ActivityTool, Name: "repl", Status: "failed", Count: 1, Failed: 1},
		{Kind: amber.ActivityTool, Name: "artifacts", Count: 1},
	}, foreigntest.Times)
	must.Equal(t, "key of the last attachment", r.Turns["claude-ai-c"][5].Key, foreign.Key{"e", "attachment", "3"})
	must.Equal(t, "skips", strings.Join(r.Skips, "\n"), `conversations.json: conversation 1, message f: sender is "system", want human or assistant`)
}

// said returns a message of a conversation with parents. A parent "-" is not named.
func said(id, parent, when string) string {
	link := `,"parent_message_uuid":"` + parent + `"`
	switch parent {
	case "-":
		link = ""
	case "null":
		link = `,"parent_message_uuid":null`
	}
	return `{"uuid":"` + id + `","sender":"human","text":"` + id + `","created_at":"2026-01-01T00:00:` + when + `Z"` + link + `}`
}

func TestTheChainOfMessages(t *testing.T) {
	t.Parallel()
	const root = "00000000-0000-4000-8000-000000000000"
	for name, tc := range map[string]struct {
		messages []string
		want     string
		skip     string
	}{
		"legacy":            {[]string{said("a", "-", "01"), said("b", "-", "02"), said("c", "-", "03")}, "a b c", ""},
		"regenerated":       {[]string{said("a", root, "01"), said("b", "a", "02"), said("c", "a", "03"), said("d", "c", "04")}, "a c d", ""},
		"edited first":      {[]string{said("a", root, "01"), said("b", "a", "02"), said("c", "null", "03"), said("d", "c", "04")}, "c d", ""},
		"begun in old days": {[]string{said("a", "-", "01"), said("b", "-", "02"), said("c", "b", "03"), said("d", "b", "04")}, "a b d", ""},
		"out of order":      {[]string{said("d", "c", "04"), said("b", "a", "05"), said("c", "a", "03"), said("a", root, "01")}, "a b", ""},
		"missing parent":    {[]string{said("a", root, "01"), said("b", "gone", "02")}, "b", `message "gone" is missing: messages before it are not read`},
		"circle":            {[]string{said("a", "c", "01"), said("b", "a", "02"), said("c", "b", "03")}, "a b c", `message "c" comes before itself: messages before it are not read`},
		"itself":            {[]string{said("a", "a", "01")}, "a", `message "a" comes before itself: messages before it are not read`},
		"back to the last":  {[]string{said("a", "-", "01"), said("b", "c", "02"), said("c", "a", "03")}, "a c b", ""},
		"there twice":       {[]string{said("a", "-", "01"), said("a", "-", "02")}, "a", `message "a" is in the conversation twice; the first is read`},
	} {
		r := readTalk(t, tc.messages...)
		var got []string
		for _, turn := range r.Turns["claude-ai-c"] {
			got = append(got, turn.Content)
		}
		must.Equal(t, name, strings.Join(got, " "), tc.want)
		must.Hold(t, len(r.Skips) == 0 && tc.skip == "" || len(r.Skips) == 1 && strings.HasSuffix(r.Skips[0], tc.skip), "%s: skips %q, want %q", name, r.Skips, tc.skip)
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	r := readTalk(t, `{"uuid":"a","sender":"human","text":"x"}`, `{"uuid":"b","sender":"human","text":"x","created_at":"2026-01-02T00:00:00.123456+01:00"}`,
		`{"uuid":"c","sender":"human","text":"x","created_at":null}`, `{"uuid":"d","sender":"human","text":"x","created_at":"soon"}`,
		`{"uuid":"e","sender":"human","text":"x","created_at":1767225600}`, `{"uuid":"f","sender":"human","text":"x","created_at":"1970-01-01T00:00:00Z"}`)
	var got []amber.Time
	for _, turn := range r.Turns["claude-ai-c"] {
		got = append(got, turn.At)
	}
	second := foreigntest.At(t, "2026-01-01T23:00:00.123Z")
	must.Equal(t, "times", got, []amber.Time{foreigntest.At(t, "2026-01-01"), second, second}, foreigntest.Times)
	must.Equal(t, "ended", r.Sessions[0].EndedAt, second, foreigntest.Times)
	must.Equal(t, "skips", strings.Join(r.Skips, "\n"), `conversations.json: conversation 1, message d: time is "soon", want a date and time as in 2026-01-02T03:04:05Z
conversations.json: conversation 1, message e: time is 1767225600, want text as in 2026-01-02T03:04:05Z
conversations.json: conversation 1, message f: time is 1970-01-01T00:00:00Z, want one from 1990 to 2099`)

	files := foreigntest.Files(t, map[string]string{"conversations.json": `[{"uuid":"c","created_at":"never","updated_at":"","chat_messages":[{"uuid":"a","sender":"human","text":"x","created_at":"2026-01-02T00:00:00Z"}]},
		{"uuid":"d","chat_messages":[{"uuid":"b","sender":"human","text":"x"}]}]`})
	r = foreigntest.Read(t, Format, files)
	must.Equal(t, "started", r.Sessions[0].StartedAt, foreigntest.At(t, "2026-01-02"), foreigntest.Times)
	must.Hold(t, !r.Sessions[1].StartedAt.IsZero(), "a conversation without any time has that of its file")
	must.Equal(t, "skips", len(r.Skips), 1)
}

func TestConversationsThatAreNotRead(t *testing.T) {
	t.Parallel()
	talk := `{"uuid":"c","name":"x","chat_messages":[{"uuid":"a","sender":"human","text":"x"}]}`
	text := "[" + strings.Join([]string{talk, talk, `{"uuid":"empty","chat_messages":[]}`, `{"name":"x","chat_messages":[]}`, `{"uuid":"x"}`, "null", "7"}, ",") + "]"
	r := foreigntest.Read(t, Format, foreigntest.Files(t, map[string]string{"conversations.json": text}))
	must.Equal(t, "all", r.Count(), 2)
	must.Equal(t, "skips", len(r.Skips), 5)
	r = foreigntest.ReadAny(t, Format, foreigntest.Files(t, map[string]string{"conversations.json": `{"chats":[` + talk + `]}`}))
	must.Equal(t, "an object", strings.Join(r.Skips, "\n"), "conversations.json: document is not a list, want a list of conversations")
}

// A folder may hold the exports of two programs, whose files have the same name.
func TestFilesOfChatGPTAreLeftAlone(t *testing.T) {
	t.Parallel()
	r := foreigntest.Read(t, Format, foreigntest.Files(t, map[string]string{
		"a/conversations.json": sample(t, "conversations.json"), "b/conversations.json": `[{"title":"x","mapping":{},"id":"u"}]`,
	}))
	must.Equal(t, "all", r.Count(), 4)
	must.Equal(t, "skips", len(r.Skips), 0)
}

func TestDesignChatsAreNamed(t *testing.T) {
	t.Parallel()
	r := foreigntest.Read(t, Format, foreigntest.Files(t, map[string]string{
		"conversations.json": sample(t, "conversations.json"), "design_chats-000.zip": foreigntest.Zip(t, map[string]string{"design_chats/a.json": "{}", "design_chats/b.json": "{}"}),
	}))
	must.Equal(t, "warnings", strings.Join(r.Warnings, "\n"), "2 files of design chats are not imported")
}
