package gemini_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/gemini"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	session = "0b5e1234-0000-4000-8000-000000000000"
	sample  = "tmp/shop/chats/session-2026-01-02T03-04-0b5e1234.jsonl"
	head    = `{"sessionId":"` + session + `","projectHash":"ab","startTime":"2026-01-02T03:04:05Z","lastUpdated":"2026-01-02T03:04:05Z","kind":"main"}`
)

func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

func message(id, typ, text string) string {
	return `{"id":"` + id + `","timestamp":"2026-01-02T03:04:06Z","type":"` + typ + `","content":"` + text + `"}`
}

func texts(t testing.TB, records ...string) string {
	t.Helper()
	dir := foreigntest.Files(t, map[string]string{sample: lines(append([]string{head}, records...)...)})
	r := foreigntest.Read(t, gemini.Format, dir)
	must.Equal(t, "skipped", r.Skips, nil)
	if len(r.Sessions) > 0 {
		must.Equal(t, "number of turns", r.Sessions[0].Turns, int64(len(r.Turns[session])))
	}
	return foreigntest.Texts(r.Turns[session])
}

func TestSample(t *testing.T) {
	r := foreigntest.Read(t, gemini.Format, "testdata")
	must.Equal(t, "skipped", r.Skips, nil)
	info := must.Get(os.Stat(filepath.Join("testdata", sample)))(t)
	must.Equal(t, "sessions", r.Sessions, []foreign.Session{{
		Place: foreign.Place{File: sample}, ID: session, Name: "Fixed the total", Summary: "Fixed the total",
		StartedAt: foreigntest.At(t, "2026-01-02T03:04:05.678Z"), EndedAt: foreigntest.At(t, "2026-01-02T03:04:07Z"), Turns: 2,
		State: "m2 " + strconv.FormatInt(info.Size(), 10),
	}}, foreigntest.Times)
	must.Equal(t, "turns", r.Turns[session], []foreign.Turn{
		{
			Place: foreign.Place{File: sample, At: "line 2"}, Key: foreign.Key{"m1"}, Role: amber.RoleUser, Content: "Fix the total",
			At: foreigntest.At(t, "2026-01-02T03:04:06Z"),
		},
		{
			Place: foreign.Place{File: sample, At: "line 4"}, Key: foreign.Key{"m2"}, Role: amber.RoleAssistant, Content: "Done.",
			At: foreigntest.At(t, "2026-01-02T03:04:07Z"),
		},
	}, foreigntest.Times)
	for i := range r.Memories {
		must.Hold(t, !r.Memories[i].UpdatedAt.IsZero(), "a fact has no time")
		r.Memories[i].UpdatedAt = amber.Time{} // of the file
	}
	must.Equal(t, "memories", r.Memories, []foreign.Memory{
		{
			Place: foreign.Place{File: "GEMINI.md", At: "line 4"}, Key: foreign.Key{"I prefer tabs"}, Kind: amber.UserPreference,
			Scope: amber.ScopeUser, Content: "I prefer tabs",
		},
		{
			Place: foreign.Place{File: "GEMINI.md", At: "line 5"}, Key: foreign.Key{"Answers in German"}, Kind: amber.UserPreference,
			Scope: amber.ScopeUser, Content: "Answers in German",
		},
	}, foreigntest.Times)
	must.Equal(t, "note", r.Notes[0].Name, "instructions/gemini/GEMINI")
	must.Says(t, "note", r.Notes[0].Content, "not a memory")
}

