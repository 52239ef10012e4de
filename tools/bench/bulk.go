package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/sqlite"
)

// bulks measures how long it takes to store many memories, batch by batch, each searchable by
// its words when it is acknowledged, against inserts of the same rows into tables that have
// neither triggers nor indexes.
func bulks(ctx context.Context, c config) outcome {
	b := &bench{dir: c.dir, writer: newWriterOf(uint64(time.Now().UnixNano()), vocabulary)}
	requests := make([]amber.WriteRequest, c.large)
	for i := range requests {
		requests[i] = b.request(i)
	}
	home := filepath.Join(c.dir, "bulk")
	s := get(sqlite.Open(ctx, agentIn(home), options()))
	begin := time.Now()
	for first := 0; first < len(requests); first += amber.MaxBatchSize {
		get(s.WriteBatch(ctx, requests[first:min(len(requests), first+amber.MaxBatchSize)]))
	}
	check(s.Close())
	ours := time.Since(begin)
	theirs := b.bareBulk(ctx, home)
	whole, index := sizes(ctx, home)
	fmt.Printf("%d memories in %s, %.0f a second; bare inserts in %s; memory.db %s, of it the index %s\n",
		c.large, ours.Round(time.Millisecond), float64(c.large)/ours.Seconds(), theirs.Round(time.Millisecond), mb(whole), mb(index))
	return outcome{ratios: []ratio{
		{name: "storing many memories", ours: ours, theirs: theirs, what: "store", base: "bare inserts without indexes"},
	}}
}

// bareBulk inserts the rows of a store into tables without triggers and indexes.
func (b *bench) bareBulk(ctx context.Context, home string) time.Duration {
	memories, changes := sourceRows(ctx, home)
	to := filepath.Join(b.dir, "bare")
	check(get(sqlite.Open(ctx, agentIn(to), options())).Close())
	db := openMemoryDB(agentIn(to), storePragmas)
	for _, drop := range texts(ctx, db, extras) {
		get(db.ExecContext(ctx, drop))
	}
	begin := time.Now()
	insertRows(ctx, db, memories, changes, amber.MaxBatchSize)
	check(db.Close())
	return time.Since(begin)
}

// extras makes the statements that drop all triggers and indexes.
const extras = `SELECT 'DROP ' || type || ' "' || name || '"' FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL`

// sizes returns the bytes of memory.db, and of the pages of the index in it.
func sizes(ctx context.Context, home string) (whole, index int64) {
	agent := agentIn(home)
	whole = get(os.Stat(filepath.Join(agent.GenDir(get(agent.Current())), "memory.db"))).Size()
	db := openMemoryDB(agent, []string{"query_only(1)"})
	defer db.Close()
	check(db.QueryRowContext(ctx, `SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name LIKE 'index\_%' ESCAPE '\' OR name LIKE 'passages%'`).Scan(&index))
	return whole, index
}
