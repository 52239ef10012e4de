package cursor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/cursor"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	sample = "testdata/sample"
	talk   = "projects/src-shop/agent-transcripts/7c0f/7c0f.jsonl"
)

func copied(t testing.TB) string { return foreigntest.Copied(t, sample) }

func hash(text string) string { return foreign.Hex(foreign.Digest(text)) }

func TestSample(t *testing.T) {
	t.Parallel()
	r := foreigntest.Read(t, cursor.Format, copied(t))
	must.Equal(t, "notes", r.Notes, []foreign.Note{{
		Place: foreign.Place{File: "rules/money.mdc"}, Name: "instructions/user/cursor/rules/money",
		Content: string(must.Get(os.ReadFile(sample + "/rules/money.mdc"))(t)), UpdatedAt: foreigntest.Modified,
	}}, foreigntest.Times)
	must.Equal(t, "sessions", r.Sessions, []foreign.Session{{
		Place: foreign.Place{File: talk}, ID: "7c0f", Name: "Fix the total", Project: "shop", StartedAt: foreigntest.Modified, EndedAt: foreigntest.Modified,
		Turns: 2, State: "line 2, " + hash("Done."),
	}}, foreigntest.Times)
	must.Equal(t, "turns", r.Turns["7c0f"], []foreign.Turn{
		{Place: foreign.Place{File: talk, At: "line 1"}, Key: foreign.Key{"7c0f", "1", hash("Fix the total")}, Role: amber.RoleUser, Content: "Fix the total", At: foreigntest.Modified},
		{Place: foreign.Place{File: talk, At: "line 2"}, Key: foreign.Key{"7c0f", "2", hash("Done.")}, Role: amber.RoleAssistant, Content: "Done.", At: foreigntest.Modified},
	}, foreigntest.Times)
	must.Equal(t, "skips", r.Skips, nil)
}

// heard reads one transcript.
func heard(t *testing.T, lines ...string) *foreigntest.Recorder {
	t.Helper()
	r := foreigntest.Read(t, cursor.Format, foreigntest.Files(t, map[string]string{talk: strings.Join(lines, "\n")}))
	for _, s := range r.Sessions {
		must.Equal(t, "announced turns", s.Turns, int64(len(r.Turns[s.ID])))
	}
	return r
}

func user(text string) string {
	return `{"role":"user","message":{"content":[{"type":"text","text":` + quoted(text) + `}]}}`
}

func quoted(s string) string { return string(foreign.Raw(s)) }

func TestPrompts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<user_query>\nFix it\n</user_query>":                                               "Fix it",
		"<timestamp>x</timestamp>\n<user_query>Fix it</user_query>":                         "Fix it",
		"<cursor_commands>\n--- a ---\n</cursor_commands>\n<user_query>Fix it</user_query>": "Fix it",
		"<user_query>Fix it": "Fix it",
		"<user_query>What is </user_query> for?</user_query>": "What is </user_query> for?",
		"plain": "plain",
		"<timestamp>x</timestamp> <cursor_commands>y</cursor_commands>\nplain": "plain",
		"<timestamp> is a tag": "<timestamp> is a tag",
	} {
		must.Equal(t, text, foreigntest.Texts(heard(t, user(text), user("end")).Turns["7c0f"]), "user: "+want+"\nuser: end\n")
	}
	must.Equal(t, "only commands", foreigntest.Texts(heard(t, user("<cursor_commands>y</cursor_commands>"), user("end")).Turns["7c0f"]), "user: end\n")
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	r := heard(t,
		`{"role":"user","message":{"content":"as a text"}}`,
		`{"role":"assistant","message":{"content":[{"type":"text","text":"I look.\n\n[REDACTED]"},{"type":"tool_use","name":"Shell","input":{"command":"ls"}}]}}`,
		`{"role":"assistant","message":{"content":[{"type":"tool_use","name":"StrReplace","input":{"path":"/src/a.go"}}]}}`,
		`{"role":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"}]}}`,
		`{"role":"user","message":{"content":[{"type":"tool_result","content":"out"},{"type":"text","text":"go on"}]}}`,
		`{"type":"turn_ended"}`, `{"role":"system","message":{"content":"no"}}`, `{"role":7,"message":[]}`,
		`{"role":"assistant","message":{"content":7}}`,
	)
	must.Equal(t, "turns", foreigntest.Texts(r.Turns["7c0f"]), "user: as a text\nassistant: I look.\ntool: out\nuser: go on\n")
	must.Equal(t, "activity", append(r.Turns["7c0f"][1].Activity, r.Turns["7c0f"][2].Activity...), []amber.Activity{
		{Kind: amber.ActivityTool, Name: "Shell", Detail: `{"command":"ls"}`, Count: 1},
		{Kind: amber.ActivityCommand, Name: "ls", Count: 1},
		{Kind: amber.ActivityTool, Name: "StrReplace", Detail: `{"path":"/src/a.go"}`, Count: 1},
		{Kind: amber.ActivityFile, Name: "/src/a.go", Status: "modified", Count: 1},
	}, foreigntest.Times)
	must.Equal(t, "skips", r.Skips, nil)
}