func TestTheLogIsApplied(t *testing.T) {
	one, two, three := message("1", "user", "one"), message("2", "gemini", "two"), message("3", "user", "three")
	must.Equal(t, "in order", texts(t, one, two, three), "user: one\nassistant: two\nuser: three\n")
	must.Equal(t, "the last of an id counts, where the first was",
		texts(t, one, two, three, message("1", "user", "ONE")), "user: ONE\nassistant: two\nuser: three\n")
	must.Equal(t, "rewound", texts(t, one, two, three, `{"$rewindTo":"2"}`), "user: one\n")
	must.Equal(t, "rewound and said again", texts(t, one, two, `{"$rewindTo":"2"}`, three, two), "user: one\nuser: three\nassistant: two\n")
	must.Equal(t, "rewound to what is not there", texts(t, one, two, `{"$rewindTo":"9"}`, three), "user: three\n")
	must.Equal(t, "rewound to an odd value", texts(t, one, `{"$rewindTo":{}}`, three), "user: three\n")
	must.Equal(t, "set", texts(t, one, `{"$set":{"messages":[`+two+`,`+one+`,7]}}`, three), "assistant: two\nuser: one\nuser: three\n")
	must.Equal(t, "emptied", texts(t, one, `{"$set":{"messages":null}}`), "")
	must.Equal(t, "notices are the program's", texts(t, one, message("2", "info", "x"), message("3", "warning", "y"), message("4", "error", "z")), "user: one\n")
	must.Equal(t, "parts", texts(t, `{"id":"1","type":"gemini","content":[{"text":"thinking","thought":true},{"text":"a"},{"inlineData":{}},"b",3]}`), "assistant: a\n[file]\nb\n")
	must.Equal(t, "one part", texts(t, `{"id":"1","type":"user","content":{"text":"a"}}`), "user: a\n")
	must.Equal(t, "unknown records", texts(t, `{"$other":1}`, `{"id":"1"}`, one), "user: one\n")
}

func TestTimes(t *testing.T) {
	dir := foreigntest.Files(t, map[string]string{sample: lines(head,
		`{"id":"1","type":"user","content":"no time"}`, message("2", "gemini", "two"), `{"id":"3","type":"user","content":"three"}`,
		`{"id":"4","type":"user","content":"four","timestamp":"9999-01-01T00:00:00Z"}`,
	)})
	r := foreigntest.Read(t, gemini.Format, dir)
	var got []amber.Time
	for _, turn := range r.Turns[session] {
		got = append(got, turn.At)
	}
	must.Equal(t, "times", got, []amber.Time{foreigntest.At(t, "2026-01-02T03:04:05Z"), foreigntest.At(t, "2026-01-02T03:04:06Z"), foreigntest.At(t, "2026-01-02T03:04:06Z")}, foreigntest.Times)
	must.Equal(t, "skipped", r.Skips, []string{sample + ": line 5: time is 9999-01-01T00:00:00Z, want one from 1990 to 2099"})
	must.Equal(t, "name", r.Sessions[0].Name, "no time")
}

func TestToolCalls(t *testing.T) {
	dir := foreigntest.Files(t, map[string]string{
		"projects.json": `{"projects":{"/src/shop":"shop"}}`,
		sample: lines(head, `{"id":"1","type":"gemini","content":"","timestamp":"2026-01-02T03:04:06Z","toolCalls":[`+
			`{"id":"a","name":"write_file","args":{"file_path":"a.go"},"status":"success"},`+
			`{"id":"b","name":"run_shell_command","args":{"command":"ls <x>"},"status":"error","result":[{"functionResponse":{"response":{"error":"gone"}}}]},9]}`),
	})
	r := foreigntest.Read(t, gemini.Format, dir)
	must.Equal(t, "activity", r.Turns[session][0].Activity, []amber.Activity{
		{Kind: "tool", Name: "write_file", Detail: `{"file_path":"a.go"}`, Status: "completed", Count: 1},
		{Kind: "file", Name: "/src/shop/a.go", Status: "modified", Count: 1},
		{Kind: "tool", Name: "run_shell_command", Detail: `{"command":"ls <x>"}`, Status: "failed", Count: 1, Failed: 1},
		{Kind: "command", Name: "ls <x>", Detail: "gone", Status: "failed", Count: 1, Failed: 1},
		{Kind: "error", Name: "run_shell_command: gone", Detail: "ls <x>", Count: 1, Failed: 1},
	}, foreigntest.Times)
	must.Equal(t, "directory", r.Sessions[0].Directory, "/src/shop")
	must.Equal(t, "project", r.Sessions[0].Project, "shop")
}

