package sqlite

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
)

// A released migration is never changed: files it made are out there. What
// must change is the next migration.
func TestReleasedMigrationsStay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sql, want string }{
		"memory-1":  {memory1, "054f3f7c76fa85eae3a830da089c2bd1d0dfe7731cfd0c4122df5af7ce928d95"},
		"memory-2":  {memory2, "f472593d1fde23f019d8258751d28ed4e3941ba6bf795e81c84021aab9428df8"},
		"control-1": {control1, "091c4127eb43b0d412f493e5ee010b66c9a96ad78d5d24cef9f15d1704456bd4"},
	} {
		if got := amber.ContentDigest(c.sql); got != c.want {
			t.Errorf("%s.sql has the digest %s, it was released with %s", name, got, c.want)
		}
	}
}

// memoryAt is the schema of memory.db as the Amber of a version had it.
func memoryAt(version int) schema {
	s := memorySchema
	s.migrations = s.migrations[:version]
	return s
}

// agentWithMemory1 returns an agent whose memory.db has schema 1 and something
// in every table the schema has.
func agentWithMemory1(t *testing.T) *home.Agent {
	t.Helper()
	ctx := t.Context()
	a := agentIn(t, filepath.Join(t.TempDir(), "home"))
	s := try(openWith(t, a, memoryAt(1), false))(t)
	id := save(t, s, amber.WriteRequest{Content: "older than the schema", IdempotencyKey: "k"})
	topic := save(t, s, amber.WriteRequest{Topic: "t", Content: "first"})
	save(t, s, amber.WriteRequest{Topic: "t", Content: "second"})
	do(t, s.Delete(ctx, save(t, s, amber.WriteRequest{Content: "deleted"})))
	try(s.Relate(ctx, amber.Relation{From: id, To: topic, Type: "related"}))(t)
	do(t, s.PutEmbedding(ctx, amber.Embedding{MemoryID: id, Model: "m", Vector: []float32{1}}))
	do(t, s.SetConcepts(ctx, id, []string{"c"}))
	for _, session := range []amber.SessionID{"open", "ended"} {
		try(s.StartSession(ctx, amber.SessionStart{ID: session, Binding: string(session)}))(t)
		try(s.AppendTurn(ctx, amber.Turn{ID: amber.TurnID("turn of " + session), SessionID: session, Role: amber.RoleUser, Content: "hello"}))(t)
		try(s.SaveState(ctx, session, []byte(`{}`), 0))(t)
		try(s.SaveLoop(ctx, amber.LoopSave{SessionID: session, RunID: "r", State: []byte(`1`)}))(t)
		try(s.AddCompaction(ctx, amber.Compaction{SessionID: session, Summary: "so far"}))(t)
	}
	try(s.EndSession(ctx, amber.SessionEnd{ID: "ended"}))(t)
	meddle(t, s.memory, `INSERT INTO erased (id, device, counter, clock) VALUES ('e', 'd', 1, 1)`)
	do(t, s.Close())
	return a
}

// rows returns every row of some tables as text.
func rows(t *testing.T, s *Store, tables []string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	do(t, s.memory.view(t.Context(), "look", "", func(x *tx) error {
		for _, table := range tables {
			columns, err := all(x, scanText, `SELECT 'quote("' || name || '")' FROM pragma_table_info(?)`, table)
			if err != nil {
				return err
			}
			query := "SELECT concat_ws(',', " + joined(columns) + ") FROM " + table + " ORDER BY 1"
			if out[table], err = all(x, scanText, query); err != nil {
				return err
			}
		}
		return nil
	}))
	return out
}

func joined(parts []string) string {
	out := parts[0]
	for _, p := range parts[1:] {
		out += ", " + p
	}
	return out
}

// objects returns the tables and indexes of a memory.db with their SQL.
func objects(t *testing.T, s *Store) (all map[string]string, tables []string) {
	t.Helper()
	all = map[string]string{}
	do(t, s.memory.view(t.Context(), "look", "", func(x *tx) error {
		return x.each(`SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY name`, nil, func(r scanner) error {
			var kind, name, sql string
			err := r.Scan(&kind, &name, &sql)
			all[kind+" "+name] = sql
			if kind == "table" && !slices.Contains([]string{"memory_fts", "memory_grams", "memory_gram_instances"}, name) {
				tables = append(tables, name)
			}
			return err
		})
	}))
	return all, tables
}

// The migration to schema 2 leaves every row as it was and gives an old file
// the schema of a new one.
func TestMemorySchema2(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a := agentWithMemory1(t)
	old := try(openWith(t, a, memoryAt(1), true))(t)
	_, tables := objects(t, old)
	before := rows(t, old, tables)
	for _, table := range tables {
		if len(before[table]) == 0 {
			t.Errorf("table %s is empty before the migration", table)
		}
	}
	do(t, old.Close())

	s := try(openWith(t, a, memorySchema, false))(t)
	if d := cmp.Diff(before, rows(t, s, tables)); d != "" {
		t.Errorf("rows (-before +after):\n%s", d)
	}
	fresh, _ := freshStore(t, amber.QueueOptions{})
	migrated, _ := objects(t, s)
	want, _ := objects(t, fresh)
	if d := cmp.Diff(want, migrated); d != "" {
		t.Errorf("schema (-new +migrated):\n%s", d)
	}
	if memory, _, err := s.SchemaVersion(ctx); memory != 2 || err != nil {
		t.Errorf("version %d, %v, want 2", memory, err)
	}

	for _, session := range []amber.SessionID{"open", "ended"} {
		in := amber.Ingestion{
			Journal: amber.ContentDigest(string(session))[:32], Host: "host", Session: session, Through: 1, LastAt: amber.At(time.UnixMilli(1)),
			Steps: []amber.IngestStep{{
				Start: amber.SessionStart{ID: session, Project: "p"},
				Turns: []amber.Turn{
					{ID: amber.TurnID("turn of " + session), SessionID: session, Role: amber.RoleUser, Content: "again"},
					{SessionID: session, Role: amber.RoleUser, Content: "after the migration"},
				},
				Activity: []amber.Activity{{SessionID: session, Kind: amber.ActivityTool, Name: "Bash"}},
				Memories: []amber.WriteRequest{{Content: "older than the schema", IdempotencyKey: "k"}},
			}},
		}
		if got := try(s.Ingest(ctx, in))(t); got.Applied != 1 || got.Memories != 0 {
			t.Errorf("ingestion of session %s: %+v", session, got)
		}
		if turns := try(s.LoadTurns(ctx, session, 10))(t); len(turns) != 2 || turns[1].Content != "after the migration" {
			t.Errorf("turns of session %s: %v", session, turns)
		}
	}
	if open := try(s.OpenJournals(ctx))(t); len(open) != 1 || open[0].Session != "open" {
		t.Errorf("open journals: %v", open)
	}
	do(t, s.DeleteSession(ctx, "open"))
	if did := try(s.ListActivity(ctx, "open", ""))(t); len(did) != 0 {
		t.Errorf("activity of a deleted session: %v", did)
	}
	sound(t, s)
}

// A schema-1 file that is only looked at stays one, and says so.
func TestMemorySchema1IsKept(t *testing.T) {
	t.Parallel()
	a := agentWithMemory1(t)
	_, err := openWith(t, a, memorySchema, true)
	wantKind(t, err, amber.KindConflict, "open that keeps the schema")
	if got := version(t, a, "memory.db"); got != 1 {
		t.Errorf("the file has version %d now", got)
	}
}
