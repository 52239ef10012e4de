package mem0_test

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
	"github.com/amber-memory/amber/internal/share/foreign/mem0"
	"github.com/amber-memory/amber/internal/test/must"
)

const id = "f4cbdb08-7062-4f3e-8eb2-9f5c80dfe64c"

func text(t testing.TB, name string) string {
	return foreigntest.Script(t, filepath.Join("testdata", name))
}

func read(t testing.TB, name string) *foreigntest.Recorder {
	t.Helper()
	return foreigntest.Read(t, mem0.Mem0, name)
}

// readText reads a file alone.
func readText(t testing.TB, name, text string) *foreigntest.Recorder {
	t.Helper()
	return read(t, filepath.Join(foreigntest.Files(t, map[string]string{name: text}), name))
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func wantItem(t testing.TB) foreign.Memory {
	return foreign.Memory{
		Place: foreign.Place{File: "get_all.json", At: "item 1"}, Key: foreign.Key{"mem0", id}, Kind: amber.UserPreference, Scope: amber.ScopeUser,
		Identities: amber.Identities{UserID: "ada"}, Content: "Prefers tabs", Tags: []string{"preferences"}, Metadata: map[string]string{"source": "chat"},
		CreatedAt: foreigntest.At(t, "2026-01-02T03:04:05.678Z"), UpdatedAt: foreigntest.At(t, "2026-01-03T03:04:05.678Z"),
		Foreign: foreign.Fields{
			"id": raw(`"` + id + `"`), "hash": raw(`"0a"`), "user_id": raw(`"ada"`),
			"created_at": raw(`"2026-01-02T03:04:05.678901+00:00"`), "updated_at": raw(`"2026-01-03T03:04:05.678901+00:00"`),
		},
	}
}

func TestItemsOfAllEnvelopes(t *testing.T) {
	t.Parallel()
	list := strings.TrimSuffix(strings.TrimSpace(strings.SplitN(text(t, "get_all.json"), ":", 2)[1]), "}")
	for what, text := range map[string]string{
		"get_all": text(t, "get_all.json"), "bare list": list, "memories": `{"memories":` + list + `}`,
		"hosted":   `{"count":1,"next":null,"previous":null,"results":` + list + `}`,
		"OSS dump": `{"version":1,"kind":"mem0_oss_qdrant_export","exported_at":"x","source":{"sdk":"python"},"record_count":1,"records":` + list + `}`,
		"graph":    `{"relations":[{"source":"a"}],"results":` + list + `}`,
	} {
		r := readText(t, "get_all.json", text)
		must.Equal(t, what, r.Memories, []foreign.Memory{wantItem(t)}, foreigntest.Times)
		must.Equal(t, what, append(r.Skips, r.Warnings...), nil)
	}
}

func TestWhoseAndWhatKind(t *testing.T) {
	t.Parallel()
	r := readText(t, "a.json", `[
		{"id":"1","memory":"run","run_id":"r1","app_id":"shop","hash":"x"},
		{"id":"2","text":"app","app_id":"shop","metadata":{"type":"procedural_memory","deep":{"a":1},"n":3,"title":"Title","amber_id":"no id"}},
		{"id":"3","data":"nobody","expiration_date":"2026-02-01","metadata":"{\"memory_type\":\"procedural\"}"},
		{"id":"4","content":"user","user_id":"ada","run_id":"r1","categories":"Preference","agent_id":"agent","created_at":"2026-01-02T03:04:05-08:00"},
		{"id":"5","payload":{"data":"payload","user_id":"ada"},"vector":[1,2]},
		{"memory":"without an id","user_id":7},
		{"id":"6","memory":"known","run_id":"r1","metadata":{"amber_id":"01890a5d-ac96-774b-bcce-b302099a8057","amber_kind":"constraint"}}
	]`)
	var got []string
	for _, m := range r.Memories {
		got = append(got, strings.Join([]string{m.Content, string(m.Kind), string(m.Scope), m.For(m.Scope), m.ProjectID, fmt.Sprint(m.Metadata), m.Title, m.AmberID}, "|"))
	}
	must.Equal(t, "memories", got, []string{
		"run|user_fact|session|mem0-r1|shop|map[]||",
		"app|workflow_insight|project|shop|shop|map[amber_id:no id n:3 type:procedural_memory]|Title|",
		"nobody|workflow_insight|global|||map[expiration_date:2026-02-01 memory_type:procedural]||",
		"user|user_preference|user|ada||map[]||", "payload|user_fact|user|ada||map[]||", "without an id|user_fact|user|7||map[]||",
		"known|constraint|session|r1||map[]||01890a5d-ac96-774b-bcce-b302099a8057",
	})
	must.Equal(t, "zone", r.Memories[3].CreatedAt, foreigntest.At(t, "2026-01-02T11:04:05Z"), foreigntest.Times)
	must.Equal(t, "no time", r.Memories[0].CreatedAt, foreigntest.Modified, foreigntest.Times)
	must.Equal(t, "deep metadata", string(r.Memories[1].Foreign.(foreign.Fields)["metadata"]), `{"deep":{"a":1}}`)
	must.Equal(t, "key without an id", len(r.Memories[5].Key), 3)
	o := foreigntest.Options()
	o.User, o.Project = "bob", "other"
	named := foreigntest.ReadWith(t, mem0.Mem0, "testdata/get_all.json", o)
	must.Equal(t, "the caller's", named.Memories[0].Identities, amber.Identities{UserID: "bob", ProjectID: "other"})
}

func TestItemsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	r := readText(t, "a.json", `[{"id":"1","memory":"a","hash":"x"},7,{"id":"2","memory":""},{"id":"3","memory":["x"]},{"id":"4","memory":"late","created_at":"3026-01-02T03:04:05Z"},
		{"id":"5","memory":"odd","updated_at":"soon"},{"id":"1","memory":"a"},{"id":"1","memory":"b"},{"id":"6","memory":"z","hash":{},"categories":{"a":1},"metadata":[1]}]`)
	must.Equal(t, "memories", len(r.Memories), 2)
	must.Equal(t, "skipped", len(r.Skips), 6)
	must.Says(t, "skipped", strings.Join(r.Skips, "\n"), `item 2: item is "7"`, "item 3: item has no text", "item 4: item has no text", "item 5: created_at: time is 3026", "item 6: updated_at", "item 8: memory \"1\" is in these files twice")
}

