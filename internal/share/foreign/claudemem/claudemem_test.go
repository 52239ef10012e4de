package claudemem_test

import (
	"fmt"
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

const host = "5f0c2f0e-3b1d-4c57-9a55-0d3f6a7b8c01"

func script(t testing.TB) string { return foreigntest.Script(t, "testdata/claude-mem.sql") }

// database makes a database of the sample and more.
func database(t testing.TB, more string) string {
	t.Helper()
	return foreigntest.Database(t, "claude-mem.db", script(t)+more)
}

func export(t testing.TB) string { return foreigntest.Script(t, "testdata/export.json") }

func read(t testing.TB, name string) *foreigntest.Recorder {
	t.Helper()
	return foreigntest.Read(t, claudemem.Format, name)
}

func wantObservation(t testing.TB) foreign.Memory {
	created := foreigntest.At(t, "2026-01-02T03:05:05.678Z")
	return foreign.Memory{
		Place: foreign.Place{File: "claude-mem.db", At: "observations, row 1"}, Key: foreign.Key{"mem-1", "Totals rounded twice", "1767323105678"},
		Kind: amber.HistoricalCase, Identities: amber.Identities{SessionID: host, ProjectID: "shop"},
		Title: "Totals rounded twice", Summary: "Per coupon and per invoice", Content: "Each coupon rounded by itself.\n\n- Rounds at the invoice only",
		Tags: []string{"problem-solution"}, SourceRefs: []amber.SourceRef{{Kind: "file", Value: "total.go"}}, CreatedAt: created, UpdatedAt: created,
		Foreign: foreign.Object{"type": "bugfix", "memory_session_id": "mem-1", "prompt_number": "1", "files_read": []string{"total.go"}, "files_modified": []string{"total.go"}},
	}
}

func TestADatabaseIsRead(t *testing.T) {
	t.Parallel()
	r := read(t, database(t, ""))
	start, end := foreigntest.At(t, "2026-01-02T03:04:05.678Z"), foreigntest.At(t, "2026-01-02T03:14:05.678Z")
	must.Equal(t, "sessions", r.Sessions, []foreign.Session{{
		Place: foreign.Place{File: "claude-mem.db", At: "sdk_sessions, row 1"}, ID: host, Name: "Coupons", Binding: "claude-code", Project: "shop",
		StartedAt: start, EndedAt: end, Turns: 1, State: "1767323045678",
	}}, foreigntest.Times)
	must.Equal(t, "turns", r.Turns[host], []foreign.Turn{{
		Place: foreign.Place{File: "claude-mem.db", At: "user_prompts, row 1"}, Key: foreign.Key{host, "1"}, Role: amber.RoleUser, Content: "Fix the total", At: start,
	}}, foreigntest.Times)
	must.Equal(t, "memories", r.Memories, []foreign.Memory{wantObservation(t), {
		Place: foreign.Place{File: "claude-mem.db", At: "session_summaries, row 1"}, Key: foreign.Key{"mem-1", "summary", "1767323645678"},
		Kind: amber.SessionSummary, Identities: amber.Identities{SessionID: host, ProjectID: "shop"},
		Content:   "## Request\n\nFix the total\n\n## Learned\n\nRounding was in two places\n\n## Completed\n\nOne place left",
		CreatedAt: end, UpdatedAt: end, Foreign: foreign.Object{"memory_session_id": "mem-1"},
	}}, foreigntest.Times)
	must.Equal(t, "skipped", r.Skips, nil)
}

func TestAnExportIsRead(t *testing.T) {
	t.Parallel()
	r := read(t, "testdata/export.json")
	want := wantObservation(t)
	want.Place, want.Summary = foreign.Place{File: "export.json", At: "observations 1"}, ""
	want.AmberID = "01890a5d-ac96-774b-bcce-b302099a8057"
	delete(want.Foreign.(foreign.Object), "files_read")
	must.Equal(t, "memories", r.Memories, []foreign.Memory{want}, foreigntest.Times)
	must.Equal(t, "sessions", len(r.Sessions), 1)
	must.Equal(t, "name", r.Sessions[0].Name, "Fix the total")
	must.Equal(t, "skipped", r.Skips, nil)
}

// A database and an export of it in one folder are one: nothing comes twice.
func TestDatabaseAndExportTogether(t *testing.T) {
	t.Parallel()
	dir := database(t, "")
	must.Do(t, os.WriteFile(filepath.Join(dir, "export.json"), []byte(export(t)), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"CLAUDE_MEM_MODEL":"x"}`), 0o600))
	r := read(t, dir)
	must.Equal(t, "memories", len(r.Memories), 2)
	must.Equal(t, "sessions", len(r.Sessions), 1)
	must.Equal(t, "skipped", r.Skips, nil)
}

func TestProjectsOfTheCallerWin(t *testing.T) {
	t.Parallel()
	o := foreigntest.Options()
	o.Project = "other"
	r := foreigntest.ReadWith(t, claudemem.Format, database(t, ""), o)
	must.Equal(t, "identities", r.Memories[0].Identities, amber.Identities{SessionID: host, ProjectID: "other"})
	must.Equal(t, "project of the session", r.Sessions[0].Project, "other")
}

// Before schema 17 the ids had other names, and columns that came later are missing.
func TestOldColumnNames(t *testing.T) {
	t.Parallel()
	dir := foreigntest.Database(t, "claude-mem.db", `
		CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, claude_session_id TEXT, sdk_session_id TEXT, project TEXT, user_prompt TEXT, started_at TEXT, started_at_epoch INTEGER, status TEXT);
		CREATE TABLE observations (id INTEGER PRIMARY KEY, sdk_session_id TEXT, project TEXT, text TEXT, type TEXT, created_at TEXT, created_at_epoch INTEGER);
		CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, sdk_session_id TEXT, request TEXT, created_at TEXT);
		CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, claude_session_id TEXT, prompt_number INTEGER, prompt_text TEXT, created_at TEXT, created_at_epoch INTEGER);
		INSERT INTO sdk_sessions VALUES (1, 'host-1', 'sdk-1', 'shop', 'Do it' || char(10) || 'now', '2025-10-01T00:00:00.000Z', 1759276800000, 'active');
		INSERT INTO observations VALUES (1, 'sdk-1', 'shop', 'Old text', 'discovery', '2025-10-01T00:00:00.000Z', 1759276800000);
		INSERT INTO session_summaries VALUES (1, 'sdk-1', 'A request', '2025-10-01T00:00:00.000Z');
		INSERT INTO user_prompts VALUES (1, 'host-1', 2, 'second', NULL, NULL), (2, 'host-1', 1, 'first', NULL, 1759276800000), (3, 'host-2', 1, 'alone', NULL, NULL);`)
	must.Do(t, os.Chtimes(filepath.Join(dir, "claude-mem.db"), foreigntest.Modified.Time(), foreigntest.Modified.Time()))
	r := read(t, dir)
	must.Equal(t, "session", r.Sessions[0].Name+" "+string(r.Sessions[0].ID), "Do it host-1")
	must.Equal(t, "turns", foreigntest.Texts(r.Turns["host-1"]), "user: first\nuser: second\n")
	must.Equal(t, "a prompt without a time", r.Turns["host-1"][1].At, foreigntest.At(t, "2025-10-01T00:00:00Z"), foreigntest.Times)
	must.Equal(t, "a session without a time", r.Turns["host-2"][0].At, foreigntest.Modified, foreigntest.Times)
	must.Equal(t, "observation", r.Memories[0].Content+" "+string(r.Memories[0].Kind)+" "+string(r.Memories[0].SessionID), "Old text project_fact host-1")
	must.Equal(t, "summary", r.Memories[1].Key, foreign.Key{"sdk-1", "summary", "2025-10-01T00:00:00.000Z"})
}

func TestKindsAndWhatIsNotImported(t *testing.T) {
	t.Parallel()
	var more strings.Builder
	for i, typ := range []string{"bugfix", "decision", "feature", "change", "refactor", "discovery", "security_alert", "security_note", "how-it-works"} {
		fmt.Fprintf(&more, "INSERT INTO observations(memory_session_id,project,type,title,narrative,created_at,created_at_epoch) VALUES ('mem-1','shop','%s','t%d','n','x',1767323105678);", typ, i)
	}
	r := read(t, database(t, more.String()+`
		INSERT INTO observations(memory_session_id,project,type,narrative,created_at,created_at_epoch) VALUES ('mem-1','shop','sensitive','hush','x',1767323105678);
		INSERT INTO observations(memory_session_id,project,type,narrative,created_at,created_at_epoch) VALUES ('mem-1','observer-sessions','change','own','x',1767323105678);
		INSERT INTO observations(memory_session_id,project,type,narrative,created_at,created_at_epoch) VALUES ('mem-1','shop','change','in seconds','x',1767323105);
		INSERT INTO observations(memory_session_id,project,type,created_at,created_at_epoch) VALUES ('mem-1','shop','change','x',1767323105678);
		INSERT INTO observations(memory_session_id,project,type,narrative,merged_into_project,created_at,created_at_epoch) VALUES ('mem-9','shop','change','moved','store','x',1767323105678);
		INSERT INTO sdk_sessions(content_session_id,memory_session_id,project,started_at,started_at_epoch) VALUES ('own-1','mem-2','observer-sessions','x',1767323045678);
		INSERT INTO sdk_sessions(content_session_id,memory_session_id,project,platform_source,started_at,started_at_epoch) VALUES (' bad id ','mem-3','shop','codex','x',17673230456789);
		INSERT INTO user_prompts(content_session_id,prompt_number,prompt_text,created_at,created_at_epoch) VALUES ('own-1',1,'own','x',1767323045678),('',1,'nobody','x',1767323045678),('p',1,'late','x',17673230456789);`))
	var got []string
	for _, m := range r.Memories[1:10] {
		got = append(got, string(m.Kind))
	}
	must.Equal(t, "kinds", strings.Join(got, " "), "historical_case project_fact project_fact project_fact project_fact project_fact constraint constraint workspace_fact")
	moved := r.Memories[10]
	must.Equal(t, "merged project", moved.ProjectID+" "+moved.Foreign.(foreign.Object)["project"].(string)+" "+string(moved.SessionID), "store shop ")
	must.Equal(t, "sessions", len(r.Sessions), 2)
	must.Hold(t, strings.HasPrefix(string(r.Sessions[1].ID), "claude-mem-") && r.Sessions[1].Binding == "codex", "session is %+v", r.Sessions[1])
	must.Equal(t, "skipped", len(r.Skips), 6)
	must.Says(t, "skipped", strings.Join(r.Skips, "\n"), "row 11: observation is marked as sensitive, and such rows were not asked for", "observations, row 13: created_at: time is 1970", "row 14: row has no text",
		"prompt has no session id", "user_prompts, row 4: created_at", "sdk_sessions, row 3: started_at is not taken over")
}

// The import takes rows that the program marks as sensitive only where the caller asks for them.
func TestSensitiveRowsAreImportedWhenAskedFor(t *testing.T) {
	t.Parallel()
	dir := database(t, `INSERT INTO observations(memory_session_id,project,type,title,narrative,created_at,created_at_epoch)
		VALUES ('mem-1','shop','sensitive','Key','hush','x',1767323105678);`)
	without := read(t, dir)
	o := foreigntest.Options()
	o.Sensitive = true
	with := foreigntest.ReadWith(t, claudemem.Format, dir, o)
	must.Equal(t, "memories that were asked for", len(with.Memories), len(without.Memories)+1)
	i := slices.IndexFunc(with.Memories, func(m foreign.Memory) bool { return m.Content == "hush" })
	must.Hold(t, i >= 0, "memories are %+v, want one that says hush", with.Memories)
	must.Equal(t, "kind", with.Memories[i].Kind, amber.WorkspaceFact)
	must.Equal(t, "type", with.Memories[i].Foreign.(foreign.Object)["type"], any("sensitive"))
	must.Equal(t, "skipped", len(with.Skips), 0)
	must.Equal(t, "skipped otherwise", len(without.Skips), 1)
}

// The program writes several rows at one time, and titles may be missing.
func TestRowsOfOneKeyAreKept(t *testing.T) {
	t.Parallel()
	r := read(t, database(t, `
		INSERT INTO observations(memory_session_id,project,type,narrative,created_at,created_at_epoch) VALUES ('mem-1','shop','change','one','x',1767323105678),('mem-1','shop','change','two','x',1767323105678),('mem-1','shop','change','two','x',1767323105678);
		INSERT INTO user_prompts(content_session_id,prompt_number,prompt_text,created_at,created_at_epoch) VALUES ('`+host+`',1,'other','x',1767323045679),('`+host+`',1,'Fix the total','x',1767323045679);`))
	must.Equal(t, "memories", len(r.Memories), 4)
	must.Equal(t, "keys", len(r.Memories[1].Key)+len(r.Memories[2].Key), 7)
	must.Equal(t, "turns", foreigntest.Texts(r.Turns[host]), "user: Fix the total\nuser: other\n")
	must.Equal(t, "count", r.Sessions[0].Turns, 2)
}

func TestADatabaseInUse(t *testing.T) {
	t.Parallel()
	file := filepath.Join(database(t, ""), "claude-mem.db")
	insert := `INSERT INTO observations(memory_session_id,project,type,title,narrative,created_at,created_at_epoch) VALUES ('mem-1','shop','change','%[1]s','%[1]s','x',1767323105678);`
	foreigntest.InUse(t, file, fmt.Sprintf(insert, "in the log"), fmt.Sprintf(insert, "not committed"))
	for what, name := range map[string]string{"folder": filepath.Dir(file), "file": file, "read-only folder": foreigntest.Unwritable(t, file)} {
		r := read(t, name)
		must.Equal(t, what, len(r.Memories), 3)
		must.Equal(t, what, r.Memories[1].Content, "in the log")
		must.Equal(t, what, r.Skips, nil)
	}
}

func TestATableThatIsAViewIsNone(t *testing.T) {
	t.Parallel()
	renamed := strings.ReplaceAll(script(t), " observations", " observations_of")
	for _, s := range []string{
		renamed + "CREATE VIEW observations AS SELECT * FROM observations_of;",
		"CREATE TABLE observations (x); CREATE TABLE notes (y);",
		"CREATE TABLE observations (x); CREATE TABLE sdk_sessions (y); CREATE TABLE session_summaries (z);",
		"CREATE TABLE observations (x); CREATE VIRTUAL TABLE sdk_sessions USING fts5(content_session_id); CREATE TABLE session_summaries (z);",
	} {
		dir := foreigntest.Database(t, "claude-mem.db", s)
		foreigntest.Detects(t, claudemem.Format, map[string]foreign.Match{dir: foreign.No})
		r := foreigntest.ReadAny(t, claudemem.Format, dir)
		must.Equal(t, "items", r.Count(), 0)
		must.Says(t, "", strings.Join(r.Skips, ""), "database lacks the tables")
	}
}

func TestHostileCells(t *testing.T) {
	t.Parallel()
	r := read(t, database(t, fmt.Sprintf(`
		INSERT INTO observations(memory_session_id,project,type,title,narrative,facts,concepts,created_at,created_at_epoch) VALUES ('mem-1','shop','change','long',CAST(zeroblob(%d) AS TEXT),'','','x',1767323105678);
		INSERT INTO observations(memory_session_id,project,type,title,narrative,facts,concepts,files_read,created_at,created_at_epoch) VALUES ('mem-1','shop',x'ff00','nul','a'||char(0)||'b','[[["deep"]],{"a":1},7]','not a list','{"a":1}','x',1767323105678);
		INSERT INTO user_prompts(content_session_id,prompt_number,prompt_text,created_at,created_at_epoch) VALUES ('%s',9,CAST(zeroblob(%[1]d) AS TEXT),'x',1767323045678);
		INSERT INTO observations(memory_session_id,project,type,title,narrative,created_at,created_at_epoch) VALUES ('mem-1','shop','change','after','after','x',9e300),('mem-1','shop','change','last','last','x','1767323105678');`,
		foreign.MaxItemBytes+1, host)))
	must.Equal(t, "memories", len(r.Memories), 4)
	must.Equal(t, "text", r.Memories[1].Content, "a\x00b\n\n- 7")
	must.Equal(t, "tags", r.Memories[1].Tags, []string{"not a list"})
	must.Equal(t, "after the long one", r.Memories[2].Content, "last")
	must.Equal(t, "skipped", len(r.Skips), 3)
	must.Says(t, "skipped", strings.Join(r.Skips, "\n"), "observations, row 2: row has a value of more than", "user_prompts, row 2: row has a value", "row 4: created_at: time is")
}

// More prompts than are held at once come session by session, each whole and in order.
func TestPromptsThatLieAnywhere(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"exportedAt":"x","totalObservations":0,"observations":[],"sessions":[],"prompts":[`)
	const n, size = 6, 2 << 20
	for i := range n {
		for _, id := range []string{"a", "b", "c"} {
			fmt.Fprintf(&b, `{"content_session_id":%q,"prompt_number":%d,"prompt_text":"%d %s","created_at_epoch":1767323105678},`, id, n-i, n-i, strings.Repeat("x", size))
		}
	}
	text := strings.TrimSuffix(b.String(), ",") + `]}`
	r := read(t, foreigntest.Files(t, map[string]string{"export.json": text}))
	must.Equal(t, "sessions", len(r.Sessions), 3)
	for id, turns := range r.Turns {
		for i, turn := range turns {
			must.Hold(t, strings.HasPrefix(turn.Content, fmt.Sprint(i+1, " ")), "turn %d of %s is %.10s", i, id, turn.Content)
		}
		must.Equal(t, "turns of "+string(id), len(turns), n)
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	db := database(t, "")
	home := filepath.Join(t.TempDir(), "home")
	must.Do(t, os.CopyFS(filepath.Join(home, ".claude-mem"), os.DirFS(db)))
	renamed := filepath.Join(t.TempDir(), "backup.sqlite")
	must.Do(t, os.Rename(filepath.Join(database(t, ""), "claude-mem.db"), renamed))
	foreigntest.Detects(t, claudemem.Format, map[string]foreign.Match{
		db: foreign.Sure, filepath.Join(db, "claude-mem.db"): foreign.Sure, renamed: foreign.Sure, foreigntest.Zipped(t, "home.zip", home): foreign.Sure,
		"testdata/export.json": foreign.Sure, "testdata": foreign.Sure,
		foreigntest.Files(t, map[string]string{"a.json": `{"exportedAt":1,"traces":[]}`}):                                      foreign.No,
		foreigntest.Files(t, map[string]string{"a.json": `{"memories":[{"content_hash":"a"}],"observations":[{"text":"b"}]}`}): foreign.No,
		foreigntest.Files(t, map[string]string{"claude-mem.db": "SQLite format 3\x00 and no more"}):                            foreign.No,
		foreigntest.Files(t, map[string]string{"claude-mem.db": ""}):                                                           foreign.No,
	})
}

