package nexo

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/test/must"
)

// mustImport imports, and looks at what came of it as at a stranger's.
func mustImport(t *testing.T, dir string, agent amber.AgentID) (string, []Count) {
	t.Helper()
	path, left, err := importNexo(t, dir, agent)
	must.Do(t, err)
	e := must.Get(image.Examine(t.Context(), path, true))(t)
	for _, c := range e.Checks {
		must.Hold(t, c.OK, "%s: %s", c.Name, c.Detail)
	}
	must.Equal(t, "checks", len(e.Checks), 6)
	must.Equal(t, "mode", must.Get(os.Stat(path))(t).Mode().Perm(), 0o600)
	return path, left
}

// comesOver is everything of a memory.db that comes over.
type comesOver struct {
	Memories    []amber.Memory
	Concepts    map[string]string
	Embeddings  []amber.Embedding
	Relations   []amber.Relation
	Turns       []amber.Turn
	Sessions    []amber.Session
	Compactions []amber.Compaction
}

// full fills a store with one of everything.
func full(t *testing.T) (*store, *clock) {
	t.Helper()
	s, clock := freshStore(t)
	ctx := t.Context()
	ids := []amber.MemoryID{}
	for _, r := range []amber.WriteRequest{
		{Content: "plain"},
		{Content: "Fridays only", Title: "Deploys", Kind: amber.ProjectFact, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "billing", UserID: "ana"}},
		{Content: "Title begins it", Title: "Title", Tags: []string{"b", "a"}, Kind: amber.UserPreference},
		{
			Content: "many fields ☕\nand lines", Summary: "a summary", Topic: "Deploy days", Kind: amber.Constraint,
			Metadata: map[string]string{"k": "v"}, SourceRefs: []amber.SourceRef{{Kind: "url", Value: "http://localhost"}},
		},
		{Content: "deleted later"},
		{Content: "erased later"},
		{Content: "session fact", Scope: amber.ScopeSession, Identities: amber.Identities{SessionID: "chat 1"}, Kind: amber.SessionSummary},
	} {
		ids = append(ids, must.Get(s.Write(ctx, r))(t).ID)
	}
	edited := "many fields ☕\nand other lines"
	clock.move(time.Minute)
	must.Get(s.Edit(ctx, amber.EditRequest{ID: ids[3], Content: &edited}))(t)
	must.Do(t, s.Delete(ctx, ids[4]))
	must.Get(s.Erase(ctx, ids[5]))(t)
	must.Do(t, s.SetConcepts(ctx, ids[0], []string{"coffee", "snow"}))
	must.Do(t, s.SetConcepts(ctx, ids[2], []string{"title"}))
	for _, e := range []amber.Embedding{
		{MemoryID: ids[0], Model: "m4", Vector: []float32{0.5, -0.25, 0, 1}},
		{MemoryID: ids[1], Model: "m4", Vector: []float32{1, 2, 3, 4}},
		{MemoryID: ids[1], Model: "m2", Vector: []float32{1, 2}},
	} {
		s.putEmbedding(t, e)
	}
	must.Get(s.Relate(ctx, amber.Relation{From: ids[0], To: ids[1], Type: "related", Strength: 0.5}))(t)
	gone := must.Get(s.Relate(ctx, amber.Relation{From: ids[1], To: ids[0], Type: "supersedes", Strength: 1}))(t)
	must.Do(t, s.Unrelate(ctx, gone.ID))
	must.Get(s.StartSession(ctx, amber.SessionStart{ID: "chat 1", Name: "A chat", Binding: "telegram:7", Project: "billing"}))(t)
	must.Get(s.StartSession(ctx, amber.SessionStart{ID: "0b9c55b4-5f0e-4c0f-8f5d-2a1d3c4e5f60"}))(t)
	must.Get(s.EndSession(ctx, amber.SessionEnd{ID: "0b9c55b4-5f0e-4c0f-8f5d-2a1d3c4e5f60", Summary: "over"}))(t)
	for i := range 5 {
		at := amber.At(clock.read()).Add(time.Duration(-i) * time.Second) // the order is not that of the times
		turn := amber.Turn{SessionID: "chat 1", Role: amber.RoleUser, Content: fmt.Sprint("turn \x1b[1m", i), CreatedAt: at, ProjectID: "billing"}
		if i == 2 {
			turn.ID, turn.SessionID, turn.Role = "host:turn", "in no catalogue", amber.RoleTool
		}
		must.Get(s.AppendTurn(ctx, turn))(t)
	}
	for i := range 3 {
		must.Get(s.AddCompaction(ctx, amber.Compaction{ID: fmt.Sprint("c", i), SessionID: "chat 1", Summary: fmt.Sprint("so far ", i), Turns: i}))(t)
	}
	return s, clock
}

// sameHere ignores what belongs to the file a memory lies in.
var sameHere = cmp.Options{
	cmpopts.IgnoreFields(amber.Memory{}, "Origin", "Revision", "Trust"), cmpopts.IgnoreFields(amber.Relation{}, "Origin"), cmpopts.IgnoreFields(amber.Session{}, "Trust"),
	cmp.AllowUnexported(amber.Time{}),
}

