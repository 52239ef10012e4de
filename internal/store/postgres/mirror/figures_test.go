package mirror_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/store/rowfile"
	"github.com/amber-memory/amber/internal/test/must"
)

var memories = flag.Int("memories", 400, "how many memories the agent has that is timed")

// words makes texts of a vocabulary in which few words are common.
func words(r *mathrand.Rand, n int) string {
	out := make([]string, n)
	zipf := mathrand.NewZipf(r, 1.2, 4, 20_000)
	for i := range out {
		out[i] = fmt.Sprintf("w%x", zipf.Uint64()*2654435761%0xfffff)
	}
	return strings.Join(out, " ")
}

// TestFigures carries an agent with many memories and logs how long that takes beside COPY of the same
// rows by a superuser, whom neither policies nor triggers concern.
func TestFigures(t *testing.T) {
	pg, name := fresh(t)
	a, clock := agent(connect(t, pg.DSN(name)), "large"), newClock()
	s, r := use(t, a, clock), mathrand.New(mathrand.NewPCG(1, 2))
	for n := 0; n < *memories; n += 100 {
		var batch []amber.WriteRequest
		for i := range min(100, *memories-n) {
			batch = append(batch, amber.WriteRequest{Title: words(r, 4), Content: fmt.Sprint(n+i, " ", words(r, 40+r.IntN(80)))})
		}
		must.Get(s.WriteBatch(t.Context(), batch))(t)
		must.Get(s.SaveTask(t.Context(), amber.Task{ID: fmt.Sprint("task-", n), Goal: "g"}, 0))(t)
		clock.Advance(time.Second)
	}
	begun := time.Now()
	counted := must.Get(mirror.Export(t.Context(), a, t.TempDir(), mirror.ExportOptions{}))(t)
	count := time.Since(begun)
	must.Equal(t, "comparison", counted.Compared, mirror.Counts)
	begun = time.Now()
	dir, e, _ := exported(t, a)
	export := time.Since(begun)
	begun = time.Now()
	b := must.Get(mirror.Import(t.Context(), agent(a.Server, "copy"), files(dir), mirror.ImportOptions{}))(t)
	in := time.Since(begun)
	begun = time.Now()
	must.Get(b.Switch(t.Context(), mirror.SwitchOptions{}))(t)
	change := time.Since(begun)
	tables(t, "rows", b.Tables, e.Tables)
	begun = time.Now()
	rows := copied(t, pg.DSN(name), dir)
	bare := time.Since(begun)
	must.Hold(t, rows > int64(*memories), "%d rows were copied", rows)
	again := must.Get(mirror.Import(t.Context(), agent(a.Server, "copy"), files(dir), mirror.ImportOptions{}))(t)
	begun = time.Now()
	must.Do(t, again.Discard(t.Context()))
	gone := time.Since(begun)
	t.Logf("%d memories, %d rows: pin %s, export %s, with all rows compared %s, import with all rows compared %s, switch %s, discard %s; COPY of the same rows %s",
		*memories, rows, e.Pin, count, export, in, change, gone, bare)
}

// source gives the rows of a table to COPY.
type source struct {
	rows *sql.Rows
	n    int
}

func (s source) Next() bool { return s.rows.Next() }
func (s source) Err() error { return s.rows.Err() }

func (s source) Values() ([]any, error) {
	row, dest := make([]any, s.n), make([]any, s.n)
	for i := range row {
		dest[i] = &row[i]
	}
	err := s.rows.Scan(dest...)
	for i, v := range row {
		if b, ok := v.([]byte); ok && b == nil {
			row[i] = []byte{} // no bytes, which are not NULL
		}
	}
	return append([]any{int64(1_000_000)}, row...), err
}

// copied gives all rows of two files to COPY, each table in a transaction.
func copied(t *testing.T, dsn, dir string) (rows int64) {
	c := must.Get(pgx.Connect(t.Context(), dsn))(t)
	defer c.Close(context.Background())
	must.Get(c.Exec(t.Context(), "SET session_replication_role = replica"))(t)
	for _, f := range must.Get(rowfile.Files())(t) {
		db := must.Get(sql.Open("sqlite", filepath.Join(dir, f.Name)))(t)
		schema := map[string]string{"memory.db": "amber", "control.db": "amber_control"}[f.Name]
		for _, table := range f.Tables {
			from := must.Get(db.Query(fmt.Sprintf(`SELECT * FROM %q`, table.Name)))(t)
			rows += must.Get(c.CopyFrom(t.Context(), pgx.Identifier{schema, table.Name}, append([]string{"gen"}, table.Names()...), source{from, len(table.Columns)}))(t)
			must.Do(t, from.Close())
		}
		must.Do(t, db.Close())
	}
	return rows
}
