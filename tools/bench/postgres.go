package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/store/sqlite"
)

// goal is a line about agents in PostgreSQL.
type goal struct {
	work  string
	got   float64
	unit  string
	goal  float64
	least bool // the goal is to have as much, not to have no more
	note  string
}

func (g goal) line() line {
	return line{name: g.work, amount: g.got, unit: g.unit, limit: g.goal, least: g.least, note: g.note}
}

// pgLab is what agents in PostgreSQL are measured with: a server that keeps what it acknowledges, and a home beside it.
type pgLab struct {
	c      config
	server *pgtest.Server
	dsn    string
	db     *postgres.Server
	pool   *pgxpool.Pool // for what is compared with, beside Amber
	text   *writer
	agents int
	ends   []func() error
}

// elsewhere are goals that other programs measure.
var elsewhere = []string{
	"four replicas against one, 64 agents",
}

// postgreses measures agents in PostgreSQL. Where there is no such program, it says so.
func postgreses(ctx context.Context, c config) outcome {
	server, err := pgtest.Start(ctx, pgtest.Options{Durable: true, Settings: map[string]string{"max_connections": "300"}})
	var missing *pgtest.Missing
	if errors.As(err, &missing) {
		fmt.Println("agents in PostgreSQL are not measured:", missing)
		return outcome{}
	}
	check(err)
	l := &pgLab{c: c, server: server, text: newWriter(uint64(time.Now().UnixNano()))}
	defer func() { check(server.Close()) }()
	defer l.close()
	check(server.CreateDatabase(ctx, "amber"))
	l.dsn = server.TCP("amber")
	l.db = l.connect(ctx, l.dsn)
	l.pool = get(pgxpool.New(ctx, l.dsn+fmt.Sprintf(" pool_max_conns=%d", serveClients)))
	l.ends = append(l.ends, func() error { l.pool.Close(); return nil })

	var out outcome
	for _, part := range []struct {
		name    string
		measure func(context.Context) []goal
	}{
		{"recall", l.recall},
		{"writers", l.writers},
		{"save", l.save},
		{"index", l.upkeep},
		{"claims", l.claims},
		{"restore", l.restore},
		{"snapshots", l.snapshots},
		{"failover", l.failover},
		{"sizes", l.sizes},
	} {
		if len(c.pgOnly) > 0 && !slices.Contains(c.pgOnly, part.name) {
			continue
		}
		begin := time.Now()
		within(part.name, func() {
			for _, g := range part.measure(ctx) {
				out.lines = append(out.lines, g.line())
			}
		})
		fmt.Printf("%s of agents in PostgreSQL measured in %s\n", part.name, time.Since(begin).Round(time.Second))
	}
	printLines(out.lines)
	for _, name := range elsewhere {
		fmt.Printf("%-44s not measured here\n", name)
	}
	return out
}

func (l *pgLab) close() {
	var err error
	for i := len(l.ends) - 1; i >= 0; i-- {
		err = errors.Join(err, l.ends[i]())
	}
	check(err)
}

// connect opens a database as a program would.
func (l *pgLab) connect(ctx context.Context, dsn string) *postgres.Server {
	db := get(postgres.Connect(ctx, postgres.ServerOptions{DSN: dsn, Connections: serveClients, Clock: time.Now, Random: rand.Reader}))
	l.ends = append(l.ends, db.Close)
	return db
}

// agent names a new agent.
func (l *pgLab) agent() amber.AgentID {
	l.agents++
	return amber.AgentID(fmt.Sprint("agent-", l.agents))
}

// open opens an agent of the database.
func (l *pgLab) open(ctx context.Context, id amber.AgentID, o postgres.Options) *postgres.Store {
	s := get(l.db.Open(ctx, amber.DefaultTenant, id, o))
	l.ends = append(l.ends, s.Close)
	return s
}

// lite opens a new agent in files.
func (l *pgLab) lite(ctx context.Context, o sqlite.Options) *sqlite.Store {
	l.agents++
	s := get(sqlite.Open(ctx, agentIn(filepath.Join(l.c.dir, fmt.Sprint("beside-postgres-", l.agents))), o))
	l.ends = append(l.ends, s.Close)
	return s
}

// fill stores n memories in every one of some stores, the same in each.
func (l *pgLab) fill(ctx context.Context, n int, tick func(), stores ...amber.BatchWriter) {
	for at := 0; at < n; at += amber.MaxBatchSize {
		batch := make([]amber.WriteRequest, min(amber.MaxBatchSize, n-at))
		for i := range batch {
			batch[i].Title, batch[i].Content = l.text.text(at + i)
		}
		for _, s := range stores {
			get(s.WriteBatch(ctx, batch))
		}
		tick()
	}
}

// exec runs a statement beside Amber, as the superuser.
func (l *pgLab) exec(ctx context.Context, sql string, args ...any) {
	get(l.pool.Exec(ctx, sql, args...))
}

// column reads the one column of a question.
func column[T any](ctx context.Context, pool *pgxpool.Pool, sql string, args ...any) []T {
	return get(pgx.CollectRows(get(pool.Query(ctx, sql, args...)), pgx.RowTo[T]))
}

// middleOf returns the median times of two ways that take turns.
func middleOf(n int, ours, theirs func()) (a, b float64) {
	x, y := median(n, ours, theirs)
	return x.Seconds(), y.Seconds()
}
