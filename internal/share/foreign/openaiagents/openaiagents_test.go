package openaiagents_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/openaiagents"
	"github.com/amber-memory/amber/internal/test/must"
)

const tables = `CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP, updated_at TIMESTAMP);
CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, message_data TEXT, created_at TIMESTAMP);
`

func read(t testing.TB, script string) *foreigntest.Recorder {
	t.Helper()
	return foreigntest.Read(t, openaiagents.Format, foreigntest.Database(t, "conversations.db", script))
}

func insert(session, data, at string) string {
	return "INSERT INTO agent_messages (session_id, message_data, created_at) VALUES ('" + session + "','" + strings.ReplaceAll(data, "'", "''") + "','" + at + "');\n"
}

func TestSample(t *testing.T) {
	r := read(t, foreigntest.Script(t, "testdata/session.sql"))
	must.Equal(t, "skipped", r.Skips, nil)
	first := foreign.Hex(foreign.Digest(`{"role":"user","content":"Why twice?"}`))
	second := foreign.Hex(foreign.Digest(`{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Each coupon rounds.","annotations":[]}]}`))
	must.Equal(t, "sessions", r.Sessions, []foreign.Session{{
		Place: foreign.Place{File: "conversations.db", At: "session ada"}, ID: "openai-agents-ada", Name: "Why twice?",
		StartedAt: foreigntest.At(t, "2026-01-02T03:04:05Z"), EndedAt: foreigntest.At(t, "2026-01-02T03:04:09Z"), Turns: 2, State: second + " 2",
	}}, foreigntest.Times)
	must.Equal(t, "turns", r.Turns["openai-agents-ada"], []foreign.Turn{
		{
			Place: foreign.Place{File: "conversations.db", At: "agent_messages, row 1"}, Key: foreign.Key{"ada", first, "0"},
			Role: amber.RoleUser, Content: "Why twice?", At: foreigntest.At(t, "2026-01-02T03:04:05Z"),
		},
		{
			Place: foreign.Place{File: "conversations.db", At: "agent_messages, row 2"}, Key: foreign.Key{"ada", second, "0"},
			Role: amber.RoleAssistant, Content: "Each coupon rounds.", At: foreigntest.At(t, "2026-01-02T03:04:09Z"),
		},
	}, foreigntest.Times)
}

func TestItemsOfEveryKind(t *testing.T) {
	const when = "2026-01-02 03:04:05"
	r := read(t, tables+
		insert("b", `{"role":"user","content":"again"}`, when)+
		insert("a", `{"role":"user","content":"again"}`, when)+
		insert("a", `{"role":"user","content":"again"}`, when)+
		insert("a", `{"role":"developer","content":"rules"}`, when)+
		insert("a", `{"type":"reasoning","summary":[]}`, when)+
		insert("a", `{"type":"function_call","name":"shell","call_id":"c","arguments":"{\"command\":\"ls\"}"}`, when)+
		insert("a", `{"type":"function_call_output","call_id":"c","output":"Exit code: 1\nOutput:\nno"}`, when)+
		insert("a", `{"__enc__":1,"v":1,"kid":"k","payload":"x"}`, when)+
		insert("a", `{"role":"user"`, when)+
		insert("a", `{"role":"user","content":"late"}`, "2226-01-02 03:04:05")+
		insert("a", `{"role":"user","content":"no time"}`, ""))
	must.Equal(t, "a", foreigntest.Texts(r.Turns["openai-agents-a"]), "user: again\nuser: again\ntool: Exit code: 1\nOutput:\nno\nuser: no time\n")
	must.Equal(t, "b", foreigntest.Texts(r.Turns["openai-agents-b"]), "user: again\n")
	must.Equal(t, "second of a kind", r.Turns["openai-agents-a"][1].Key[2], "1")
	must.Equal(t, "failed command", r.Turns["openai-agents-a"][2].Activity[1].Status, "failed")
	must.Equal(t, "skipped", r.Skips, []string{
		"conversations.db: agent_messages, row 8: the message is encrypted, and its key is not here",
		"conversations.db: agent_messages, row 9: message_data is not valid JSON: unexpected EOF",
		"conversations.db: agent_messages, row 10: created_at: time is 2226-01-02T03:04:05Z, want one from 1990 to 2099",
	})
}