func TestHomes(t *testing.T) {
	t.Parallel()
	env := map[string]string{}
	homes := func() []string { return claudemem.Format.Homes(func(k string) string { return env[k] }, "/home/ada") }
	must.Equal(t, "home", homes(), []string{filepath.Join("/home/ada", ".claude-mem")})
	env["CLAUDE_MEM_DATA_DIR"] = "/data"
	must.Equal(t, "moved", homes(), []string{"/data"})
	home := foreigntest.Files(t, map[string]string{".claude-mem/settings.json": `{"CLAUDE_MEM_DATA_DIR":"~/mem"}`})
	none := func(string) string { return "" }
	must.Equal(t, "moved by its settings", claudemem.Format.Homes(none, home), []string{filepath.Join(home, "mem"), filepath.Join(home, ".claude-mem")})
}

func TestADamagedExportGivesTheRest(t *testing.T) {
	t.Parallel()
	foreigntest.Damage(t, claudemem.Format, "testdata", "export.json", 2)
}

func TestADamagedDatabaseEnds(t *testing.T) {
	t.Parallel()
	dir := database(t, "")
	file := filepath.Join(dir, "claude-mem.db")
	whole := must.Get(os.ReadFile(file))(t)
	damaged := t.TempDir()
	for i := 0; i < len(whole); i += 251 {
		broken := append([]byte{}, whole...)
		broken[i] ^= 0xff
		for _, b := range [][]byte{whole[:i], broken} {
			must.Do(t, os.WriteFile(filepath.Join(damaged, "claude-mem.db"), b, 0o600))
			foreigntest.ReadAny(t, claudemem.Format, damaged)
		}
	}
}

func FuzzExport(f *testing.F) {
	foreigntest.Fuzz(f, claudemem.Format, "export.json", []byte(export(f)))
}

func FuzzDatabase(f *testing.F) {
	dir := database(f, "")
	foreigntest.Fuzz(f, claudemem.Format, "claude-mem.db", must.Get(os.ReadFile(filepath.Join(dir, "claude-mem.db")))(f))
}