func TestAPageOfAnAnswerIsNamed(t *testing.T) {
	t.Parallel()
	var items []string
	for i := range 20 {
		items = append(items, fmt.Sprintf(`{"id":"%d","memory":"m%d","user_id":"a"}`, i, i))
	}
	list := "[" + strings.Join(items, ",") + "]"
	must.Says(t, "20 items", strings.Join(readText(t, "a.json", `{"results":`+list+`}`).Warnings, ""), "exactly 20 memories")
	must.Says(t, "pages", strings.Join(readText(t, "a.json", `{"count":40,"next":"https://x/?page=2","results":[{"id":"1","memory":"a","user_id":"b"}]}`).Warnings, ""), "page=2")
	must.Equal(t, "19 items", readText(t, "a.json", "["+strings.Join(items[:19], ",")+"]").Warnings, nil)
}

func database(t testing.TB, more string) string {
	t.Helper()
	dir := foreigntest.Database(t, "history.db", text(t, "history.sql")+more)
	must.Do(t, os.Chtimes(filepath.Join(dir, "history.db"), foreigntest.Modified.Time(), foreigntest.Modified.Time()))
	return dir
}

func TestAHistoryHasRevisionsAndDeletions(t *testing.T) {
	t.Parallel()
	r := read(t, database(t, ""))
	first := foreigntest.At(t, "2026-01-02T03:04:05.678Z")
	must.Equal(t, "memories", r.Memories, []foreign.Memory{
		{
			Place: foreign.Place{File: "history.db", At: "history, row 1"}, Key: foreign.Key{"mem0", id}, Kind: amber.UserFact, Scope: amber.ScopeGlobal,
			Content: "Prefers tabs", CreatedAt: first, UpdatedAt: foreigntest.At(t, "2026-01-03T03:04:05.678Z"), Earlier: []foreign.Earlier{{Content: "Prefers spaces", At: first}},
		},
		{
			Place: foreign.Place{File: "history.db", At: "history, row 3"}, Key: foreign.Key{"mem0", "0c0ffee0-0000-4000-8000-000000000001"}, Kind: amber.UserFact, Scope: amber.ScopeGlobal,
			Content: "Old", CreatedAt: foreigntest.At(t, "2026-01-02T03:04:05Z"), UpdatedAt: foreigntest.At(t, "2026-01-02T03:04:05Z"), DeletedAt: foreigntest.At(t, "2026-01-04T03:04:05Z"),
		},
	}, foreigntest.Times)
	must.Equal(t, "skipped", r.Skips, nil)
}

