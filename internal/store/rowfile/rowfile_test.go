package rowfile

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

func table(t *testing.T, file, name string) Table {
	t.Helper()
	for _, f := range must.Get(Files())(t) {
		for _, x := range f.Tables {
			if f.Name == file && x.Name == name {
				return x
			}
		}
	}
	t.Fatalf("%s has no table %s", file, name)
	return Table{}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	all := must.Get(Files())(t)
	must.Equal(t, "files", []string{all[0].Name, all[1].Name}, []string{"memory.db", "control.db"})
	for _, f := range all {
		for _, x := range f.Tables {
			must.Hold(t, len(x.Key) > 0 && len(x.Columns) >= len(x.Key), "%s has the key %v", x.Name, x.Key)
			for _, c := range x.Columns {
				must.Hold(t, slices.Contains([]Type{Integer, Real, Text, Blob}, c.Type), "%s.%s is of type %s", x.Name, c.Name, c.Type)
				must.Hold(t, !c.Null || !slices.Contains(x.Key, c.Name), "%s.%s may be NULL", x.Name, c.Name)
			}
		}
	}
	must.Equal(t, "key", table(t, "memory.db", "memories").Key, []string{"rowid"})
	must.Equal(t, "key of several columns", table(t, "control.db", "events").Key, []string{"task_id", "seq"})
	must.Equal(t, "columns", table(t, "memory.db", "index_tail").Columns, []Column{{"row", Integer, false}, {"document", Blob, false}})
	place := func(name string) int {
		return slices.IndexFunc(all[0].Tables, func(x Table) bool { return x.Name == name })
	}
	must.Hold(t, place("memories") < place("concepts") && place("sessions") < place("activity"), "a table comes before one it refers to")
}

// each gives rows to Insert.
func each(rows ...[]any) func() ([]any, error) {
	return func() ([]any, error) {
		if len(rows) == 0 {
			return nil, nil
		}
		row := rows[0]
		rows = rows[1:]
		return row, nil
	}
}

func read(t *testing.T, r *Reader, x Table) (rows [][]any) {
	t.Helper()
	must.Do(t, r.Each(t.Context(), x, func(row []any) error {
		rows = append(rows, slices.Clone(row))
		return nil
	}))
	must.Equal(t, "count", must.Get(r.Count(t.Context(), x))(t), int64(len(rows)))
	return rows
}

func TestRowsThereAndBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tail, relations := table(t, "memory.db", "index_tail"), table(t, "memory.db", "relations")
	want := [][]any{}
	for i := range 1234 { // more than one statement takes, and some left over
		want = append(want, []any{int64(i), []byte(fmt.Sprint("document ", i))})
	}
	want[7][1] = []byte{} // not NULL
	links := [][]any{
		{"a", "x", "y", "t", 0.25, "d", int64(1), int64(-2), int64(3), nil, "own", ""},
		{"b", "x", "é\u2028", "t", float64(1), "", int64(1), int64(1) << 62, int64(3), int64(4), "agent", `{"host":"codex"}`},
	}
	w := must.Get(Create(t.Context(), dir, "memory.db"))(t)
	must.Equal(t, "written", must.Get(w.Insert(t.Context(), tail, each(want...)))(t), 1234)
	must.Equal(t, "written", must.Get(w.Insert(t.Context(), relations, each(links...)))(t), 2)
	must.Do(t, w.Finish(t.Context()))
	must.Fail(Create(t.Context(), dir, "memory.db"))(t, "over a file", amber.KindConflict)
	must.Fail(Create(t.Context(), dir, "other.db"))(t, "no such file", amber.KindInvalid)

	path := filepath.Join(dir, "memory.db")
	must.Equal(t, "files", len(must.Get(os.ReadDir(dir))(t)), 1)
	must.Equal(t, "mode", must.Get(os.Stat(path))(t).Mode().Perm(), os.FileMode(0o600))
	must.Equal(t, "schema", must.Get(image.Examine(t.Context(), path, false))(t).Schema, sqlfile.MemorySchema.Version())
	r := must.Get(Open(t.Context(), path, "memory.db", ""))(t)
	must.Equal(t, "rows", read(t, r, tail), want)
	must.Equal(t, "rows", read(t, r, relations), links)
	for _, x := range r.File().Tables {
		if x.Name != "index_tail" && x.Name != "relations" {
			must.Equal(t, x.Name, len(read(t, r, x)), 0)
		}
	}
	must.Do(t, r.Close())
	must.Fail(Open(t.Context(), path, "control.db", ""))(t, "the other file", amber.KindConflict)

	// Triggers and indexes are back, and the journal is what it is in every file.
	db := must.Get(sql.Open("sqlite", path))(t)
	defer db.Close()
	must.Get(db.Exec(`INSERT INTO turns (id, session_id, role, content, project_id, created_at) VALUES ('t', 's', 'user', '', '', 1)`))(t)
	var dirty, mode string
	must.Do(t, db.QueryRow(`SELECT source || ' ' || owner FROM index_dirty`).Scan(&dirty))
	must.Do(t, db.QueryRow(`PRAGMA journal_mode`).Scan(&mode))
	must.Equal(t, "noted and journal", []string{dirty, mode}, []string{"turn t", "wal"})
}

func TestAbandon(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := must.Get(Create(t.Context(), dir, "control.db"))(t)
	x := table(t, "control.db", "events")
	must.Fail(w.Insert(t.Context(), x, each([]any{"t", "not a number", "{}"})))(t, "a text for a number", amber.KindInternal)
	must.Do(t, w.Abandon())
	must.Equal(t, "files", len(must.Get(os.ReadDir(dir))(t)), 0)
}

// A file of an older schema is read as one of the newest, and stays as it is.
func TestOlderSchema(t *testing.T) {
	t.Parallel()
	dir, scratch := t.TempDir(), t.TempDir()
	for _, s := range []sqlfile.Schema{sqlfile.MemorySchema, sqlfile.ControlSchema} {
		for v := 1; v < int(s.Version()); v++ {
			old := s
			old.Migrations = s.Migrations[:v]
			path := filepath.Join(dir, fmt.Sprint(v, s.File))
			must.Do(t, old.Build(t.Context(), path, home.Current{Incarnation: "first"}))
			before := must.Get(os.ReadFile(path))(t)
			must.Fail(Open(t.Context(), path, s.File, ""))(t, "nowhere to migrate", amber.KindInvalid)
			r := must.Get(Open(t.Context(), path, s.File, scratch))(t)
			rows := read(t, r, table(t, s.File, "incarnations"))
			must.Equal(t, "incarnations", rows, [][]any{{int64(1), "first", int64(1)}})
			for _, x := range r.File().Tables {
				read(t, r, x)
			}
			seq, stamp, err := r.End(context.Background())
			must.Do(t, err)
			must.Equal(t, "end of the log", []int64{seq, stamp}, []int64{0, 0})
			must.Do(t, r.Close())
			must.Equal(t, "left in the scratch folder", len(must.Get(os.ReadDir(scratch))(t)), 0)
			must.Equal(t, "the file", string(must.Get(os.ReadFile(path))(t)) == string(before), true)
		}
	}
}