func TestRoundTripBringsEverythingBack(t *testing.T) {
	t.Parallel()
	s, _ := full(t)
	copied, dir := copyOf(t, s), t.TempDir()
	left := must.Get(export(t, copied, dir, "ana"))(t)
	path, back := mustImport(t, dir, "ana")
	want := holds(t, copied)
	got := holds(t, path)
	must.Equal(t, "what came over", got, want, sameHere)
	for _, n := range got.Sessions {
		must.Equal(t, fmt.Sprintf("trust of session %s", n.ID), n.Trust, amber.TrustImported)
	}
	for _, m := range got.Memories {
		if m.Trust != amber.TrustImported || m.Revision != 1 || m.Origin.Device != importGeneration.Device {
			t.Errorf("%s has trust %s, revision %d and origin %+v", m.ID, m.Trust, m.Revision, m.Origin)
		}
	}
	must.Equal(t, "left out by the import", len(back), 0)
	must.Equal(t, "left out by the export", left, []Count{
		{"deleted memories", 1}, {"deleted relations", 1}, {"earlier revisions", 1}, {"marks of active sessions", 1}, {"names of erased memories", 1},
	})
	// Once more, from what came back: the same databases.
	again := exported(t, path)
	second, _ := mustImport(t, again, "ana")
	must.Equal(t, "what came over again", holds(t, second), got, sameHere)
}

// Prompts of others are not exported to nexo, which puts turns before an agent
// unasked. A file from before Amber recorded trust is its owner's.
func TestGetsNoPromptsOfOthers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t)
	must.Get(s.AppendTurn(ctx, amber.Turn{ID: "mine", SessionID: "s", Role: amber.RoleUser, Content: "hello"}))(t)
	for id, trust := range map[amber.TurnID]amber.Trust{"stranger": amber.TrustImported, "signed": amber.TrustSigned} {
		prompt := amber.Turn{ID: id, SessionID: "s", Role: amber.RoleUser, Content: "from " + string(id), CreatedAt: amber.UnixMilli(7)}
		must.Get(s.Apply(ctx, amber.Incoming{
			Place: "place", Chunk: string(id), Device: "far", Trust: trust, Records: []amber.SyncRecord{{Prompt: &prompt}},
		}))(t)
	}
	dir := t.TempDir()
	must.Equal(t, "left out", must.Get(export(t, copyOf(t, s), dir, "ana"))(t), []Count{{"prompts of others", 1}})
	path, _ := mustImport(t, dir, "ana")
	trust := []amber.Trust{}
	for _, turn := range holds(t, path).Turns {
		trust = append(trust, turn.Trust)
	}
	must.Equal(t, "trust", trust, []amber.Trust{"", amber.TrustSigned})
}

func linesOf(t *testing.T, db *sql.DB, query string) (lines []string) {
	t.Helper()
	r := must.Get(db.QueryContext(t.Context(), query))(t)
	defer r.Close()
	n := len(must.Get(r.Columns())(t))
	for r.Next() {
		values, into := make([]sql.NullString, n), make([]any, n)
		for i := range values {
			into[i] = &values[i]
		}
		must.Do(t, r.Scan(into...))
		line := ""
		for _, v := range values {
			line += v.String + "|"
		}
		lines = append(lines, line)
	}
	must.Do(t, r.Err())
	return lines
}

