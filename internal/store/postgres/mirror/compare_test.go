package mirror

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/rowfile"
	"github.com/amber-memory/amber/internal/test/must"
)

// A file that is not what was read is found, by its counts or by its rows.
func TestComparisonNotices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x := &export{agent: Agent{ID: "a"}, dir: dir}
	row := func(t rowfile.Table) (row []any) {
		for _, c := range t.Columns {
			switch {
			case c.Null:
				row = append(row, nil)
			case c.Type == rowfile.Integer:
				row = append(row, int64(1))
			case c.Type == rowfile.Real:
				row = append(row, 0.5)
			case c.Type == rowfile.Text && t.Name == "queue" && c.Name == "state":
				row = append(row, "queued")
			case c.Type == rowfile.Text:
				row = append(row, "text")
			default:
				row = append(row, []byte("0123456789abcdef"))
			}
		}
		return row
	}
	for _, f := range must.Get(rowfile.Files())(t) {
		w := must.Get(rowfile.Create(t.Context(), dir, f.Name))(t)
		for _, table := range f.Tables {
			d, rows := newDigest(table), [][]any{row(table)}
			must.Get(w.Insert(t.Context(), table, func() ([]any, error) {
				if len(rows) == 0 {
					return nil, nil
				}
				next := rows[0]
				rows = nil
				return next, d.add(next)
			}))(t)
			x.result.Tables = append(x.result.Tables, d.table(f.Name, table))
		}
		must.Do(t, w.Finish(t.Context()))
	}
	compare := func() error { return x.compare(t.Context()) }
	must.NoError(t, compare())
	run := func(file, statement string) {
		t.Helper()
		db := must.Get(sql.Open("sqlite", filepath.Join(dir, file)))(t)
		must.Get(db.Exec(statement))(t)
		must.Do(t, db.Close())
	}
	for _, s := range []struct{ file, there, back, table string }{
		{"memory.db", `UPDATE memories SET deleted_at = 0`, `UPDATE memories SET deleted_at = NULL`, "memories"},
		{"memory.db", `UPDATE relations SET strength = 0.50001`, `UPDATE relations SET strength = 0.5`, "relations"},
		{"memory.db", `UPDATE index_lists SET list = x''`, `UPDATE index_lists SET list = CAST('0123456789abcdef' AS BLOB)`, "index_lists"},
		{"control.db", `UPDATE fences SET fence = 2`, `UPDATE fences SET fence = 1`, "fences"},
		{"control.db", `UPDATE results SET task_id = '', node_id = 'texttext'`, `UPDATE results SET task_id = 'text', node_id = 'text'`, "results"},
	} {
		run(s.file, s.there)
		if s.table == "memories" {
			run(s.file, `DELETE FROM index_dirty WHERE source = 'memory' AND owner = 'text'`) // what the trigger noted
		}
		must.Kind(t, s.there, compare(), amber.KindInternal, s.table, "digest")
		run(s.file, s.back)
		run("memory.db", `DELETE FROM index_dirty WHERE source <> 'text'`)
		must.NoError(t, compare())
	}
	run("control.db", `DELETE FROM replays`)
	must.Kind(t, "a row less", compare(), amber.KindInternal, "replays", "0 rows")
	run("memory.db", `INSERT INTO erased (id, device, counter, clock) VALUES ('more', '', 1, 1)`)
	must.Kind(t, "a row more", compare(), amber.KindInternal, "erased", "2 rows")
}
