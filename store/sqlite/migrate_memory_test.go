package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// A released migration is never changed: users have files that it made. Every
// change of the schema is a new migration.
func TestReleasedMigrationsStay(t *testing.T) {
	t.Parallel()
	for file, c := range map[string]struct{ made, released []string }{
		"memory": {sqlfile.MemorySchema.Migrations, []string{
			"054f3f7c76fa85eae3a830da089c2bd1d0dfe7731cfd0c4122df5af7ce928d95",
			"f472593d1fde23f019d8258751d28ed4e3941ba6bf795e81c84021aab9428df8",
			"1f9b71775f6ca51930682d487da4e4e6798cf25f7b29c9ae5cfac5286ad43d25",
			"47b4a43e6059c13dfcc480237517f8e7b74e0a8501499a3a9e669b5b7a58693d",
			"b3212bd692ff479f2dc4ec8320c32bfb9ab3bf598cee0d32a41fa9e72bb1fbbd",
			"a45c69745b75035389c0e7f90d3f224537a411a645fe77237081e6d4608a69f5",
			"126f830b1579880fd612c4fd73aa82fb48bc5d5a3823da3545d49ae5e0d82539",
			"d29d44d83410f3147d75060e06b2be70e7740283ebdebac72e06a5e5e001d115",
			"2dc4679ecc07114dac2d60b2ffcb6053a7de51cc07aa247cfa29996559f684b6",
		}},
		"control": {sqlfile.ControlSchema.Migrations, []string{"091c4127eb43b0d412f493e5ee010b66c9a96ad78d5d24cef9f15d1704456bd4"}},
	} {
		for i, want := range c.released {
			must.Equal(t, fmt.Sprintf("digest of %s-%d.sql, which is released", file, i+1), amber.ContentDigest(c.made[i]), want)
		}
	}
}

// memoryAt is the schema of memory.db as the Amber of a version had it.
func memoryAt(version int) sqlfile.Schema {
	s := sqlfile.MemorySchema
	s.Migrations = s.Migrations[:version]
	return s
}

// agentWithMemory1 returns an agent whose memory.db has schema 1 and something
// in every table the schema has.
func agentWithMemory1(t *testing.T) *home.Agent { return agentWithMemory(t, 1) }

// agentWithMemory does so for any version: the rows are those that the Amber
// of that version wrote, since a newer one cannot write them.
func agentWithMemory(t *testing.T, version int) *home.Agent {
	t.Helper()
	a := agentIn(t, filepath.Join(t.TempDir(), "home"))
	must.Do(t, must.Get(openWith(t, a, memoryAt(version), false))(t).Close())
	rows := must.Get(os.ReadFile(filepath.Join("testdata", fmt.Sprintf("memory-%d.sql", version))))(t)
	outside(t, a, "memory.db", func(p *sqlconn.Pool) { must.Get(p.DB.Exec(string(rows)))(t) })
	return a
}

// columnsOf returns the columns of some tables.
func columnsOf(t *testing.T, s *Store, tables []string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, table := range tables {
		// Two columns of memories were for the index of old.
		out[table] = texts(t, s.memory, `SELECT 'quote("' || name || '")' FROM pragma_table_info(?) WHERE name NOT IN ('glued', 'facets')`, table)
	}
	return out
}

// rows returns every row of some tables as text.
func rows(t *testing.T, s *Store, columns map[string][]string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for table, names := range columns {
		out[table] = texts(t, s.memory, "SELECT concat_ws(',', "+joined(names)+") FROM "+table+" ORDER BY 1")
	}
	return out
}

func joined(parts []string) string { return strings.Join(parts, ", ") }

// objects returns the tables and indexes of a memory.db with their SQL, and the names of the
// tables that are not derived from others.
func objects(t *testing.T, s *Store) (all map[string]string, tables []string) {
	t.Helper()
	all = map[string]string{}
	must.Do(t, s.memory.View(t.Context(), "look", "", func(x *tx) error {
		return x.Each(`SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY name`, nil, func(r scanner) error {
			var kind, name, sql string
			err := r.Scan(&kind, &name, &sql)
			all[kind+" "+name] = sql
			if kind == "table" && !strings.HasPrefix(name, "memory_") && !strings.HasPrefix(name, "index_") && name != "passages" {
				tables = append(tables, name)
			}
			return err
		})
	}))
	return all, tables
}