func TestExportIsWhatNexoReads(t *testing.T) {
	t.Parallel()
	s, _ := full(t)
	dir := exported(t, copyOf(t, s))
	found := []string{}
	for _, e := range must.Get(os.ReadDir(dir))(t) {
		info := must.Get(e.Info())(t)
		found = append(found, e.Name())
		must.Equal(t, "mode of "+e.Name(), info.Mode().Perm(), 0o600)
	}
	must.Equal(t, "files", found, []string{"compactions.sqlite", "concepts.sqlite", "long_term.sqlite", "vector.sqlite"})
	long := asked(t, filepath.Join(dir, LongTerm))
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"PRAGMA journal_mode", []string{"delete|"}},
		{"PRAGMA integrity_check", []string{"ok|"}},
		{
			"SELECT content, tags, concept_tags, memory_type, agent_id, typeof(created_at) FROM memories ORDER BY content", []string{
				"Deploys\n\nFridays only|[]|[]|\"project\"|ana|integer|",
				"Title begins it|[\"a\",\"b\"]|[\"title\"]|\"user\"|ana|integer|",
				"many fields ☕\nand other lines|[]|[]|\"feedback\"|ana|integer|",
				"plain|[]|[\"coffee\",\"snow\"]||ana|integer|",
				"session fact|[]|[]||ana|integer|",
			},
		},
		{"SELECT m.content FROM memories_fts f JOIN memories m ON m.id = f.id WHERE f.content MATCH 'fridays' AND f.agent_id = 'ana'", []string{"Deploys\n\nFridays only|"}},
		{"SELECT DISTINCT length(id), length(session_id), agent_id, role FROM interactions ORDER BY role", []string{"36|36|ana|tool|", "36|36|ana|user|"}},
		{"SELECT (SELECT count(*) FROM reminders) + (SELECT count(*) FROM email_followups) + (SELECT count(*) FROM recall_events) + (SELECT count(*) FROM memory_promotions)", []string{"0|"}},
	} {
		must.Equal(t, c.query, linesOf(t, long, c.query), c.want)
	}
	vector := asked(t, filepath.Join(dir, Vector))
	want := []string{"0000003F000080BE000000000000803F|", "0000803F000000400000404000008040|"}
	must.Equal(t, "vectors", linesOf(t, vector, "SELECT hex(embedding) FROM vec_memories ORDER BY 1"), want)
	compactions := asked(t, filepath.Join(dir, Compactions))
	want = []string{"so far 0|0|", "so far 1|1|", "so far 2|2|"}
	must.Equal(t, "compactions", linesOf(t, compactions, "SELECT summary, head_turn_count FROM compactions_v1 ORDER BY compacted_at"), want)
	must.Equal(t, "locks", len(linesOf(t, compactions, "SELECT * FROM compaction_locks_v1")), 0)
	concepts := asked(t, filepath.Join(dir, Concepts))
	must.Equal(t, "concepts", linesOf(t, concepts, "SELECT content, concept_tags FROM memories ORDER BY 2"), []string{"|[\"coffee\",\"snow\"]|", "|[\"title\"]|"})
}

func TestExportIsTheSameForTheSameMemory(t *testing.T) {
	t.Parallel()
	s, _ := full(t)
	copied := copyOf(t, s)
	a, b := t.TempDir(), t.TempDir()
	must.Get(export(t, copied, a, "ana"))(t)
	must.Get(export(t, copied, b, "ana"))(t)
	for _, name := range []string{LongTerm, Vector, Concepts, Compactions} {
		must.Equal(t, name, must.Get(os.ReadFile(filepath.Join(a, name)))(t), must.Get(os.ReadFile(filepath.Join(b, name)))(t))
	}
	must.Fail(export(t, copied, a, "ana"))(t, "over what is there", amber.KindConflict)
	must.Fail(export(t, filepath.Join(a, Vector), t.TempDir(), "ana"))(t, "of something else", amber.KindDamaged)
	must.Fail(export(t, copied, t.TempDir(), "../x"))(t, "as nobody", amber.KindInvalid)
}

// TestExportLeavesNothingOfTheDead looks through the bytes.
func TestExportLeavesNothingOfTheDead(t *testing.T) {
	t.Parallel()
	s, _ := full(t)
	dir := exported(t, copyOf(t, s))
	for _, e := range must.Get(os.ReadDir(dir))(t) {
		raw := must.Get(os.ReadFile(filepath.Join(dir, e.Name())))(t)
		for _, word := range []string{"deleted later", "erased later", "and lines"} {
			if bytes.Contains(raw, []byte(word)) {
				t.Errorf("%s holds %q", e.Name(), word)
			}
		}
	}
}

const (
	m1, m2 = "6f2c1c2e-0d1b-4a57-9a3e-0f6b6f0c7a01", "6f2c1c2e-0d1b-4a57-9a3e-0f6b6f0c7a02"
	t0     = 1767225600000
	chat   = "0b9c55b4-5f0e-4c0f-8f5d-2a1d3c4e5f60"
)

// byHand makes databases as nexo makes them.
func byHand(t *testing.T, long ...string) string {
	t.Helper()
	dir := t.TempDir()
	schema, _, _ := strings.Cut(longTermSchema, "-- Amber's")
	asked(t, filepath.Join(dir, LongTerm), append([]string{schema}, long...)...)
	return dir
}

