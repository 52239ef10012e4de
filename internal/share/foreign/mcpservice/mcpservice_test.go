package mcpservice_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/mcpservice"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	even = "1dcedd79de3c97ba488a0007e97df76aa3cebee1d227cc7f76b3d03a6239c4d4"
	up   = "31a2324ad81566a59604ec575ba867bef576f4ffb95b147fc9bab2fa56df6f45"
)

func script(t testing.TB) string { return foreigntest.Script(t, "testdata/sqlite_vec.sql") }

// vectors puts a table of a module that is not linked in beside the others.
const vectors = `PRAGMA writable_schema = ON;
	INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('table', 'memory_embeddings', 'memory_embeddings', 0, 'CREATE VIRTUAL TABLE memory_embeddings USING vec0(content_embedding FLOAT[384])');
	PRAGMA writable_schema = OFF;`

func database(t testing.TB, more string) string {
	t.Helper()
	dir := foreigntest.Database(t, "sqlite_vec.db", script(t)+more+vectors)
	must.Do(t, os.Chtimes(filepath.Join(dir, "sqlite_vec.db"), foreigntest.Modified.Time(), foreigntest.Modified.Time()))
	return dir
}

func read(t testing.TB, name string) *foreigntest.Recorder {
	t.Helper()
	return foreigntest.Read(t, mcpservice.Format, name)
}

func TestADatabaseIsRead(t *testing.T) {
	t.Parallel()
	r := read(t, database(t, ""))
	must.Equal(t, "memories", r.Memories, []foreign.Memory{
		{
			Place: foreign.Place{File: "sqlite_vec.db", At: "memories, row 1"}, Key: foreign.Key{"default", even}, Kind: amber.ProjectFact,
			Content: "Round half to even", Tags: []string{"billing", "decision"}, CreatedAt: foreigntest.At(t, "2026-01-02T03:04:05.678Z"), UpdatedAt: foreigntest.At(t, "2026-01-02T03:04:05.678Z"),
			Foreign: map[string]any{"content_hash": even, "memory_type": "decision", "store": "default"},
		},
		{
			Place: foreign.Place{File: "sqlite_vec.db", At: "memories, row 2"}, Key: foreign.Key{"default", up}, Kind: amber.WorkspaceFact,
			Content: "Round up", CreatedAt: foreigntest.At(t, "2026-01-02T03:04:05Z"), UpdatedAt: foreigntest.At(t, "2026-01-02T03:04:05Z"), DeletedAt: foreigntest.At(t, "2026-01-02T03:05:45Z"),
			Foreign: map[string]any{"content_hash": up, "memory_type": "note", "store": "default"},
		},
	}, foreigntest.Times)
	must.Equal(t, "relations", r.Relations, []foreign.Relation{{
		Place: foreign.Place{File: "sqlite_vec.db", At: "memory_graph, row 1"}, From: foreign.Key{"default", even}, To: foreign.Key{"default", up},
		Type: "supersedes", Strength: 0.8, CreatedAt: foreigntest.At(t, "2026-01-02T03:04:06Z"),
	}}, foreigntest.Times)
	must.Equal(t, "skipped", r.Skips, nil)
}

func TestAnExportIsRead(t *testing.T) {
	t.Parallel()
	r := read(t, "testdata/export.json")
	created := foreigntest.At(t, "2026-01-02T03:04:05.678Z")
	must.Equal(t, "memories", r.Memories, []foreign.Memory{{
		Place: foreign.Place{File: "export.json", At: "memory 1"}, Key: foreign.Key{"default", even}, Kind: amber.ProjectFact, Content: "Round half to even",
		Tags: []string{"billing"}, CreatedAt: created, UpdatedAt: created, AmberID: "01890a5d-ac96-774b-bcce-b302099a8057",
		Foreign: map[string]any{"content_hash": even, "memory_type": "decision", "store": "default"},
	}}, foreigntest.Times)
	must.Equal(t, "skipped", r.Skips, nil)
}