// The migrations leave every row as it was and give an old file the schema of a
// new one, in which everything can be done.
func TestMigrationsKeepEveryRow(t *testing.T) {
	t.Parallel()
	for v := 1; v < int(sqlfile.MemorySchema.Version()); v++ {
		t.Run(fmt.Sprint("from ", v), func(t *testing.T) {
			t.Parallel()
			a := agentWithMemory(t, v)
			old := must.Get(openWith(t, a, memoryAt(v), true))(t)
			_, tables := objects(t, old)
			columns := columnsOf(t, old, tables)
			before := rows(t, old, columns)
			for _, table := range tables {
				must.Hold(t, len(before[table]) != 0, "table %s is empty before the migration", table)
			}
			must.Do(t, old.Close())

			s := must.Get(openWith(t, a, sqlfile.MemorySchema, false))(t)
			must.Equal(t, "rows", rows(t, s, columns), before)
			fresh, _ := freshStore(t, amber.QueueOptions{})
			migrated, _ := objects(t, s)
			want, _ := objects(t, fresh)
			must.Equal(t, "schema", migrated, want)
			if memory, _, err := s.SchemaVersion(t.Context()); memory != sqlfile.MemorySchema.Version() || err != nil {
				t.Errorf("version %d, %v, want %d", memory, err, sqlfile.MemorySchema.Version())
			}
			goesOn(t, s)
			sound(t, s)
		})
	}
}

