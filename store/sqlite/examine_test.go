package sqlite

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// strangers returns the files of an agent with something in every table that
// matters, as a snapshot holds them.
func strangers(t *testing.T) (dir string) {
	t.Helper()
	l := newLife(t)
	for i := range 60 {
		save(t, l.s, amber.WriteRequest{Content: fmt.Sprintf("memory %d %s", i, strings.Repeat("with some text ", 20))})
	}
	must.Get(l.s.SaveTask(t.Context(), amber.Task{ID: "t", Goal: "g"}, 0))(t)
	return l.snapshot(t)
}

func TestExamineAcceptsOurOwn(t *testing.T) {
	t.Parallel()
	dir := strangers(t)
	for name, checks := range map[string]string{
		"memory.db":  "schema integrity foreign_keys full_text counters rows",
		"control.db": "schema integrity foreign_keys counters rows",
	} {
		path := filepath.Join(dir, name)
		before := fingerprint(t, path)
		for _, deep := range []bool{false, true} {
			e := must.Get(image.Examine(t.Context(), path, deep))(t)
			var made []string
			for _, c := range e.Checks {
				if made = append(made, c.Name); !c.OK || c.Part+".db" != name {
					t.Errorf("%+v", c)
				}
			}
			want := "schema"
			if deep {
				want = checks
			}
			if got := strings.Join(made, " "); got != want || e.Name != name {
				t.Errorf("%s: %+v, want the checks %q", name, e, want)
			}
		}
		must.Equal(t, name, fingerprint(t, path), before)
		if left := must.Get(filepath.Glob(path + "-*"))(t); len(left) > 0 {
			t.Errorf("%v are left", left)
		}
	}
}