func TestVariantsOfRows(t *testing.T) {
	t.Parallel()
	r := read(t, database(t, `
		INSERT INTO memories(content_hash,content,tags,memory_type,metadata,created_at,created_at_iso,superseded_by,store) VALUES
			('a','floats count','x, ,source:laptop,untagged','Learning','{"title":"T","n":1,"deep":[1],"amber_id":"01890a5d-ac96-774b-bcce-b302099a8057"}',1767323045.678,'2020-01-01T00:00:00Z','b','work'),
			('b','text counts without','["q","r"]','pattern','not JSON',NULL,'2020-01-01T00:00:00Z','gone',NULL),
			('c','no time',NULL,'error',NULL,NULL,NULL,NULL,''),
			('d','in milliseconds','','',NULL,1767323045678,NULL,NULL,NULL),
			('e','','','',NULL,NULL,NULL,NULL,NULL),
			('','no hash','','',NULL,NULL,NULL,NULL,NULL),
			('f','nul'||char(0)||'byte','','',x'ff00',-1e400,NULL,NULL,NULL);
		INSERT INTO memory_graph VALUES ('a','b',1.5,'[]','{}',1767323046.0,NULL),('a','c',-1,'[]','{}',0,'x'),('b','a',0,'[]','{}',1767323046.0,'causes'),('b','nobody',0.5,'[]','{}',1767323046.0,'related'),('b','c','much','','',1767323046.0,'related');`))
	var got []string
	for _, m := range r.Memories[2:] {
		got = append(got, fmt.Sprint(m.Key, " ", m.Kind, " ", m.Tags, " ", m.Metadata, " ", m.Title, " ", m.CreatedAt, " ", m.AmberID))
	}
	must.Equal(t, "memories", got, []string{
		"[work a] workflow_insight [x] map[n:1] T 2026-01-02T03:04:05.678Z 01890a5d-ac96-774b-bcce-b302099a8057",
		"[default b] workflow_insight [q r] map[]  2020-01-01T00:00:00.000Z ",
		"[default c] historical_case [] map[]  2026-01-02T03:04:05.000Z ",
	})
	must.Equal(t, "deep metadata", string(foreign.Raw(r.Memories[2].Foreign.(map[string]any)["metadata"])), `{"deep":[1]}`)
	got = nil
	for _, x := range r.Relations {
		got = append(got, fmt.Sprint(x.From, " ", x.Type, " ", x.To, " ", x.Strength))
	}
	must.Equal(t, "relations", got, []string{
		"[default b] supersedes [work a] 1", "[default " + even + "] supersedes [default " + up + "] 0.8",
		"[work a] related [default b] 1", "[default b] causes [work a] 0.001", "[default b] related [default c] 1",
	})
	must.Equal(t, "skipped", len(r.Skips), 7)
	must.Says(t, "skipped", strings.Join(r.Skips, "\n"), "memories, row 6: created_at: time is", "row 7: memory has no content", "row 8: memory has no content_hash", "row 9: created_at",
		`memories, row 4: relation "supersedes" from "gone"`, "memory_graph, row 3: created_at", `no memory "nobody"`)
}

func TestTheCallerNamesTheProject(t *testing.T) {
	t.Parallel()
	o := foreigntest.Options()
	o.Project = "shop"
	r := foreigntest.ReadWith(t, mcpservice.Format, "testdata/export.json", o)
	must.Equal(t, "identities", r.Memories[0].Identities, amber.Identities{ProjectID: "shop"})
}

func TestDatabaseAndExportTogether(t *testing.T) {
	t.Parallel()
	dir := database(t, "")
	must.Do(t, os.WriteFile(filepath.Join(dir, "export.json"), []byte(foreigntest.Script(t, "testdata/export.json")), 0o600))
	must.Do(t, os.Mkdir(filepath.Join(dir, "backups"), 0o700))
	must.Do(t, os.Rename(filepath.Join(database(t, "UPDATE memories SET content = 'Round HALF to even';"), "sqlite_vec.db"), filepath.Join(dir, "backups", "sqlite_vec.db")))
	r := read(t, dir)
	must.Equal(t, "memories", len(r.Memories), 2)
	must.Equal(t, "the program's own file comes first", r.Memories[0].Content, "Round half to even")
	must.Equal(t, "relations", len(r.Relations), 1)
	must.Equal(t, "skipped", len(r.Skips), 2)
	must.Says(t, "skipped", r.Skips[0], "backups/sqlite_vec.db: memories, row 1", "twice")
}

// Another revision for each row would be made otherwise when the export is imported behind the database.
func TestDatabaseAndExportSayTheSame(t *testing.T) {
	t.Parallel()
	of := func(r *foreigntest.Recorder) foreign.Memory {
		m := r.Memories[0]
		m.Place, m.AmberID = foreign.Place{}, ""
		return m
	}
	export := foreigntest.Files(t, map[string]string{"export.json": `{"export_metadata":{"source_machine":"laptop"},"memories":[{"content":"Round half to even","content_hash":"` + even + `",
		"tags":["billing","decision"],"created_at":1767323045.678,"updated_at":1767323045.678,"memory_type":"decision","metadata":{},"export_source":"laptop"}]}`})
	must.Equal(t, "memory", of(read(t, export)), of(read(t, database(t, ""))), foreigntest.Times)
}