// Older versions wrote no times for deletions, times of other zones, and events in any order.
func TestOddHistories(t *testing.T) {
	t.Parallel()
	r := read(t, database(t, `
		INSERT INTO history VALUES ('a1','a','x',NULL,'DELETE',NULL,NULL,1,NULL,NULL), ('a2','a',NULL,'x','ADD','2026-01-02T00:00:00-08:00',NULL,0,'ada','user');
		INSERT INTO history VALUES ('b1','b','two','three','UPDATE','2026-01-01T00:00:00Z','2026-01-03T00:00:00Z',0,NULL,NULL), ('b2','b','one','two','UPDATE','2026-01-01T00:00:00Z','2026-01-02T00:00:00Z',0,NULL,NULL);
		INSERT INTO history VALUES ('c1','c','gone',NULL,'DELETE',NULL,NULL,1,NULL,NULL), ('d1','d',NULL,NULL,'NONE',NULL,NULL,0,NULL,NULL), ('e1',NULL,NULL,'x','ADD',NULL,NULL,0,NULL,NULL), ('f1','f',NULL,'x','ADD','then',NULL,0,NULL,NULL);
		INSERT INTO history VALUES ('g1','g',NULL,'nul'||char(0),'ADD',1,NULL,0,NULL,NULL);`))
	got := map[string]string{}
	for _, m := range r.Memories {
		got[m.Key[1]] = fmt.Sprint(m.Content, " ", m.CreatedAt, " ", m.UpdatedAt, " ", m.DeletedAt, " ", m.Earlier, " ", m.Foreign)
	}
	delete(got, id)
	delete(got, "0c0ffee0-0000-4000-8000-000000000001")
	must.Equal(t, "memories", got, map[string]string{
		"a": "x 2026-01-02T08:00:00.000Z 2026-01-02T08:00:00.000Z 2026-01-02T08:00:00.000Z [] map[actor_id:ada role:user]",
		"b": "three 2026-01-01T00:00:00.000Z 2026-01-03T00:00:00.000Z  [{one 2026-01-01T00:00:00.000Z} {two 2026-01-02T00:00:00.000Z}] <nil>",
		"c": "gone 2026-01-02T03:04:05.000Z 2026-01-02T03:04:05.000Z 2026-01-02T03:04:05.000Z [] <nil>",
	})
	must.Equal(t, "skipped", len(r.Skips), 4)
	must.Says(t, "skipped", strings.Join(r.Skips, "\n"), `history of memory "d" has no text`, "row names no memory", `row 12: created_at: time is "then"`, `row 13: created_at: time is "1"`)
}