func TestOlderForms(t *testing.T) {
	sum := sha256.Sum256([]byte("/src/shop"))
	hash := hex.EncodeToString(sum[:])
	old := `{"sessionId":"s-old","projectHash":"` + hash + `","startTime":"2025-01-02T03:04:05Z","lastUpdated":"2025-01-02T03:05:05Z","messages":[
		` + message("o1", "user", "one") + `, {"type":"gemini","content":"no id"}, 7, ` + message("o1", "user", "ONE") + `], "summary":"Old"}`
	dir := foreigntest.Files(t, map[string]string{
		"projects.json": `{"projects":{"/src/shop":"shop"}}`,
		"tmp/" + hash + "/chats/session-2025-01-02T03-04-sold.json": old,
		"tmp/shop/chats/session-2025-01-02T03-04-sold.jsonl":        "",
	})
	r := foreigntest.Read(t, gemini.Format, dir)
	must.Equal(t, "turns", foreigntest.Texts(r.Turns["s-old"]), "user: ONE\nassistant: no id\n")
	must.Equal(t, "name", r.Sessions[0].Name, "Old")
	must.Equal(t, "directory", r.Sessions[0].Directory, "/src/shop")
	must.Equal(t, "skipped", r.Skips, []string{"tmp/" + hash + "/chats/session-2025-01-02T03-04-sold.json: message 3: message found JSON that is no object"})
}

func TestTheNewestFileOfASessionCounts(t *testing.T) {
	dir := foreigntest.Files(t, map[string]string{
		"tmp/shop/chats/session-2026-01-02T03-04-0b5e1234.json":  strings.TrimSuffix(head, "}") + `,"messages":[` + message("1", "user", "old") + `]}`,
		"tmp/shop/chats/session-2026-01-02T03-04-0b5e1234.jsonl": lines(head, message("1", "user", "new")),
	})
	r := foreigntest.Read(t, gemini.Format, dir)
	must.Equal(t, "turns", foreigntest.Texts(r.Turns[session]), "user: new\n")
	must.Says(t, "skipped", strings.Join(r.Skips, "\n"), "session "+session+" is in tmp/shop/chats/session-2026-01-02T03-04-0b5e1234.jsonl, too, which is newer")
}

func TestSubagents(t *testing.T) {
	sub := strings.Replace(head, session, "sub-1", 1)
	dir := foreigntest.Files(t, map[string]string{
		sample: lines(head, message("1", "user", "one")), "tmp/shop/chats/" + session + "/sub-1.jsonl": lines(sub, message("2", "user", "two")),
		"tmp/shop/chats/" + session + "/sub-2.jsonl": lines(head, message("3", "user", "three")),
	})
	r := foreigntest.Read(t, gemini.Format, dir)
	var got []string
	for _, s := range r.Sessions {
		got = append(got, string(s.ID)+" of "+string(s.Parent))
	}
	must.Equal(t, "sessions", got, []string{session + " of ", "sub-2 of " + session, "sub-1 of " + session})
}

func TestDocuments(t *testing.T) {
	dir := foreigntest.Files(t, map[string]string{
		".gemini/GEMINI.md":                   "## Gemini Added Memories\r\n- tabs\r\n- tabs\r\nnot a fact\r\n-\r\n",
		".gemini/tmp/shop/memory/MEMORY.md":   "# Shop\n",
		".gemini/tmp/shop/memory/sub/pay.md":  "Pay\n",
		".gemini/tmp/shop/memory/.inbox/x.md": "proposed",
		".gemini/tmp/other/.project_root":     "/src/till\n",
		".gemini/tmp/other/memory/MEMORY.md":  "# Till\n",
		"project/GEMINI.md":                   "hand-written",
		".gemini/tmp/shop/memory/empty.md":    "",
		".gemini/projects.json":               "[]",
	})
	r := foreigntest.Read(t, gemini.Format, dir)
	var notes []string
	for _, n := range r.Notes {
		notes = append(notes, n.Name)
	}
	must.Equal(t, "notes", notes, []string{"gemini/till/MEMORY", "gemini/shop/MEMORY", "gemini/shop/sub/pay"})
	must.Equal(t, "facts", len(r.Memories), 1)
	must.Equal(t, "skipped", r.Skips, []string{
		".gemini/projects.json: found JSON that is no object",
		".gemini/GEMINI.md: line 3: the same fact is there before",
		`.gemini/GEMINI.md: line 4: want a line that begins with "- ", found "not a fact"`,
	})
}