func TestDatabasesOfTheOriginalAreImported(t *testing.T) {
	t.Parallel()
	dir := byHand(t,
		fmt.Sprintf(`INSERT INTO memories VALUES
 ('%s', 'ana', 'Ana prefers short answers.', '["preference"]', %d, '["answers","prefers"]', '"user"'),
 ('%s', 'ana', 'Deployed on Fridays ☕.', '["project", "deploy"]', %d, '[]', '"project"'),
 ('6f2c1c2e-0d1b-4a57-9a3e-0f6b6f0c7a03', 'ana', 'Runbook in the wiki.', '[]', %d, '[]', '"reference"'),
 ('6f2c1c2e-0d1b-4a57-9a3e-0f6b6f0c7a04', 'ana', 'No type.', '[]', %d, '[]', NULL),
 ('6f2c1c2e-0d1b-4a57-9a3e-0f6b6f0c7a05', 'ana', 'A type of tomorrow.', '[]', %d, '[]', '"dream"'),
 ('not a uuid', 'ana', 'A name of its own.', '[]', %d, '[]', 'feedback'),
 ('d3b07384-d113-4ec4-9f5b-7c1c0a9f0e11', 'ben', 'Of Ben.', '[]', %d, '["ben"]', NULL)`, m1, t0, m2, t0+1, t0+2, t0+3, t0+4, t0+5, t0+6),
		`INSERT INTO memories_fts (content, id, agent_id) SELECT content, id, agent_id FROM memories`,
		fmt.Sprintf(`INSERT INTO interactions VALUES
 ('a1f0e0d2-8a44-4d2f-b3a1-1c2d3e4f5a6c', '%s', 'ana', 'assistant', 'Only on Fridays.', %d),
 ('a1f0e0d2-8a44-4d2f-b3a1-1c2d3e4f5a6b', '%s', 'ana', 'user', 'When do we deploy?', %d),
 ('a1f0e0d2-8a44-4d2f-b3a1-1c2d3e4f5a6d', 'c-of-ben', 'ben', 'user', 'Of Ben.', %d)`, chat, t0+2000, chat, t0+1000, t0),
		fmt.Sprintf(`INSERT INTO recall_events (agent_id, memory_id, query, score, ts_ms) VALUES ('ana', '%s', 'q', 0.5, %d)`, m1, t0),
		fmt.Sprintf(`INSERT INTO memory_promotions VALUES ('%s', 'ana', %d, 0.5, 'deep')`, m1, t0),
		`CREATE TABLE tomorrow (x)`, `CREATE VIEW reminders_of_all AS SELECT * FROM reminders`,
	)
	asked(t, filepath.Join(dir, Vector), `CREATE TABLE vec_memories (memory_id TEXT PRIMARY KEY, embedding BLOB NOT NULL)`,
		fmt.Sprintf(`INSERT INTO vec_memories VALUES ('%s', x'0000003F000080BE'), ('%s', x'0000003F'), ('d3b07384-d113-4ec4-9f5b-7c1c0a9f0e11', x'0000003F')`, m1, m2))
	asked(t, filepath.Join(dir, Concepts), memoriesSchema,
		fmt.Sprintf(`INSERT INTO memories VALUES ('%s', 'ana', 'x', '[]', 1, '["answers","short"]', NULL), ('%s', 'ana', 'x', '[]', 1, '["fridays"]', NULL)`, m1, m2))
	asked(t, filepath.Join(dir, Compactions), compactionsSchema,
		fmt.Sprintf(`INSERT INTO compactions_v1 VALUES ('%s', %d, 5, 5, 'Talked about deploys.', 'model-x', 10000, 800), ('c-of-ben', %d, 1, 1, 'Of Ben.', '', 0, 0)`, chat, t0+9000, t0),
		fmt.Sprintf(`INSERT INTO compaction_locks_v1 VALUES ('%s', %d, 'pid:1')`, chat, t0))
	path, left := mustImport(t, dir, "ana")
	got := holds(t, path)

	type short struct{ ID, Kind, Content, Tags, Foreign string }
	var memories []short
	for _, m := range got.Memories {
		memories = append(memories, short{string(m.ID), string(m.Kind), m.Content, strings.Join(m.Tags, " "), string(m.Foreign["nexo"])})
		if m.Trust != amber.TrustImported || m.Scope != amber.ScopeGlobal || m.CreatedAt != m.UpdatedAt || m.CreatedAt.UnixMilli() < t0 {
			t.Errorf("got %+v", m)
		}
	}
	named := uuidOf("memory", "not a uuid")
	want := []short{
		{m1, "user_preference", "Ana prefers short answers.", "preference", `{"memory_type":"user"}`},
		{m2, "project_fact", "Deployed on Fridays ☕.", "deploy project", `{"memory_type":"project"}`},
		{"6f2c1c2e-0d1b-4a57-9a3e-0f6b6f0c7a03", "workspace_fact", "Runbook in the wiki.", "", `{"memory_type":"reference"}`},
		{"6f2c1c2e-0d1b-4a57-9a3e-0f6b6f0c7a04", "workspace_fact", "No type.", "", ""},
		{"6f2c1c2e-0d1b-4a57-9a3e-0f6b6f0c7a05", "workspace_fact", "A type of tomorrow.", "", `{"memory_type":"dream"}`},
		{named, "workflow_insight", "A name of its own.", "", `{"id":"not a uuid","memory_type":"feedback"}`},
	}
	slices.SortFunc(want, func(a, b short) int { return strings.Compare(a.ID, b.ID) })
	must.Equal(t, "memories", memories, want)
	must.Equal(t, "concepts", got.Concepts, map[string]string{m1: "answers prefers short ", m2: "fridays "})
	vectors := []amber.Embedding{{MemoryID: m1, Model: "nexo", Vector: []float32{0.5, -0.25}}, {MemoryID: m2, Model: "nexo", Vector: []float32{0.5}}}
	must.Equal(t, "embeddings", got.Embeddings, vectors)
	at := amber.UnixMilli
	turns := []amber.Turn{
		{ID: "a1f0e0d2-8a44-4d2f-b3a1-1c2d3e4f5a6b", SessionID: chat, Role: "user", Content: "When do we deploy?", CreatedAt: at(t0 + 1000)},
		{ID: "a1f0e0d2-8a44-4d2f-b3a1-1c2d3e4f5a6c", SessionID: chat, Role: "assistant", Content: "Only on Fridays.", CreatedAt: at(t0 + 2000)},
	}
	must.Equal(t, "turns", got.Turns, turns, sameHere)
	sessions := []amber.Session{{
		ID: chat, Name: chat, Binding: "nexo", StartedAt: at(t0 + 1000), EndedAt: at(t0 + 2000), EndReason: "ended",
		CreatedAt: at(t0 + 1000), UpdatedAt: at(t0 + 2000),
	}}
	must.Equal(t, "sessions", got.Sessions, sessions, sameHere)
	if len(got.Compactions) != 1 || got.Compactions[0].Summary != "Talked about deploys." || got.Compactions[0].Turns != 5 {
		t.Errorf("the compactions are %+v", got.Compactions)
	}
	must.Equal(t, "left out", left, []Count{
		{"compactions of sessions without an agent", 1},
		{"promotions", 1},
		{"recalls", 1},
		{"rows of other agents", 2},
		{"unknown tables", 1},
		{"vectors of no memory", 1},
	})
	for _, name := range []string{"Of Ben", "ben"} {
		must.Hold(t, !bytes.Contains(must.Get(os.ReadFile(path))(t), []byte(name)), "the database holds %q", name)
	}
	// Values that came from nexo go back to it as they were.
	back := exported(t, path)
	types := linesOf(t, asked(t, filepath.Join(back, LongTerm)), "SELECT memory_type FROM memories ORDER BY created_at")
	must.Equal(t, "types", types, []string{`"user"|`, `"project"|`, `"reference"|`, "|", "|", `"feedback"|`})
}