// goesOn lets the sessions of a migrated store go on.
func goesOn(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	for _, session := range []amber.SessionID{"open", "ended"} {
		in := amber.Ingestion{
			Journal: amber.ContentDigest(string(session))[:32], Host: "host", Session: session, Through: 2, LastAt: amber.At(time.UnixMilli(1)),
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
		in.After = must.Get(s.JournalCursor(ctx, in.Journal))(t).Seq
		if got := must.Get(s.Ingest(ctx, in))(t); got.Applied != 1 || got.Memories != 0 {
			t.Errorf("ingestion of session %s: %+v", session, got)
		}
		if turns := must.Get(amber.LastTurns(ctx, s, session, 10))(t); len(turns) < 2 || turns[0].Content != "hello" || turns[len(turns)-1].Content != "after the migration" {
			t.Errorf("turns of session %s: %v", session, turns)
		}
	}
	if open := must.Get(s.OpenJournals(ctx))(t); len(open) != 1 || open[0].Session != "open" {
		t.Errorf("open journals: %v", open)
	}
	must.Do(t, s.DeleteSession(ctx, "open"))
	wantNone(t, "activity of a deleted session", must.Get(s.ListActivity(ctx, "open", ""))(t))
}

// After the migration each version of a memory knows the one before it, under
// the name that a store gives it.
func TestMigrationToSchema3NamesVersions(t *testing.T) {
	t.Parallel()
	for v := 1; v <= 2; v++ {
		s := must.Get(openWith(t, agentWithMemory(t, v), sqlfile.MemorySchema, false))(t)
		memories := 0
		for _, id := range texts(t, s.memory, `SELECT id FROM memories`) {
			if chained(t, s, amber.MemoryID(id)) > 0 {
				memories++
			}
		}
		must.Equal(t, fmt.Sprintf("memories with versions, from %d", v), memories, 2)
		versionsHold(t, s)
		topic := amber.TopicID("", amber.ScopeGlobal, "", "t", 0)
		m := must.Get(s.Edit(t.Context(), amber.EditRequest{ID: topic, Content: new("fourth")}))(t)
		if got := versionsOf(t, s, topic); len(got) != 4 || !got[sqlrows.VersionOf(m.Origin)].head {
			t.Errorf("from %d: after an edit the versions are %v", v, got)
		}
		versionsHold(t, s)
	}
}

// After the migration a folder has a say in what was exported to it, up to its
// position, and every chunk is read once more.
func TestMigrationToSchema4NotesWhatWasExported(t *testing.T) {
	t.Parallel()
	s := must.Get(openWith(t, agentWithMemory(t, 3), sqlfile.MemorySchema, false))(t)
	must.Equal(t, "held", texts(t, s.memory, `SELECT place || ' ' || scope || ' ' || record || ' ' || version FROM sync_held ORDER BY 1`), []string{
		"/src/shop/.amber memory 019cebae-61c0-766f-8a75-e0bf4fffd871 1.116226824601600001.the old device",
		"/src/shop/.amber memory bd0da7d5-31e5-8a65-909c-9ce21b63a507 1.116226905510182912.the old device",
		"/src/shop/.amber memory bd0da7d5-31e5-8a65-909c-9ce21b63a507 2.116226905510182914.the old device",
		"/src/shop/.amber session ended 1.0.",
		"/src/shop/.amber session open 1.0.",
	})
	for place, want := range map[string]int{"/src/shop/.amber": 0, "": 1} {
		must.Equal(t, "chunks applied from "+place, len(must.Get(s.AppliedChunks(t.Context(), place, []string{"c1"}))(t)), want)
	}
}

// After the migration what was stored before its session is found in the project of the session.
func TestMigrationToSchema9FindsWhatWasSaidEarly(t *testing.T) {
	t.Parallel()
	a, ctx := agentIn(t, filepath.Join(t.TempDir(), "home")), t.Context()
	old := must.Get(openWith(t, a, memoryAt(8), false))(t)
	must.Get(old.AppendTurn(ctx, amber.Turn{ID: "early", SessionID: "s", Role: amber.RoleUser, Content: "Why does the gearbox stall?"}))(t)
	must.Get(old.AddCompaction(ctx, amber.Compaction{ID: "sum", SessionID: "s", Summary: "The gearbox waits for a lock."}))(t)
	must.Get(old.StartSession(ctx, amber.SessionStart{ID: "s", Project: "acme"}))(t)
	found := func(s *Store, project string) []string {
		names := []string{}
		for _, h := range must.Get(s.Recall(ctx, amber.Query{
			Text: "gearbox", Filter: amber.Filter{Identities: amber.Identities{ProjectID: project, SessionID: "s"}},
		}))(t).Hits {
			names = append(names, h.Owner)
		}
		slices.Sort(names)
		return names
	}
	must.Equal(t, "what another project finds before the migration", found(old, "umbrella"), []string{"early", "sum"})
	must.Do(t, old.Close())
	s := must.Get(openWith(t, a, sqlfile.MemorySchema, false))(t)
	must.Equal(t, "what the project finds", found(s, "acme"), []string{"early", "sum"})
	must.Equal(t, "what another project finds", found(s, "umbrella"), []string{})
	sound(t, s)
}

// chained compares the rows of a memory with its history and returns how many
// there are.
func chained(t *testing.T, s *Store, id amber.MemoryID) int {
	t.Helper()
	m := look(t, s.memory, sqlrows.ScanMemory, sqlrows.SelectMemory, id)[0]
	history := look(t, s.memory, sqlrows.ScanRevision, sqlrows.SelectRevisions, id)
	if len(history) == 0 {
		return 0
	}
	want := map[string]versionRow{}
	saw := ""
	for _, r := range append(history, m) {
		want[sqlrows.VersionOf(r.Origin)] = versionRow{saw: saw, head: r.Revision == m.Revision, stored: true}
		saw = sqlrows.VersionOf(r.Origin)
	}
	got := versionsOf(t, s, id)
	must.Equal(t, "versions of "+string(id), got, want, cmp.AllowUnexported(versionRow{}))
	return len(got)
}

// A file of an older schema that is only looked at stays one, and says so.
func TestOlderSchemasAreKept(t *testing.T) {
	t.Parallel()
	for v := 1; v < int(sqlfile.MemorySchema.Version()); v++ {
		a := agentWithMemory(t, v)
		must.Fail(openWith(t, a, sqlfile.MemorySchema, true))(t, "open that keeps the schema", amber.KindConflict)
		must.Equal(t, "version of the file", version(t, a, "memory.db"), int64(v))
	}
}
