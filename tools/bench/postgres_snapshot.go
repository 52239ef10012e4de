package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	settings "github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/wire"
)

// snapshots measures what a snapshot costs after a small change, and what it adds to the repository.
func (l *pgLab) snapshots(ctx context.Context) []goal {
	ours, theirs := l.whole(ctx, l.dsn), l.whole(ctx, "")
	l.fill(ctx, l.c.large, func() {}, ours.Store().Batch, theirs.Store().Batch)
	n, grown := 0, []int64{}
	taken := func(a *agent.Agent, note bool) func() {
		return func() {
			n++
			get(a.Store().LongTerm.Write(ctx, amber.WriteRequest{Content: fmt.Sprintf("a small change, number %d", n)}))
			m := get(a.Snapshot(ctx, wire.SnapshotRequest{}))
			if note {
				grown = append(grown, m.BytesNew)
			}
		}
	}
	taken(ours, false)()
	taken(theirs, false)()
	a, b := middleOf(turns, taken(ours, true), taken(theirs, false))
	slices.Sort(grown)
	return []goal{
		{work: fmt.Sprintf("snapshot of %d after a small change over SQLite", l.c.large), got: a / b, unit: "x", goal: 1.5, note: fmt.Sprintf("%.0f ms over %.0f ms", a*1000, b*1000)},
		{work: "growth per small change", got: float64(grown[len(grown)/2]) / 1e6, unit: "MB", goal: 1.5, note: "of the repository, the middle one"},
	}
}

// whole opens a new agent with everything around its store, in the database or in files.
func (l *pgLab) whole(ctx context.Context, dsn string) *agent.Agent {
	l.agents++
	home := filepath.Join(l.c.dir, fmt.Sprint("whole-", l.agents))
	check(os.MkdirAll(home, 0o700))
	c := settings.Default()
	c.Memory.Write.MaxBatchSize = amber.MaxBatchSize
	if dsn != "" {
		file := home + ".dsn"
		check(os.WriteFile(file, []byte(dsn), 0o600))
		c.Memory.Backend, c.Memory.Backends.Postgres.DSNFile = settings.PostgresBackend, file
	}
	a := get(agent.Open(ctx, agent.Options{Home: home, Agent: amber.AgentID(fmt.Sprint("whole-", l.agents)), Config: &c, Clock: time.Now, Random: rand.Reader}))
	l.ends = append(l.ends, a.Close)
	return a
}