func TestExamineRefusesAnotherSchema(t *testing.T) {
	t.Parallel()
	dir := strangers(t)
	for name, change := range map[string]string{
		"trigger":          `CREATE TRIGGER evil AFTER INSERT ON memories BEGIN DELETE FROM turns; END`,
		"replaced trigger": `DROP TRIGGER index_memory_delete; CREATE TRIGGER index_memory_delete AFTER DELETE ON memories BEGIN DELETE FROM turns; END`,
		"temporary name":   `CREATE TRIGGER "index_memory_insert " AFTER INSERT ON memories BEGIN DELETE FROM turns; END`,
		"view":             `CREATE VIEW evil AS SELECT load_extension('x')`,
		"table":            `CREATE TABLE evil (x)`,
		"index":            `CREATE INDEX evil ON turns (lower(content))`,
		"virtual table":    `CREATE VIRTUAL TABLE evil USING fts5 (x)`,
		"generated column": `ALTER TABLE turns ADD COLUMN evil INTEGER AS (abs(-9223372036854775808))`,
		"column":           `ALTER TABLE turns ADD COLUMN evil TEXT`,
		"statistics":       `ANALYZE`,
		"missing table":    `DROP TABLE loops`,
		"missing index":    `DROP INDEX turns_session`,
		"full text":        `DROP TABLE index_tail; CREATE VIRTUAL TABLE index_tail USING fts5 (row, document)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := altered(t, dir, func(db *sql.DB) { must.Get(db.Exec(change))(t) }, nil)
			must.Fail(image.Examine(t.Context(), path, true))(t, "examine", amber.KindRefused)
			must.Fail(OpenReadOnlyFile(t.Context(), path, readOnlyOptions()))(t, "open for reading", amber.KindRefused)
		})
	}
}

// altered copies a memory.db and changes it by SQL, then by bytes.
func altered(t *testing.T, dir string, change func(*sql.DB), harm func([]byte) []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	b := must.Get(os.ReadFile(filepath.Join(dir, "memory.db")))(t)
	must.Do(t, os.WriteFile(path, b, 0o600))
	if change != nil {
		db := must.Get(sql.Open("sqlite", "file:"+path))(t)
		db.SetMaxOpenConns(1)
		change(db)
		must.Do(t, db.Close())
	}
	if harm != nil {
		must.Do(t, os.WriteFile(path, harm(must.Get(os.ReadFile(path))(t)), 0o600))
	}
	return path
}

func TestExamineRefusesWhatIsNoDatabaseOfOurs(t *testing.T) {
	t.Parallel()
	dir := strangers(t)
	put := func(at int, v byte) func([]byte) []byte {
		return func(b []byte) []byte { b[at] = v; return b }
	}
	for _, c := range []struct {
		name string
		kind amber.Kind
		harm func([]byte) []byte
	}{
		{"empty", amber.KindDamaged, func([]byte) []byte { return nil }},
		{"magic", amber.KindDamaged, put(3, 'x')},
		{"page size", amber.KindDamaged, put(17, 3)},
		{"smaller page size", amber.KindDamaged, put(16, 8)},
		{"write version", amber.KindDamaged, put(18, 3)},
		{"reserved bytes", amber.KindDamaged, put(20, 32)},
		{"page count", amber.KindDamaged, put(31, 0)},
		{"change counter", amber.KindDamaged, put(27, 0xee)},
		{"schema format", amber.KindDamaged, put(47, 1)},
		{"encoding", amber.KindDamaged, put(59, 2)},
		{"auto-vacuum", amber.KindDamaged, put(55, 1)},
		{"application id", amber.KindDamaged, put(68, 0)},
		{"no version", amber.KindDamaged, put(63, 0)},
		{"later version", amber.KindTooNew, put(63, 99)},
		{"earlier version", amber.KindRefused, put(63, 1)},
		{"cut off", amber.KindDamaged, func(b []byte) []byte { return b[:len(b)-4096] }},
		{"cut off inside a page", amber.KindDamaged, func(b []byte) []byte { return b[:len(b)-5] }},
		{"longer", amber.KindDamaged, func(b []byte) []byte { return append(b, make([]byte, 4096)...) }},
		{"schema leads to itself", amber.KindDamaged, func(b []byte) []byte { binary.BigEndian.PutUint32(b[108:], 1); return b }},
		{"schema leads outside", amber.KindDamaged, func(b []byte) []byte { binary.BigEndian.PutUint32(b[108:], 1<<30); return b }},
		{"schema is an index", amber.KindDamaged, put(100, 0x0a)},
		{"schema has too many cells", amber.KindDamaged, put(103, 0xff)},
		{"zeros", amber.KindDamaged, func(b []byte) []byte { clear(b[100:]); return b }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := altered(t, dir, nil, c.harm)
			must.Fail(image.Examine(t.Context(), path, true))(t, "examine", c.kind)
		})
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		path := altered(t, dir, nil, nil)
		must.Do(t, os.WriteFile(path+suffix, nil, 0o600))
		must.Fail(image.Examine(t.Context(), path, false))(t, "examine with a "+suffix+" file beside it", amber.KindRefused)
	}
	link := filepath.Join(t.TempDir(), "memory.db")
	must.Do(t, os.Symlink(filepath.Join(dir, "memory.db"), link))
	must.Fail(image.Examine(t.Context(), link, false))(t, "examine a link", amber.KindRefused)
}

// Damage that only a look at every page and row shows is reported as a check that failed.
func TestExamineFindsDamageInside(t *testing.T) {
	t.Parallel()
	dir := strangers(t)
	root := func(table string) int {
		return query[int](t, filepath.Join(dir, "memory.db"), `SELECT rootpage FROM sqlite_schema WHERE name = '`+table+`'`)
	}
	page := func(b []byte, n int) []byte { return b[(n-1)*4096:][:4096] }
	for _, c := range []struct {
		name, check string
		change      string
		harm        func([]byte) []byte
	}{
		{"tree leads to itself", "integrity", "", func(b []byte) []byte {
			p := page(b, root("memories"))
			if p[0] != 0x05 {
				t.Fatal("the table has one page")
			}
			binary.BigEndian.PutUint32(p[8:], uint32(root("memories")))
			return b
		}},
		{"two tables in one", "integrity", "", func(b []byte) []byte {
			copy(page(b, root("memories")), page(b, root("changes")))
			return b
		}},
		{"zeroed page", "integrity", "", func(b []byte) []byte { clear(page(b, root("memories"))); return b }},
		{"free list leads to itself", "integrity", "", func(b []byte) []byte {
			binary.BigEndian.PutUint32(b[32:], 3)
			binary.BigEndian.PutUint32(b[36:], 5)
			return b
		}},
		{"orphan", "foreign_keys", `PRAGMA foreign_keys=0; INSERT INTO concepts VALUES ('nobody', 'c')`, nil},
		{"text that is not indexed", "full_text", `DROP TRIGGER index_memory_update; UPDATE memories SET content = 'other' WHERE rowid = 1; ` + triggerText(t), nil},
		{"words of a passage", "full_text", `DELETE FROM index_tail WHERE row = 3`, nil},
		{"a passage", "full_text", `DELETE FROM passages WHERE row = 2`, nil},
		{"a document that no row is of", "full_text", `UPDATE index_tail SET row = 9999 WHERE row = 1`, nil},
		{"a document that is none", "full_text", `UPDATE index_tail SET document = x'ffff' WHERE row = 1`, nil},
		{"a segment", "full_text", `INSERT INTO index_segments VALUES (7, 0, 1, 1, 1, 1, 0, x'01', x'00')`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := altered(t, dir, func(db *sql.DB) { must.Get(db.Exec(c.change))(t) }, c.harm)
			e := must.Get(image.Examine(t.Context(), path, true))(t)
			last := e.Checks[len(e.Checks)-1]
			if last.OK || last.Name != c.check || last.Detail == "" {
				t.Errorf("the last check is %+v, want a failed %s", last, c.check)
			}
		})
	}
}

// triggerText is the trigger that keeps the indexes when a memory changes.
func triggerText(t *testing.T) string {
	for _, o := range must.Get(sqlfile.MemorySchema.ShapeAt(5))(t) {
		if o.Name == "index_memory_update" {
			return o.SQL
		}
	}
	t.Fatal("there is no such trigger")
	return ""
}

// The index of an older file is compared with its memories as before.
func TestExamineFindsDamageInAnOldIndex(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"rows that are not indexed": `DELETE FROM memory_fts_docsize WHERE id = 1`,
		"settings":                  `INSERT INTO memory_fts (memory_fts, rank) VALUES ('hashsize', 1000000000)`,
		"rank":                      `INSERT INTO memory_fts (memory_fts, rank) VALUES ('rank', 'highlight(0)')`,
		"":                          ``,
	} {
		a := agentWithMemory(t, 4)
		path := filepath.Join(t.TempDir(), "memory.db")
		outside(t, a, "memory.db", func(x *sqlconn.Pool) {
			must.Get(x.DB.Exec(change))(t)
			must.Get(x.DB.Exec("VACUUM INTO ?", path))(t)
		})
		e := must.Get(image.Examine(t.Context(), path, true))(t)
		at := slices.IndexFunc(e.Checks, func(c wire.Check) bool { return c.Name == "full_text" })
		must.Hold(t, at >= 0 && e.Checks[at].OK == (name == ""), "%s: the checks are %+v", name, e.Checks)
	}
}

// Later versions of Amber must accept the schema that a migration made. FTS5 writes
// part of the schema itself, so that a new SQLite may change it. Then later versions
// have to accept the old shape too.
func TestShapesOfReleasedMigrations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s       sqlfile.Schema
		version int64
		want    string
	}{
		{sqlfile.MemorySchema, 1, "19fcbf58cc49b15f"},
		{sqlfile.MemorySchema, 2, "b8a702c4ce18b083"},
		{sqlfile.ControlSchema, 1, "906fa567e189d9ca"},
	} {
		h := sha256.New()
		for _, o := range must.Get(c.s.ShapeAt(c.version))(t) {
			fmt.Fprintf(h, "%q %q %q %q\n", o.Kind, o.Name, o.Table, o.SQL)
		}
		must.Equal(t, fmt.Sprintf("shape of %s %d", c.s.File, c.version), fmt.Sprintf("%x", h.Sum(nil)[:8]), c.want)
	}
	must.Fail(sqlfile.MemorySchema.ShapeAt(0))(t, "schema 0", amber.KindDamaged)
	must.Fail(sqlfile.MemorySchema.ShapeAt(99))(t, "schema 99", amber.KindTooNew)
}

// Whatever bytes a file has, examining it ends, and says no or yes.
func FuzzExamine(f *testing.F) {
	dir := f.TempDir()
	for _, s := range []sqlfile.Schema{sqlfile.MemorySchema, sqlfile.ControlSchema} {
		must.Do(f, s.Build(f.Context(), filepath.Join(dir, s.File), home.Current{Incarnation: "first"}))
		for i := range 20 {
			f.Add(s.File == sqlfile.MemorySchema.File, uint32(i*4096+i*7), byte(i), uint32(100+i), byte(255-i))
		}
	}
	f.Fuzz(func(t *testing.T, memory bool, at1 uint32, v1 byte, at2 uint32, v2 byte) {
		name := "control.db"
		if memory {
			name = "memory.db"
		}
		b := must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
		b[int(at1)%len(b)], b[int(at2)%len(b)] = v1, v2
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(path, b, 0o600))
		_, err := image.Examine(t.Context(), path, true)
		switch amber.KindOf(err) {
		case "", amber.KindDamaged, amber.KindRefused, amber.KindTooNew:
		default:
			t.Errorf("an error of kind %s: %v", amber.KindOf(err), err)
		}
	})
}