func TestTimes(t *testing.T) {
	t.Parallel()
	at := func(s string) amber.Time { return must.Get(amber.ParseTime(s))(t) }
	r := heard(t,
		user("first"),
		user("<timestamp>Tuesday, December 30, 2025, 7:05 PM (UTC+5:30)</timestamp><user_query>a</user_query>"),
		`{"role":"assistant","message":{"content":"b"}}`,
		user("<timestamp>Tuesday, Dec 30, 2025, 7:06 PM (UTC-3)</timestamp><user_query>c</user_query>"),
		`{"role":"assistant","timestamp":"2025-12-31T00:00:00Z","message":{"content":"d"}}`,
		`{"role":"assistant","timestamp":"1900-01-07T00:00:00Z","message":{"content":"not believed"}}`,
		user("<timestamp>Someday</timestamp><user_query>e</user_query>"),
		user("<timestamp>Tuesday, January 6, 1970, 7:05 PM (UTC)</timestamp><user_query>f</user_query>"),
	)
	var got []amber.Time
	for _, turn := range r.Turns["7c0f"] {
		got = append(got, turn.At)
	}
	b, c, d := at("2025-12-30T13:35:00Z"), at("2025-12-30T22:06:00Z"), at("2025-12-31T00:00:00Z")
	must.Equal(t, "times", got, []amber.Time{foreigntest.Modified, b, b, c, d, d, d}, foreigntest.Times)
	must.Equal(t, "session", []amber.Time{r.Sessions[0].StartedAt, r.Sessions[0].EndedAt}, []amber.Time{b, foreigntest.Modified}, foreigntest.Times)
	must.Equal(t, "skips", len(r.Skips), 1)
	must.Says(t, "", r.Skips[0], "line 6", "1900")
}

func TestBrokenLines(t *testing.T) {
	t.Parallel()
	r := heard(t, user("one"), "{", "[1]", "null", "{}", `{"role":"user","message":{"content":[{]}}`, "\x00\xff", strings.Repeat("[", 20000),
		`{"role":"user","message":{"content":`+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+`}}`, user("two\xff"))
	must.Equal(t, "turns", foreigntest.Texts(r.Turns["7c0f"]), "user: one\nuser: two\uFFFD\n")
	must.Equal(t, "skips", len(r.Skips), 6)
	must.Says(t, "", strings.Join(r.Skips, "\n"), "line 2:", "line 3:", "line 6:", "line 7:", "line 8:", "line 9:")
	must.Equal(t, "an empty file", len(foreigntest.Read(t, cursor.Format, foreigntest.Files(t, map[string]string{talk: "", "rules/a.mdc": "x"})).Sessions), 0)
}

func TestTranscriptsInEveryPlace(t *testing.T) {
	t.Parallel()
	const dir = "projects/home-me-my-shop/agent-transcripts/"
	r := foreigntest.Read(t, cursor.Format, foreigntest.Files(t, map[string]string{
		dir + "a/a.jsonl": user("nested"), dir + "b.jsonl": user("flat"), dir + "a/subagents/c.jsonl": user("sub"), dir + "old.txt": "user:\nx",
		"projects/other/agent-transcripts/b.jsonl": user("copy"), "projects/other/worker.log": "x", "extensions/x/AGENTS.md": "no", "extensions/x/.cursorrules": "no",
	}))
	got := map[amber.SessionID]string{}
	for _, s := range r.Sessions {
		got[s.ID] = s.Name + " of " + s.Project + " by " + string(s.Parent)
	}
	must.Equal(t, "sessions", got, map[amber.SessionID]string{"a": "nested of shop by ", "b": "flat of shop by ", "c": "sub of shop by a"})
	must.Equal(t, "skips", r.Skips, []string{dir + "old.txt: transcript is plain text, want JSON Lines", "projects/other/agent-transcripts/b.jsonl: session b was read from " + dir + "b.jsonl"})
	must.Equal(t, "notes", len(r.Notes), 0)
}