func TestDatabasesOfOthers(t *testing.T) {
	t.Parallel()
	for _, script := range []string{
		strings.ReplaceAll(script(t), " memories", " rows_of") + "CREATE VIEW memories AS SELECT * FROM rows_of;",
		"CREATE TABLE memories (id, content, tags);", "CREATE VIRTUAL TABLE memories USING fts5(content_hash, content, tags, memory_type);",
	} {
		dir := foreigntest.Database(t, "sqlite_vec.db", script)
		foreigntest.Detects(t, mcpservice.Format, map[string]foreign.Match{dir: foreign.No})
		r := foreigntest.ReadAny(t, mcpservice.Format, dir)
		must.Equal(t, "items", r.Count(), 0)
		must.Says(t, "", strings.Join(r.Skips, ""), "lacks the table memories")
	}
	// An older one, without a graph and the columns that came later, and with a view in the place of the graph.
	for _, more := range []string{"", "CREATE VIEW memory_graph AS SELECT 'a' AS source_hash, 'b' AS target_hash;"} {
		r := read(t, foreigntest.Database(t, "sqlite_vec.db", "CREATE TABLE memories (content_hash, content, tags, memory_type); INSERT INTO memories VALUES ('a', 'x', NULL, NULL), ('b', 'y', NULL, NULL);"+more))
		must.Equal(t, "memories", len(r.Memories), 2)
		must.Equal(t, "relations", len(r.Relations), 0)
	}
}

func TestAnEnormousText(t *testing.T) {
	t.Parallel()
	r := read(t, database(t, fmt.Sprintf(`INSERT INTO memories(content_hash,content) VALUES ('x',CAST(zeroblob(%d) AS TEXT)),('y','after');
		INSERT INTO memory_graph VALUES ('x','y',1,'[]','{}',1767323046.0,'related');`, foreign.MaxItemBytes+1)))
	must.Equal(t, "after", r.Memories[2].Content, "after")
	must.Equal(t, "skipped", len(r.Skips), 2)
	must.Says(t, "skipped", strings.Join(r.Skips, "\n"), "memories, row 3: row has a value of more than", `no memory "x"`)
}

func TestRowsOfAnExportThatCannotBeRead(t *testing.T) {
	t.Parallel()
	r := read(t, foreigntest.Files(t, map[string]string{"export.json": `{"export_metadata":{},"other":[1],"memories":[{"content":"a","content_hash":"h","tags":"x,y","created_at":"2026-01-02T03:04:05Z","metadata":"{\"k\":\"v\"}","store":"work"},
		7,{"content":"b"},{"content":"A","content_hash":"h","store":"work"},{"content":["c"],"content_hash":"i"},{"content":"d","content_hash":"j","created_at":1e300,"tags":{"a":1},"metadata":[]},{"content":"e","content_hash":"k","created_at":"1767323045.5"}]}`}))
	must.Equal(t, "memories", len(r.Memories), 2)
	must.Equal(t, "tags", r.Memories[0].Tags, []string{"x", "y"})
	must.Equal(t, "metadata", r.Memories[0].Metadata, map[string]string{"k": "v"})
	must.Equal(t, "a number in quotes", r.Memories[1].CreatedAt, foreigntest.At(t, "2026-01-02T03:04:05.5Z"), foreigntest.Times)
	must.Equal(t, "skipped", len(r.Skips), 5)
	must.Says(t, "list", strings.Join(read(t, foreigntest.Files(t, map[string]string{"e.json": `{"export_metadata":{"exporter_version":"1","total_memories":1},"memories":{"a":1}}`})).Skips, ""), "want a list")
}

func TestDetect(t *testing.T) {
	t.Parallel()
	db := database(t, "")
	foreigntest.Detects(t, mcpservice.Format, map[string]foreign.Match{
		"testdata": foreign.Sure, "testdata/export.json": foreign.Sure, "testdata/sqlite_vec.sql": foreign.No, db: foreign.Sure, filepath.Join(db, "sqlite_vec.db"): foreign.Sure,
	})
	foreigntest.DetectsNone(t, mcpservice.Format, "a.json",
		"", "{}", "[]", `{"memories":[{"id":"1","memory":"a"}]}`, `{"memories":[{"content_hash":"a"}]}`, `{"export_metadata":{"total":1},"agents":[]}`)
}

