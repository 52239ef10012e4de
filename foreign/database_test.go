package foreign_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/amber-memory/amber/foreign"
	"github.com/amber-memory/amber/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/must"
)

func rows(t *testing.T, script, table string, order ...string) (got []foreign.Row) {
	t.Helper()
	tree := must.Get(foreign.Open(foreigntest.Database(t, "x.db", script)))(t)
	defer func() { must.Do(t, tree.Close()) }()
	d := must.Get(foreign.OpenDatabase(context.Background(), tree, tree.Files()[0]))(t)
	defer func() { must.Do(t, d.Close()) }()
	must.Do(t, d.Rows(context.Background(), table, order, func(r foreign.Row) error {
		got = append(got, r)
		return nil
	}))
	return got
}

// The driver makes times of columns that are declared so, and their zone would be lost.
func TestATimeInADatabaseKeepsItsZone(t *testing.T) {
	t.Parallel()
	got := rows(t, `CREATE TABLE a (at DATETIME, day DATE, yes BOOLEAN);
		INSERT INTO a VALUES ('2026-01-02T03:04:05.678901-08:00', '2026-01-02', 1);
		INSERT INTO a VALUES (1767323045, 5, 'x');`, "a")
	must.Equal(t, "time", got[0].Text("at"), "2026-01-02T03:04:05.678901-08:00")
	must.Equal(t, "day", got[0].Text("day"), "2026-01-02")
	must.Equal(t, "boolean", got[0].Text("yes"), "1")
	n, ok := got[1].Number("at")
	must.Equal(t, "number", fmt.Sprint(n, ok), "1.767323045e+09 true")
}

func TestAnEnormousCellCostsItselfAlone(t *testing.T) {
	t.Parallel()
	script := fmt.Sprintf(`CREATE TABLE a (id INTEGER PRIMARY KEY, v TEXT, n INTEGER);
		INSERT INTO a (id, v) VALUES (1, 'x'), (2, CAST(zeroblob(%d) AS TEXT)), (3, zeroblob(1000000)), (4, 'a' || char(0) || 'b'), (5, NULL);
		UPDATE a SET n = -id;`,
		foreign.MaxItemBytes+1)
	for _, order := range []string{"id", "n"} {
		var got []string
		for _, r := range rows(t, script, "a", order) {
			got = append(got, fmt.Sprint(r.Text("id"), " ", len(r.Text("v")), " ", r.TooLong, " ", r.Null("v")))
		}
		if order == "id" {
			must.Equal(t, "rows", got, []string{"1 1 0 false", "2 0 1 true", "3 1000000 0 false", "4 3 0 false", "5 0 0 true"})
		}
		must.Equal(t, "rows by "+order, len(got), 5)
	}
}