func TestTablesOfOtherNames(t *testing.T) {
	script := strings.NewReplacer("agent_sessions", "chat_sessions", "agent_messages", "chat_messages").Replace(foreigntest.Script(t, "testdata/session.sql"))
	r := read(t, "CREATE TABLE a_sessions (session_id TEXT, created_at TEXT, updated_at TEXT); INSERT INTO a_sessions VALUES ('ada','1999-01-01','1999-01-01');"+script)
	must.Equal(t, "turns", len(r.Turns["openai-agents-ada"]), 2)
	must.Equal(t, "started", r.Sessions[0].StartedAt, foreigntest.At(t, "2026-01-02T03:04:05Z"), foreigntest.Times)
}

func TestMissingTablesAndColumns(t *testing.T) {
	r := read(t, `CREATE TABLE m (session_id TEXT, message_data TEXT); INSERT INTO m VALUES ('ada','{"role":"user","content":"x"}'), (NULL, NULL), (7, x'00ff');`)
	must.Equal(t, "turns", foreigntest.Texts(r.Turns["openai-agents-ada"]), "user: x\n")
	must.Hold(t, !r.Turns["openai-agents-ada"][0].At.IsZero(), "a message without a time has none of the file")
	must.Equal(t, "skipped", len(r.Skips), 2)
}

func TestOnlyTheMainBranchCounts(t *testing.T) {
	r := read(t, tables+`CREATE TABLE message_structure (session_id TEXT, message_id INTEGER, branch_id TEXT);
INSERT INTO message_structure VALUES ('a',1,'main'),('a',2,'branch_1'),('a',1,'branch_1');`+
		insert("a", `{"role":"user","content":"one"}`, "2026-01-02 03:04:05")+
		insert("a", `{"role":"user","content":"aside"}`, "2026-01-02 03:04:05")+
		insert("a", `{"role":"user","content":"three"}`, "2026-01-02 03:04:05"))
	must.Equal(t, "turns", foreigntest.Texts(r.Turns["openai-agents-a"]), "user: one\nuser: three\n")
}

func TestDetect(t *testing.T) {
	dir := foreigntest.Database(t, "mine", foreigntest.Script(t, "testdata/session.sql"))
	other := foreigntest.Database(t, "x.db", `CREATE TABLE sessions (session_id TEXT, created_at TEXT, updated_at TEXT); CREATE TABLE messages (session_id TEXT, content TEXT);`)
	text := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(text, "a.db"), []byte("SQLite format 3\x00 but not"), 0o600))
	foreigntest.Detects(t, openaiagents.Format, map[string]foreign.Match{
		filepath.Join(dir, "mine"): foreign.Sure, dir: foreign.No, // by its name it is none
		other: foreign.No, text: foreign.No, t.TempDir(): foreign.No,
	})
}

func TestDamage(t *testing.T) {
	foreigntest.Damage(t, openaiagents.Format, foreigntest.Database(t, "x.db", foreigntest.Script(t, "testdata/session.sql")), "x.db", -1)
}

func FuzzMessage(f *testing.F) {
	f.Add(`{"role":"user","content":"x"}`, "2026-01-02 03:04:05")
	f.Add(`{"type":"function_call","name":"shell","call_id":"c","arguments":"{\"command\":[\"ls\"]}"}`, "")
	f.Add(`{"type":"function_call_output","call_id":"c","output":{"content":[],"success":false}}`, "x")
	dir := foreigntest.Database(f, "x.db", tables)
	db := must.Get(sql.Open("sqlite", filepath.Join(dir, "x.db")))(f)
	f.Cleanup(func() { must.Do(f, db.Close()) })
	f.Fuzz(func(t *testing.T, data, at string) {
		must.Get(db.Exec("DELETE FROM agent_messages; INSERT INTO agent_messages VALUES (1,'a',?,?)", data, at))(t)
		foreigntest.Read(t, openaiagents.Format, dir)
	})
}
