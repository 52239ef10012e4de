package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/store/rowfile"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

// disable lets the tables of memories of a database note nothing for the index.
func (l *pgLab) disable(ctx context.Context, database string) error {
	c, err := pgx.Connect(ctx, l.server.TCP(database))
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	for _, table := range []string{"memories", "revisions", "concepts"} {
		if _, err := c.Exec(ctx, "ALTER TABLE amber."+table+" DISABLE TRIGGER USER"); err != nil {
			return err
		}
	}
	return nil
}

// restore measures how rows leave a database and come back.
func (l *pgLab) restore(ctx context.Context) []goal {
	from := mirror.Agent{Server: l.db, Tenant: amber.DefaultTenant, ID: l.agent()}
	l.fill(ctx, l.c.large, func() {}, l.open(ctx, from.ID, postgres.Options{}))
	dir := filepath.Join(l.c.dir, "mirror")
	check(os.MkdirAll(dir, 0o700))
	e := get(mirror.Export(ctx, from, dir, mirror.ExportOptions{}))
	files := mirror.Files{Memory: filepath.Join(dir, "memory.db"), Control: filepath.Join(dir, "control.db")}
	gen := int64(1_000_000)
	imported := func() {
		to := mirror.Agent{Server: l.db, Tenant: amber.DefaultTenant, ID: l.agent()}
		get(get(mirror.Import(ctx, to, files, mirror.ImportOptions{})).Switch(ctx, mirror.SwitchOptions{}))
	}
	copied := func() {
		gen++
		l.copyFiles(ctx, dir, gen)
	}
	a, b := middleOf(turns, imported, copied)
	return []goal{
		{work: "pin", got: e.Pin.Seconds() * 1000, unit: "ms", goal: 5, note: "how long the instant of a copy takes to be fixed"},
		{work: fmt.Sprintf("restore of %d over COPY of the same rows", l.c.large), got: a / b, unit: "x", goal: 2, note: fmt.Sprintf("%.1f s over %.1f s, all rows compared", a, b)},
	}
}

// rowsOf gives the rows of a table of a file to COPY, with a generation in front.
type rowsOf struct {
	*sql.Rows
	columns int
	gen     int64
}

func (r rowsOf) Values() ([]any, error) {
	row, dest := make([]any, r.columns), make([]any, r.columns)
	for i := range row {
		dest[i] = &row[i]
	}
	err := r.Scan(dest...)
	for i, v := range row {
		if b, ok := v.([]byte); ok && b == nil {
			row[i] = []byte{} // no bytes, which are not NULL
		}
	}
	return append([]any{r.gen}, row...), err
}

// copyFiles gives all rows of two files to COPY, by a superuser, whom neither policies nor triggers concern.
func (l *pgLab) copyFiles(ctx context.Context, dir string, gen int64) {
	c := get(pgx.Connect(ctx, l.dsn))
	defer c.Close(ctx)
	get(c.Exec(ctx, "SET session_replication_role = replica"))
	for _, f := range get(rowfile.Files()) {
		schema := map[string]string{"memory.db": "amber", "control.db": "amber_control"}[f.Name]
		within(f.Name, func() {
			db := get(sql.Open("sqlite", filepath.Join(dir, f.Name)))
			defer db.Close()
			for _, table := range f.Tables {
				rows := get(db.QueryContext(ctx, fmt.Sprintf(`SELECT * FROM %q`, table.Name)))
				get(c.CopyFrom(ctx, pgx.Identifier{schema, table.Name}, append([]string{"gen"}, table.Names()...), rowsOf{rows, len(table.Columns), gen}))
				check(rows.Close())
			}
		})
	}
}

// failover kills a primary under writers and promotes its standby, which it waited for.
func (l *pgLab) failover(ctx context.Context) []goal {
	const writers, before = 16, 100
	primary := get(pgtest.Start(ctx, pgtest.Options{Durable: true}))
	defer func() { check(primary.Close()) }()
	check(primary.CreateDatabase(ctx, "amber"))
	standby := get(primary.Standby(ctx, "b", true))
	defer func() { check(standby.Close()) }()
	db := get(postgres.Connect(ctx, postgres.ServerOptions{DSN: pgtest.Hosts("amber", primary, standby), Clock: time.Now, Random: rand.Reader}))
	defer func() { check(db.Close()) }()
	s := get(db.Open(ctx, amber.DefaultTenant, amber.DefaultAgent, postgres.Options{}))
	defer func() { check(s.Close()) }()

	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	var acked, last atomic.Int64 // how many, and when the last was
	var pause atomic.Int64       // the longest between two
	last.Store(time.Now().UnixNano())
	for i := range writers {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				_, err := s.Write(ctx, amber.WriteRequest{Content: fmt.Sprintf("writer %d wrote line %d", i, n)})
				if err != nil {
					continue // the primary is gone
				}
				now := time.Now().UnixNano()
				if gap := now - last.Swap(now); gap > pause.Load() {
					pause.Store(gap)
				}
				acked.Add(1)
			}
		})
	}
	until := func(n int64) {
		for limit := time.Now().Add(time.Minute); acked.Load() < n; time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				fail("%d writes were acknowledged in a minute, want %d", acked.Load(), n)
			}
		}
	}
	until(before)
	pause.Store(0)
	check(primary.Kill())
	begin := time.Now()
	check(standby.Promote(ctx))
	promotion := time.Since(begin)
	until(acked.Load() + before)
	paused := time.Duration(pause.Load())
	return []goal{{
		work: "pause in a failover over the promotion alone", got: paused.Seconds() / promotion.Seconds(), unit: "x", goal: 1.5 + 1/promotion.Seconds(),
		note: fmt.Sprintf("%s over %s; the goal is 1.5 times and a second", paused.Round(time.Millisecond), promotion.Round(time.Millisecond)),
	}}
}