// A dump knows whose a memory is, the history what it was: together they are one memory.
func TestHistoryAndDumpTogether(t *testing.T) {
	t.Parallel()
	dir := database(t, "")
	must.Do(t, os.WriteFile(filepath.Join(dir, "get_all.json"), []byte(text(t, "get_all.json")), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"user_id":"x"}`), 0o600))
	r := read(t, dir)
	must.Equal(t, "memories", len(r.Memories), 2)
	want := wantItem(t)
	want.Earlier = []foreign.Earlier{{Content: "Prefers spaces", At: foreigntest.At(t, "2026-01-02T03:04:05.678Z")}}
	must.Equal(t, "joined", r.Memories[1], want, foreigntest.Times)
	must.Equal(t, "skipped", append(r.Skips, r.Warnings...), nil)
}

func TestDatabasesOfOthers(t *testing.T) {
	t.Parallel()
	for _, script := range []string{
		strings.ReplaceAll(text(t, "history.sql"), " history ", " past ") + "CREATE VIEW history AS SELECT * FROM past;",
		"CREATE TABLE history (id, url, title);", "CREATE TABLE other (x);",
	} {
		dir := foreigntest.Database(t, "history.db", script)
		foreigntest.Detects(t, mem0.Mem0, map[string]foreign.Match{dir: foreign.No})
		r := foreigntest.ReadAny(t, mem0.Mem0, dir)
		must.Equal(t, "items", r.Count(), 0)
		must.Says(t, "", strings.Join(r.Skips, ""), "lacks the table history")
	}
	must.Equal(t, "missing columns", len(read(t, foreigntest.Database(t, "history.db",
		"CREATE TABLE history (memory_id, old_memory, new_memory, event); INSERT INTO history VALUES ('a', NULL, 'x', 'ADD');")).Memories), 1)
}

func TestAnEnormousText(t *testing.T) {
	t.Parallel()
	r := read(t, database(t, fmt.Sprintf(`INSERT INTO history VALUES ('x','x',NULL,CAST(zeroblob(%d) AS TEXT),'ADD',NULL,NULL,0,NULL,NULL), ('y','y',NULL,'after','ADD',NULL,NULL,0,NULL,NULL);`, foreign.MaxItemBytes+1)))
	must.Equal(t, "after", r.Memories[2].Content, "after")
	must.Equal(t, "skipped", len(r.Skips), 1)
	must.Says(t, "skipped", r.Skips[0], "history, row 5: row has a value of more than")
}

func TestMarkdownOfThePlugin(t *testing.T) {
	t.Parallel()
	const name = "mem0-export-shop-2026-01-02.md"
	r := read(t, filepath.Join("testdata", name))
	created := foreigntest.At(t, "2026-01-02T03:04:05Z")
	must.Equal(t, "memories", r.Memories, []foreign.Memory{{
		Place: foreign.Place{File: name, At: "line 1"}, Key: foreign.Key{"mem0", id}, Kind: amber.UserPreference, Scope: amber.ScopeProject,
		Identities: amber.Identities{ProjectID: "shop"}, Content: "Prefers tabs.", Tags: []string{"preferences"},
		Metadata:   map[string]string{"type": "user_preference", "confidence": "0.9", "branch": "main"},
		SourceRefs: []amber.SourceRef{{Kind: "file", Value: "a.go"}, {Kind: "file", Value: "b.go"}}, CreatedAt: created, UpdatedAt: created,
	}}, foreigntest.Times)
	r = readText(t, "renamed.md", "\xef\xbb\xbf---\r\nid: 1\r\ncreated_at: 2026-01-02T03:04:05Z\r\n---\r\nA rule:\r\n\r\n---\r\n\r\nbelow\r\n\r\n---\r\nid: 2\r\ncreated_at: never\r\n---\r\nx\r\n---\r\nid: 3\r\n---\r\n\r\n---\r\nid: 4\r\n---\r\ny\r\n---\r\nid: 5\r\n")
	must.Equal(t, "memories", len(r.Memories), 2)
	must.Equal(t, "text", r.Memories[0].Content, "A rule:\n\n---\n\nbelow")
	must.Equal(t, "no time", r.Memories[1].CreatedAt, foreigntest.Modified, foreigntest.Times)
	must.Says(t, "skipped", strings.Join(r.Skips, "\n"), "line 11: created_at", "line 16: block has no text", "line 24: head of the block has no end")
	must.Equal(t, "skipped", len(r.Skips), 3)
}

func TestDetectMem0(t *testing.T) {
	t.Parallel()
	db := database(t, "")
	foreigntest.Detects(t, mem0.Mem0, map[string]foreign.Match{
		"testdata": foreign.Sure, "testdata/get_all.json": foreign.Sure, "testdata/mem0-export-shop-2026-01-02.md": foreign.Sure, "testdata/line.json": foreign.No,
		db: foreign.Sure, filepath.Join(db, "history.db"): foreign.Sure,
	})
	foreigntest.DetectsNone(t, mem0.Mem0, "memories.json",
		`[{"id":"1","memory":"a","metadata":{"memory_type":"UserMemory","user_id":"x"}}]`, `{"nodes":[{"id":"1","memory":"a","metadata":{}}]}`,
		`[{"id":"1","content":"a","attributes":{"topic":"x"},"created_at":"x"}]`, `{"profiles":[{"id":"1","content":"a"}]}`,
		`{"memories":[{"id":"1","customId":"x","title":"y","memory":"z","created_at":"x"}]}`, `{"export_metadata":{},"memories":[{"content":"a","content_hash":"b","user_id":"c","id":1}]}`,
		`{"user":{"user_id":"a"},"memories":[{"id":"1","user_id":"b","content":"c","state":"active"}]}`, `{"id":"1","content":"a","state":"active","app":"x","categories":[]}`,
		"", "[]", "{}", "12", `[{"role":"user","content":"x"}]`,
	)
}

func TestHomes(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	must.Equal(t, "home", mem0.Mem0.Homes(none, "/home/ada"), []string{filepath.Join("/home/ada", ".mem0")})
	must.Equal(t, "moved", mem0.Mem0.Homes(func(k string) string { return map[string]string{"MEM0_DIR": "/m"}[k] }, "/home/ada"), []string{"/m"})
}

func TestAnExportIsReadBack(t *testing.T) {
	t.Parallel()
	created := foreigntest.At(t, "2026-01-02T03:04:05.678Z")
	memories := []amber.Memory{
		{ID: "01890a5d-ac96-774b-bcce-b302099a8057", Kind: amber.Constraint, Scope: amber.ScopeSession, Identities: amber.Identities{SessionID: "s1", UserID: "ada"}, Title: "T", Content: "a <b>\n\"c\"", Tags: []string{"x"}, Metadata: map[string]string{"k": "v"}, CreatedAt: created, UpdatedAt: created},
		{ID: "01890a5d-ac96-774b-bcce-b302099a8058", Kind: amber.UserFact, Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "ada"}, Content: "z", CreatedAt: created, UpdatedAt: created},
	}
	dir := t.TempDir()
	must.Do(t, mem0.Mem0.Write(context.Background(), &foreigntest.Contents{MemoryList: memories}, foreign.WriteOptions{Agent: "amber"}, foreigntest.Folder(dir)))
	must.Equal(t, "text", foreigntest.Script(t, filepath.Join(dir, "out")), `[
  {"id":"01890a5d-ac96-774b-bcce-b302099a8057","memory":"a <b>\n\"c\"","hash":"2105e801227e2403397ec00a00453f91","created_at":"2026-01-02T03:04:05.678+00:00","updated_at":"2026-01-02T03:04:05.678+00:00","agent_id":"amber","run_id":"s1","categories":["x"],"metadata":{"amber_id":"01890a5d-ac96-774b-bcce-b302099a8057","amber_kind":"constraint","k":"v","title":"T"}},
  {"id":"01890a5d-ac96-774b-bcce-b302099a8058","memory":"z","hash":"fbade9e36a3f36d3d676c1b808451dd7","created_at":"2026-01-02T03:04:05.678+00:00","updated_at":"2026-01-02T03:04:05.678+00:00","user_id":"ada","agent_id":"amber","categories":[],"metadata":{"amber_id":"01890a5d-ac96-774b-bcce-b302099a8058","amber_kind":"user_fact"}}
]
`)
	r := read(t, filepath.Join(dir, "out"))
	for i, m := range memories {
		got := r.Memories[i]
		must.Equal(t, "memory", []string{got.AmberID, got.Content, string(got.Kind), string(got.Scope), got.For(got.Scope), got.Title, got.Metadata["k"]},
			[]string{string(m.ID), m.Content, string(m.Kind), string(m.Scope), m.For(m.Scope), m.Title, m.Metadata["k"]})
	}
	empty := t.TempDir()
	must.Do(t, mem0.Mem0.Write(context.Background(), &foreigntest.Contents{}, foreign.WriteOptions{}, foreigntest.Folder(empty)))
	must.Hold(t, json.Valid([]byte(foreigntest.Script(t, filepath.Join(empty, "out")))), "an empty export is no JSON")
}

func TestDamagedFilesGiveTheRest(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"get_all.json", "mem0-export-shop-2026-01-02.md"} {
		dir := foreigntest.Files(t, map[string]string{name: text(t, name)})
		foreigntest.Damage(t, mem0.Mem0, dir, name, 1)
	}
	dir := foreigntest.Files(t, map[string]string{"memories.jsonl": text(t, "line.json") + "\n" + strings.ReplaceAll(text(t, "line.json"), "7777", "8888")})
	foreigntest.Damage(t, mem0.OpenMemory, dir, "memories.jsonl", 1)
}

func FuzzJSON(f *testing.F) {
	foreigntest.Fuzz(f, mem0.Mem0, "get_all.json", []byte(text(f, "get_all.json")), []byte(`[{"id":"1","payload":{"data":"x"}}]`))
}

func FuzzHistory(f *testing.F) {
	foreigntest.Fuzz(f, mem0.Mem0, "history.db", must.Get(os.ReadFile(filepath.Join(database(f, ""), "history.db")))(f))
}

func FuzzMarkdown(f *testing.F) {
	foreigntest.Fuzz(f, mem0.Mem0, "mem0-export-shop-2026-01-02.md", []byte(text(f, "mem0-export-shop-2026-01-02.md")))
}

func FuzzOpenMemory(f *testing.F) {
	foreigntest.Fuzz(f, mem0.OpenMemory, "memories.jsonl", []byte(text(f, "line.json")))
}