func TestFilesNeedNotBeThere(t *testing.T) {
	t.Parallel()
	path, left := mustImport(t, t.TempDir(), "ana")
	if got := holds(t, path); len(got.Memories) > 0 || len(left) > 0 {
		t.Errorf("%+v, %+v", got, left)
	}
}

// TestOfOldTables has the columns of the first version.
func TestOfOldTables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	asked(t, filepath.Join(dir, LongTerm), `CREATE TABLE memories (id TEXT PRIMARY KEY, agent_id TEXT NOT NULL, content TEXT NOT NULL, created_at INTEGER NOT NULL, mood TEXT)`,
		fmt.Sprintf(`INSERT INTO memories VALUES ('%s', 'ana', 'old', %d, 'fine')`, m1, t0),
		`CREATE TABLE interactions (id, session_id)`)
	path, left := mustImport(t, dir, "ana")
	if got := holds(t, path).Memories; len(got) != 1 || got[0].Content != "old" {
		t.Errorf("got %+v", got)
	}
	must.Equal(t, "left out", left, []Count{{"tables of an unknown form", 1}})
}

func TestRowsThatCannotBeAreSetAside(t *testing.T) {
	t.Parallel()
	good := fmt.Sprintf(`('%s', 'ana', 'good', '[]', %d, '[]', NULL)`, m1, t0)
	memory := func(id, content, tags, at string) string {
		return fmt.Sprintf(`INSERT INTO memories (id, agent_id, content, tags, created_at) VALUES (%s, 'ana', %s, %s, %s)`, id, content, tags, at)
	}
	turn := func(id, session, role, content, at string) string {
		return fmt.Sprintf(`INSERT INTO interactions VALUES (%s, %s, 'ana', %s, %s, %s)`, id, session, role, content, at)
	}
	tests := map[string]struct {
		query string
		want  Count
		more  int64 // memories that came over beside the good one
	}{
		"no id":            {memory("NULL", "'x'", "'[]'", "1"), Count{"memories that cannot be read", 1}, 0},
		"id of bytes":      {memory("x'ff'", "'x'", "'[]'", "1"), Count{"memories that cannot be read", 1}, 0},
		"empty":            {memory("'a'", "''", "'[]'", "1"), Count{"memories that cannot be read", 1}, 0},
		"blank":            {memory("'a'", "'  '", "'[]'", "1"), Count{"memories that cannot be read", 1}, 0},
		"bytes":            {memory("'a'", "x'00ff'", "'[]'", "1"), Count{"memories that cannot be read", 1}, 0},
		"number":           {memory("'a'", "x'31'", "'[]'", "1"), Count{"memories that cannot be read", 1}, 0},
		"not UTF-8":        {memory("'a'", "CAST(x'61ff62' AS TEXT)", "'[]'", "1"), Count{"memories that cannot be read", 1}, 0},
		"NUL":              {memory("'a'", "CAST(x'610062' AS TEXT)", "'[]'", "1"), Count{"memories that cannot be read", 1}, 0},
		"huge":             {memory("'a'", "printf('%.*c', 2000000, 'x')", "'[]'", "1"), Count{"memories that cannot be read", 1}, 0},
		"before time":      {memory("'a'", "'x'", "'[]'", "-1"), Count{"memories that cannot be read", 1}, 0},
		"after time":       {memory("'a'", "'x'", "'[]'", "9223372036854775807"), Count{"memories that cannot be read", 1}, 0},
		"time of text":     {memory("'a'", "'x'", "'[]'", "'soon'"), Count{"memories that cannot be read", 1}, 0},
		"same as another":  {memory("'a'", "'good'", "'[]'", "1"), Count{"memories that say the same as another", 1}, 0},
		"tags of nonsense": {memory("'a'", "'x'", "'nonsense'", "1"), Count{"lists of tags that cannot be read", 1}, 1},
		"tags of numbers":  {memory("'a'", "'x'", "'[1, null, {}, \"ok\", \"\", \"a\\nb\"]'", "1"), Count{"tags that are not valid in Amber", 5}, 1},
		"no role":          {turn("'a'", "'s'", "'god'", "'x'", "1"), Count{"turns that cannot be read", 1}, 0},
		"no session":       {turn("'a'", "''", "'user'", "'x'", "1"), Count{"turns that cannot be read", 1}, 0},
		"empty turn":       {turn("'a'", "'s'", "'user'", "''", "1"), Count{"turns that cannot be read", 1}, 0},
		"turn before time": {turn("'a'", "'s'", "'user'", "'x'", "0"), Count{"turns that cannot be read", 1}, 0},
		"turn of bytes":    {turn("'a'", "'s'", "'user'", "x'ff'", "1"), Count{"turns that cannot be read", 1}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := byHand(t, "INSERT INTO memories VALUES "+good, tt.query)
			path, left := mustImport(t, dir, "ana")
			must.Equal(t, "left out", left, []Count{tt.want})
			if got := holds(t, path); len(got.Memories) != int(1+tt.more) || len(got.Turns) > 0 || len(got.Sessions) > 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestVectorsAndCompactionsThatCannotBeAreSetAside(t *testing.T) {
	t.Parallel()
	dir := byHand(t, fmt.Sprintf(`INSERT INTO memories VALUES ('%s', 'ana', 'good', '[]', %d, '[]', NULL)`, m1, t0))
	asked(t, filepath.Join(dir, Vector), `CREATE TABLE vec_memories (memory_id TEXT, embedding BLOB)`,
		fmt.Sprintf(`INSERT INTO vec_memories VALUES ('%[1]s', x'000000'), ('%[1]s', ''), ('%[1]s', NULL), ('%[1]s', x'0000C07F'), (NULL, x'00000000'), ('%[1]s', zeroblob(70000)), ('%[1]s', x'0000803F'), ('%[1]s', x'00000040')`, m1))
	asked(t, filepath.Join(dir, Compactions), `CREATE TABLE compactions_v1 (session_id, compacted_at, head_turn_count, summary)`,
		`INSERT INTO compactions_v1 VALUES ('s', 1, -1, 'x'), ('s', -1, 1, 'x'), ('s', 1, 1, ''), (NULL, 1, 1, 'x'), ('s', 1, 1, x'ff'), ('s', 7, 1, 'good'), ('s', 7, 1, 'again')`)
	path, left := mustImport(t, dir, "ana")
	got := holds(t, path)
	must.Equal(t, "embeddings", got.Embeddings, []amber.Embedding{{MemoryID: m1, Model: "nexo", Vector: []float32{1}}})
	if len(got.Compactions) != 1 || got.Compactions[0].Summary != "good" {
		t.Errorf("the compactions are %+v", got.Compactions)
	}
	must.Equal(t, "left out", left, []Count{{"compactions that cannot be read", 6}, {"vectors that cannot be read", 6}})
}

// vec0 makes the tables of the module vec0, version 0.1.9, that hold vectors.
func vec0(t *testing.T, path string, change ...string) {
	t.Helper()
	asked(t, path, append([]string{
		`CREATE TABLE "vec_memories_info" (key text primary key, value any)`,
		`CREATE TABLE "vec_memories_chunks"(chunk_id INTEGER PRIMARY KEY AUTOINCREMENT,size INTEGER NOT NULL,validity BLOB NOT NULL,rowids BLOB NOT NULL)`,
		`CREATE TABLE "vec_memories_rowids"(rowid INTEGER PRIMARY KEY AUTOINCREMENT,id TEXT UNIQUE NOT NULL,chunk_id INTEGER,chunk_offset INTEGER)`,
		`CREATE TABLE "vec_memories_vector_chunks00"(rowid PRIMARY KEY,vectors BLOB NOT NULL)`,
		`INSERT INTO vec_memories_chunks VALUES (1, 8, x'05', zeroblob(64)), (2, 8, x'00', zeroblob(64))`,
		`INSERT INTO vec_memories_vector_chunks00 VALUES (1, CAST(x'0000003F000080BE' || zeroblob(8) || x'0000803F00000040' || zeroblob(40) AS BLOB)), (2, zeroblob(64))`,
		fmt.Sprintf(`INSERT INTO vec_memories_rowids VALUES (1, '%s', 1, 0), (3, '%s', 1, 2)`, m1, m2),
		`PRAGMA writable_schema = 1`,
		`INSERT INTO sqlite_schema VALUES ('table', 'vec_memories', 'vec_memories', 0, 'CREATE VIRTUAL TABLE vec_memories USING vec0(memory_id TEXT PRIMARY KEY, embedding FLOAT[2])')`,
	}, change...)...)
}

func TestVectorsOfTheModuleVec0AreRead(t *testing.T) {
	t.Parallel()
	two := fmt.Sprintf(`INSERT INTO memories VALUES ('%s', 'ana', 'a', '[]', %d, '[]', NULL), ('%s', 'ana', 'b', '[]', %d, '[]', NULL)`, m1, t0, m2, t0)
	want := []amber.Embedding{{MemoryID: m1, Model: "nexo", Vector: []float32{0.5, -0.25}}, {MemoryID: m2, Model: "nexo", Vector: []float32{1, 2}}}
	for _, file := range []string{Vector, LongTerm} {
		dir := byHand(t, two)
		vec0(t, filepath.Join(dir, file))
		path, left := mustImport(t, dir, "ana")
		must.Equal(t, file, holds(t, path).Embeddings, want)
		must.Equal(t, file+": left out", len(left), 0)
	}
	for name, change := range map[string]string{
		"offset outside":  `UPDATE vec_memories_rowids SET chunk_offset = 8`,
		"offset before":   `UPDATE vec_memories_rowids SET chunk_offset = -1`,
		"offset of text":  `UPDATE vec_memories_rowids SET chunk_offset = 'x'`,
		"no size":         `UPDATE vec_memories_chunks SET size = 0`,
		"huge size":       `UPDATE vec_memories_chunks SET size = 9223372036854775807`,
		"negative size":   `UPDATE vec_memories_chunks SET size = -8`,
		"odd size":        `UPDATE vec_memories_chunks SET size = 7`,
		"no vectors":      `UPDATE vec_memories_vector_chunks00 SET vectors = ''`,
		"text as vectors": `UPDATE vec_memories_vector_chunks00 SET vectors = 'abcdefghijklmnop'`,
		"lost chunk":      `DELETE FROM vec_memories_vector_chunks00`,
	} {
		dir := byHand(t, two)
		vec0(t, filepath.Join(dir, Vector), change)
		path, left := mustImport(t, dir, "ana")
		if got := holds(t, path); len(got.Embeddings) > 0 || len(got.Memories) != 2 || len(left) == 0 {
			t.Errorf("%s: %+v, %+v", name, got.Embeddings, left)
		}
	}
}

func TestFieldsAreBelievedOnlyWhereTheyFit(t *testing.T) {
	t.Parallel()
	s, _ := full(t)
	copied := copyOf(t, s)
	for name, tt := range map[string]struct {
		query string
		want  string // left out
	}{
		"content was edited":  {`UPDATE memories SET content = content || '!'`, "fields that do not fit their row"},
		"tags were edited":    {`UPDATE memories SET tags = '["new"]'`, "fields that do not fit their row"},
		"time was edited":     {`UPDATE memories SET created_at = created_at + 1`, "fields that do not fit their row"},
		"nonsense":            {`UPDATE amber_fields SET json = 'nonsense' WHERE kind = 'memory'`, "fields that do not fit their row"},
		"bytes":               {`UPDATE amber_fields SET json = x'ff' WHERE kind = 'session'`, "sessions that cannot be read"},
		"unknown kind":        {`UPDATE amber_fields SET json = json_set(json, '$.kind', 'x') WHERE kind = 'memory'`, "fields that do not fit their row"},
		"scope of nobody":     {`UPDATE amber_fields SET json = json_set(json, '$.scope', 'user') WHERE kind = 'memory'`, "fields that do not fit their row"},
		"topic of another":    {`UPDATE amber_fields SET json = json_set(json, '$.topic', 'x') WHERE kind = 'memory'`, "fields that do not fit their row"},
		"deleted":             {`UPDATE amber_fields SET json = json_set(json, '$.deleted_at', '2026-01-01') WHERE kind = 'memory'`, "fields that do not fit their row"},
		"session of another":  {`UPDATE amber_fields SET json = json_set(json, '$.id', 'x') WHERE kind = 'session'`, "sessions that cannot be read"},
		"relation to nowhere": {`UPDATE amber_fields SET json = json_set(json, '$.to', '` + m1 + `') WHERE kind = 'relation'`, "relations that lead nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := exported(t, copied)
			asked(t, filepath.Join(dir, LongTerm), tt.query)
			path, left := mustImport(t, dir, "ana")
			if !slices.ContainsFunc(left, func(c Count) bool { return c.What == tt.want }) {
				t.Errorf("left out: %+v", left)
			}
			if got := holds(t, path); len(got.Memories) != 5 || len(got.Turns) != 5 {
				t.Errorf("%d memories and %d turns came over", len(got.Memories), len(got.Turns))
			}
		})
	}
	// Trust is never taken from a file.
	dir := exported(t, copied)
	asked(t, filepath.Join(dir, LongTerm), `UPDATE amber_fields SET json = json_set(json, '$.trust', 'own')`)
	path, _ := mustImport(t, dir, "ana")
	for _, m := range holds(t, path).Memories {
		must.Equal(t, fmt.Sprintf("trust of %s", m.ID), m.Trust, amber.TrustImported)
	}
}

func TestHostileSchemasAreNotRun(t *testing.T) {
	t.Parallel()
	columns := `id TEXT PRIMARY KEY, agent_id TEXT, content TEXT, created_at INTEGER`
	row := fmt.Sprintf(`INSERT INTO m VALUES ('%s', 'ana', 'x', %d)`, m1, t0)
	for name, queries := range map[string][]string{
		"view":           {`CREATE TABLE m (` + columns + `)`, row, `CREATE VIEW memories AS SELECT * FROM m`},
		"computed":       {`CREATE TABLE memories (id TEXT, agent_id TEXT AS ('ana'), content TEXT AS (hex(zeroblob(1000000))), created_at INTEGER)`, `INSERT INTO memories (id, created_at) VALUES ('a', 1)`},
		"virtual":        {`CREATE VIRTUAL TABLE memories USING fts5 (id, agent_id, content, created_at)`, `INSERT INTO memories VALUES ('a', 'ana', 'x', 1)`},
		"unknown module": {`PRAGMA writable_schema = 1`, `INSERT INTO sqlite_schema VALUES ('table', 'memories', 'memories', 0, 'CREATE VIRTUAL TABLE memories USING nonsense(id)')`},
		"without rowid":  {`CREATE TABLE memories (` + columns + `) WITHOUT ROWID`, strings.Replace(row, "INTO m ", "INTO memories ", 1)},
		"other rowid":    {`CREATE TABLE memories (` + columns + `, rowid TEXT)`, fmt.Sprintf(`INSERT INTO memories VALUES ('%s', 'ana', 'x', %d, 'x')`, m1, t0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			asked(t, filepath.Join(dir, LongTerm), queries...)
			path, _ := mustImport(t, dir, "ana")
			must.Equal(t, "memories", len(holds(t, path).Memories), 0)
		})
	}
}

func TestFilesThatAreNoDatabaseAreRefused(t *testing.T) {
	t.Parallel()
	dir := byHand(t, fmt.Sprintf(`INSERT INTO memories VALUES ('%s', 'ana', printf('%%.*c', 100000, 'x'), '[]', %d, '[]', NULL)`, m1, t0))
	good := must.Get(os.ReadFile(filepath.Join(dir, LongTerm)))(t)
	spoil := func(at int, b ...byte) []byte {
		bad := bytes.Clone(good)
		copy(bad[at:], b)
		return bad
	}
	for name, bad := range map[string][]byte{
		"empty":         {},
		"text":          []byte(strings.Repeat("nonsense", 100)),
		"cut off":       good[:len(good)-100],
		"missing pages": good[:8*4096],
		"odd pages":     spoil(16, 0x03, 0x00),
		"looping":       spoil(100, 0x05, 0, 0, 0, 1, 0x0f, 0xf0, 0, 0, 0, 0, 1),
		"zeros":         append(bytes.Clone(good[:4096]), make([]byte, len(good)-4096)...),
	} {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, LongTerm), bad, 0o600))
		_, _, err := importNexo(t, dir, "ana")
		must.Kind(t, name, err, amber.KindDamaged)
	}
	dir = t.TempDir()
	must.Do(t, os.Symlink(filepath.Join(dir, "x"), filepath.Join(dir, LongTerm)))
	_, _, err := importNexo(t, dir, "ana")
	must.Kind(t, "a link", err, amber.KindRefused)
	dir = t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, Vector), good, 0o600))
	must.Do(t, os.WriteFile(filepath.Join(dir, Vector+"-journal"), good, 0o600))
	_, _, err = importNexo(t, dir, "ana")
	must.Kind(t, "a journal beside it", err, amber.KindRefused)
}

// TestFlippedBytes never crashes, and what it makes is whole.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	s, _ := full(t)
	dir := exported(t, copyOf(t, s))
	good := must.Get(os.ReadFile(filepath.Join(dir, LongTerm)))(t)
	step := len(good) / scale(48)
	for at := 0; at < len(good); at += step {
		bad := bytes.Clone(good)
		for i := range min(16, len(bad)-at) {
			bad[at+i] ^= 0x55
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, LongTerm), bad, 0o600))
		path, _, err := importNexo(t, dir, "ana")
		if err != nil {
			must.Kind(t, fmt.Sprintf("byte %d", at), err, amber.KindDamaged)
			continue
		}
		for _, c := range must.Get(image.Examine(t.Context(), path, true))(t).Checks {
			must.Hold(t, c.OK, "byte %d: %s: %s", at, c.Name, c.Detail)
		}
	}
}