func TestRulesOfAProject(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		".cursor/rules/money.mdc": "---\nglobs: x\n---\ndecimals", ".cursor/rules/sub/x.mdc": "x", "pkg/.cursor/rules/y.mdc": "y", ".cursorrules": "old",
		"AGENTS.md": "all", "docs/rules/z.mdc": "no", ".cursor/mcp.json": "{}", "pkg/.cursorrules": " ",
	}
	dir := foreigntest.Put(t, t.TempDir()+"/shop", files)
	var names []string
	for _, n := range foreigntest.Read(t, cursor.Format, dir).Notes {
		names = append(names, n.Name)
	}
	must.Equal(t, "notes", names, []string{
		"instructions/shop/cursor/rules/money", "instructions/shop/cursor/rules/sub/x", "instructions/shop/cursorrules", "instructions/shop/AGENTS",
		"instructions/shop/pkg/cursor/rules/y",
	})
	for _, name := range []string{".cursor", ".cursor/rules", ".cursor/rules/money.mdc"} {
		must.Equal(t, name, foreigntest.Read(t, cursor.Format, filepath.Join(dir, name)).Notes[0].Name, "instructions/shop/cursor/rules/money")
	}
	must.Equal(t, "old rules", foreigntest.Read(t, cursor.Format, filepath.Join(dir, ".cursorrules")).Notes[0].Name, "instructions/shop/cursorrules")
	o := foreigntest.Options()
	o.Project = "mine"
	must.Equal(t, "a project that is named", foreigntest.ReadWith(t, cursor.Format, dir, o).Notes[2].Name, "instructions/mine/cursorrules")
}

func match(t *testing.T, name string) foreign.Match {
	t.Helper()
	tree := must.Get(foreign.Open(name))(t)
	defer tree.Close()
	return cursor.Format.Detect(tree)
}

func TestDetect(t *testing.T) {
	t.Parallel()
	home := copied(t)
	packed := foreigntest.Zipped(t, "cursor.zip", home)
	for _, name := range []string{
		home, packed, filepath.Join(home, "projects"), filepath.Join(home, "projects/src-shop"), filepath.Join(home, "projects/src-shop/agent-transcripts"),
		filepath.Join(home, "projects/src-shop/agent-transcripts/7c0f"), filepath.Join(home, talk), filepath.Join(home, "rules"), filepath.Join(home, "rules/money.mdc"),
	} {
		want := foreign.Sure
		if strings.HasPrefix(name, filepath.Join(home, "rules")) {
			want = foreign.Partly
		}
		must.Equal(t, name, match(t, name), want)
		r := foreigntest.Read(t, cursor.Format, name)
		must.Equal(t, name, r.Count() > 0, true)
		for _, s := range r.Sessions {
			must.Equal(t, name, s.Project, "shop")
		}
	}
	long := `{"role":"user","message":{"content":"` + strings.Repeat("x", 200_000) + `"}}`
	must.Equal(t, "a long line", match(t, foreigntest.Files(t, map[string]string{talk: long})), foreign.Sure)
	for what, files := range map[string]map[string]string{
		"Claude Code":       {"projects/-src-shop/5f0c2f0e-3b1d-4c57-9a55-0d3f6a7b8c01.jsonl": `{"type":"user","uuid":"x","sessionId":"y","message":{"role":"user","content":"x"}}`, "CLAUDE.md": "x"},
		"role beside an id": {"a.jsonl": `{"role":"user","uuid":"x","message":{"content":"x"}}`},
		"another chat":      {"a.jsonl": `{"role":"user","content":"x"}`},
		"AGENTS.md":         {"AGENTS.md": "x"},
		"an odd .mdc":       {"rules/a.mdc": "---\ntitle: x\n---\n"},
		"Markdown":          {"rules/a.md": "x", "b.md": "y"},
		"nothing":           {},
	} {
		must.Equal(t, what, match(t, foreigntest.Files(t, files)), foreign.No)
	}
	must.Equal(t, "homes", cursor.Format.Homes(nil, "/home/me"), []string{filepath.Join("/home/me", ".cursor")})
}

func TestDamage(t *testing.T) {
	t.Parallel()
	foreigntest.Damage(t, cursor.Format, sample, talk, 2)
	foreigntest.Damage(t, cursor.Format, sample, "rules/money.mdc", 1)
}

func FuzzTranscript(f *testing.F) {
	foreigntest.Fuzz(f, cursor.Format, talk, must.Get(os.ReadFile(filepath.Join(sample, talk)))(f),
		[]byte(`{"role":"user","timestamp":"2026-01-01","message":{"content":[{"type":"tool_result","content":"out"},{"type":"text","text":"<timestamp>Tuesday, January 6, 2026, 7:05 PM (UTC+5:30)</timestamp>"}]}}`))
}

func FuzzRule(f *testing.F) {
	foreigntest.Fuzz(f, cursor.Format, ".cursor/rules/a.mdc", must.Get(os.ReadFile(filepath.Join(sample, "rules/money.mdc")))(f))
}