func TestDetect(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	must.Do(t, os.CopyFS(filepath.Join(home, ".gemini"), os.DirFS("testdata")))
	zipped := foreigntest.Zipped(t, "x.zip", home)
	foreigntest.Detects(t, gemini.Format, map[string]foreign.Match{
		"testdata": foreign.Sure, "testdata/tmp": foreign.Sure, "testdata/tmp/shop": foreign.Sure, "testdata/tmp/shop/chats": foreign.Sure,
		"testdata/" + sample: foreign.Sure, "testdata/GEMINI.md": foreign.Sure, zipped: foreign.Sure,
		foreigntest.Files(t, map[string]string{"GEMINI.md": "hand-written"}):                                                                 foreign.No,
		foreigntest.Files(t, map[string]string{"a/chats/session-1.jsonl": `{"sessionId":"x","type":"user"}`}):                                foreign.No,
		foreigntest.Files(t, map[string]string{"projects/-src-shop/memory/MEMORY.md": "x", "projects/-src-shop/x.jsonl": `{"sessionId":1}`}): foreign.No,
		foreigntest.Files(t, nil): foreign.No,
	})
	must.Equal(t, "turns in a zip", len(foreigntest.Read(t, gemini.Format, zipped).Turns[session]), 2)
}

func TestDamage(t *testing.T) {
	foreigntest.Damage(t, gemini.Format, "testdata", sample, 3)
	foreigntest.Damage(t, gemini.Format, "testdata", "GEMINI.md", 3)
}

func FuzzLog(f *testing.F) {
	foreigntest.Fuzz(f, gemini.Format, sample, must.Get(os.ReadFile(filepath.Join("testdata", sample)))(f),
		[]byte(lines(head, `{"$set":{"messages":[`+message("1", "user", "x")+`]}}`)))
}

func FuzzDocument(f *testing.F) {
	foreigntest.Fuzz(f, gemini.Format, "tmp/shop/chats/session-1.json", []byte(strings.TrimSuffix(head, "}")+`,"messages":[`+message("1", "user", "x")+`]}`))
}

func TestDamageOfTheOlderForm(t *testing.T) {
	const name = "tmp/shop/chats/session-2025.json"
	old := strings.TrimSuffix(head, "}") + `,"messages":[` + "\n  " + message("1", "user", "one") + ",\n  " + message("2", "gemini", "two") + ",\n  " + message("3", "user", "three") + "\n]}\n"
	foreigntest.Damage(t, gemini.Format, foreigntest.Files(t, map[string]string{name: old}), name, -1)
}

func TestHostileLines(t *testing.T) {
	dir := foreigntest.Files(t, map[string]string{sample: lines(
		head, strings.Repeat(`{"a":`, 20_000), `{"$set":7}`, `{"$set":{"messages":{"id":1}}}`, `{"id":[],"type":{},"content":1}`, "\x00",
		`{"id":"1","type":"user","content":"a\u0000`+"\xff"+`","timestamp":1e400}`,
		`{"id":"2","type":"gemini","content":{"text":{}},"toolCalls":{"x":1}}`,
		`{"id":"3","type":"user","content":[[[{"text":"deep"}]]],"timestamp":{}}`,
		`{"id":"4","type":"user","content":"b","timestamp":{}}`,
		`{"sessionId":"another","projectHash":"x"}`,
	)})
	r := foreigntest.Read(t, gemini.Format, dir)
	must.Equal(t, "session", r.Sessions[0].ID, "another")
	must.Equal(t, "turns", foreigntest.Texts(r.Turns["another"]), "user: b\n")
	must.Equal(t, "skipped", len(r.Skips), 3)
}