func TestHomes(t *testing.T) {
	t.Parallel()
	env := map[string]string{"MCP_MEMORY_BASE_DIR": "/base", "LOCALAPPDATA": "/local"}
	must.Equal(t, "homes", mcpservice.Format.Homes(func(k string) string { return env[k] }, "/home/ada"), []string{
		"/base", filepath.Join("/home/ada", ".local", "share", "mcp-memory"), filepath.Join("/home/ada", "Library", "Application Support", "mcp-memory"), filepath.Join("/local", "mcp-memory"),
	})
}

func TestAnExportIsReadBack(t *testing.T) {
	t.Parallel()
	created := foreigntest.At(t, "2026-01-02T03:04:05.078Z")
	memories := []amber.Memory{
		{ID: "01890a5d-ac96-774b-bcce-b302099a8057", Kind: amber.ProjectFact, Title: "T", Content: " Round <half> \"to\"\nEVEN ", Tags: []string{"billing"}, Metadata: map[string]string{"k": "v"}, CreatedAt: created, UpdatedAt: created},
		{ID: "01890a5d-ac96-774b-bcce-b302099a8058", Kind: amber.WorkflowInsight, Content: "x", CreatedAt: created, UpdatedAt: created, Foreign: map[string]json.RawMessage{"mcp-memory-service": json.RawMessage(`{"memory_type":"pattern"}`)}},
		{ID: "01890a5d-ac96-774b-bcce-b302099a8059", Kind: amber.HistoricalCase, Content: "y", CreatedAt: created, UpdatedAt: created},
	}
	dir := t.TempDir()
	o := foreign.WriteOptions{At: foreigntest.At(t, "2026-01-03T00:00:00Z")}
	must.Do(t, mcpservice.Format.Write(context.Background(), &foreigntest.Contents{MemoryList: memories}, o, foreigntest.Folder(dir)))
	sum := sha256.Sum256([]byte("round <half> \"to\"\neven"))
	text := foreigntest.Script(t, filepath.Join(dir, "out"))
	must.Says(t, "first lines", text, `{
  "export_metadata": {"source_machine":"amber","export_timestamp":"2026-01-03T00:00:00.000Z","total_memories":3,"database_path":"unknown","include_embeddings":false,"filter_tags":null,"exporter_version":"amber"},
  "memories": [
    {"content":" Round <half> \"to\"\nEVEN ","content_hash":"`+hex.EncodeToString(sum[:])+`","tags":["billing"],"created_at":1767323045.078,"updated_at":1767323045.078,"memory_type":"decision","metadata":{"amber_id":"01890a5d-ac96-774b-bcce-b302099a8057","k":"v","title":"T"},"store":"default","export_source":"amber"},
`, `"memory_type":"pattern"`, `"memory_type":"error"`)
	r := read(t, filepath.Join(dir, "out"))
	for i, m := range memories {
		got := r.Memories[i]
		must.Equal(t, "memory", []string{got.AmberID, got.Content, string(got.Kind), got.Title, got.Metadata["k"], got.CreatedAt.String()},
			[]string{string(m.ID), m.Content, string(m.Kind), m.Title, m.Metadata["k"], m.CreatedAt.String()})
	}
	empty := t.TempDir()
	must.Do(t, mcpservice.Format.Write(context.Background(), &foreigntest.Contents{}, o, foreigntest.Folder(empty)))
	must.Equal(t, "empty", read(t, filepath.Join(empty, "out")).Count(), 0)
}

// The digest of the sample is the one that an export would have.
func TestHashesAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(t, mcpservice.Format.Write(context.Background(), &foreigntest.Contents{MemoryList: []amber.Memory{{Content: "Round half to even"}}}, foreign.WriteOptions{}, foreigntest.Folder(dir)))
	must.Says(t, "hash", foreigntest.Script(t, filepath.Join(dir, "out")), even)
}

func TestDamagedFilesGiveTheRest(t *testing.T) {
	t.Parallel()
	foreigntest.Damage(t, mcpservice.Format, "testdata", "export.json", 1)
}

func FuzzExport(f *testing.F) {
	foreigntest.Fuzz(f, mcpservice.Format, "export.json", []byte(foreigntest.Script(f, "testdata/export.json")))
}

func FuzzDatabase(f *testing.F) {
	foreigntest.Fuzz(f, mcpservice.Format, "sqlite_vec.db", must.Get(os.ReadFile(filepath.Join(database(f, ""), "sqlite_vec.db")))(f))
}
