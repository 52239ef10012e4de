package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
)

// sizes tells how much room memories take, by table, and how much a write adds to the write-ahead log. Nothing of it
// has a goal.
func (l *pgLab) sizes(ctx context.Context) []goal {
	check(l.server.CreateDatabase(ctx, "sized"))
	db := l.connect(ctx, l.server.TCP("sized"))
	s := get(db.Open(ctx, amber.DefaultTenant, l.agent(), postgres.Options{}))
	l.ends = append(l.ends, s.Close)
	pool := get(pgxpool.New(ctx, l.server.TCP("sized")))
	defer pool.Close()
	n := min(l.c.large, 20_000)
	l.fill(ctx, n, func() {}, s)
	s.Settle()
	get(pool.Exec(ctx, "VACUUM ANALYZE"))
	written := func() int64 {
		return column[int64](ctx, pool, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::int8")[0]
	}
	get(pool.Exec(ctx, "CHECKPOINT"))
	const singles = 200
	before := written()
	for i := range singles {
		title, content := l.text.text(n + i)
		get(s.Write(ctx, amber.WriteRequest{Title: title, Content: content}))
	}
	wal := float64(written()-before) / singles
	before = written()
	for i := range singles {
		title, content := l.text.text(n + singles + i)
		get(s.Write(ctx, amber.WriteRequest{Title: title, Content: content}))
	}
	warm := float64(written()-before) / singles

	type table struct {
		Name        string
		Heap, Index int64
	}
	rows := get(pool.Query(ctx, `SELECT n.nspname || '.' || c.relname, pg_table_size(c.oid), pg_indexes_size(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname LIKE 'amber%' AND pg_total_relation_size(c.oid) > $1 ORDER BY pg_total_relation_size(c.oid) DESC`, 20*n))
	total := column[int64](ctx, pool, `SELECT pg_database_size('sized')`)[0]
	for _, t := range get(pgx.CollectRows(rows, pgx.RowToStructByPos[table])) {
		fmt.Printf("%-28s %6d bytes of rows and %5d of indexes for each of %d memories\n", t.Name, t.Heap/int64(n), t.Index/int64(n), n)
	}
	return []goal{
		{work: "bytes of a database for each memory", got: float64(total) / float64(n), unit: "B"},
		{work: "write-ahead log of a write after a checkpoint", got: wal / 1024, unit: "KiB", note: "with the pages that are written whole"},
		{work: "write-ahead log of the next writes", got: warm / 1024, unit: "KiB"},
	}
}
