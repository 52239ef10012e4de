package sqlite

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// madeUp is the schema of memory.db with migrations that do not exist, up to
// a version.
func madeUp(version int) sqlfile.Schema {
	s := sqlfile.MemorySchema
	s.Migrations = []string{
		strings.Join(sqlfile.MemorySchema.Migrations, "\n"),
		`CREATE TABLE steps (n INTEGER) STRICT; INSERT INTO steps VALUES (2);`,
		`ALTER TABLE memories ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'; INSERT INTO steps VALUES (3);`,
		`UPDATE memories SET mood = 'merry'; INSERT INTO steps VALUES (4);`,
		`INSERT INTO steps VALUES (5);`,
		`INSERT INTO steps VALUES (6);`,
		`INSERT INTO steps VALUES (7);`,
		`INSERT INTO steps VALUES (8);`,
		`INSERT INTO steps VALUES (9);`,
		`INSERT INTO steps VALUES (10);`,
		`INSERT INTO steps VALUES (11);`,
	}[:version]
	return s
}

// openWith opens an agent's store as an Amber would whose memory.db has
// another schema.
func openWith(t *testing.T, a *home.Agent, memory sqlfile.Schema, keep bool) (*Store, error) {
	t.Helper()
	ctx := t.Context()
	o := must.Get(Options{Clock: newHandClock().Now, Random: rand.Reader, KeepSchema: keep}.withDefaults())(t)
	s := newStore(a, a, o)
	s.memory.schema = memory
	indexed := memory.Version() >= sqlcore.IndexedSince
	if !indexed {
		s.memory.index = nil
	}
	c, err := s.generation(ctx)
	if err == nil {
		err = errors.Join(s.memory.ready(ctx, c), s.control.ready(ctx, c))
	}
	if err == nil && indexed {
		err = s.catchUp(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	t.Cleanup(func() { must.Do(t, s.Close()) })
	return s, nil
}

// agentAt returns an agent whose memory.db has a version and one memory.
func agentAt(t *testing.T, version int) (*home.Agent, amber.MemoryID) {
	t.Helper()
	a := agentIn(t, filepath.Join(t.TempDir(), "home"))
	s := must.Get(openWith(t, a, madeUp(version), false))(t)
	id := save(t, s, amber.WriteRequest{Content: "older than the schema"})
	must.Do(t, s.Close())
	return a, id
}

// homeOf returns the home an agent is in.
func homeOf(a *home.Agent) string { return filepath.Join(a.Dir(), "..", "..", "..", "..") }

// steps returns which made-up migrations have run, in order.
func steps(t *testing.T, s *Store) []int64 {
	t.Helper()
	return look(t, s.memory, scanInt, `SELECT n FROM steps ORDER BY rowid`)
}

// version returns the version of a file, asked from outside.
func version(t *testing.T, a *home.Agent, file string) (v int64) {
	t.Helper()
	outside(t, a, file, func(p *sqlconn.Pool) { must.Do(t, p.DB.QueryRow("PRAGMA user_version").Scan(&v)) })
	return v
}

// outside opens a file as another program would.
func outside(t *testing.T, a *home.Agent, file string, f func(*sqlconn.Pool)) {
	t.Helper()
	p := must.Get(sqlfile.OpenPool(filepath.Join(a.GenDir(must.Get(a.Current())(t)), file), sqlfile.Write, time.Second, 1))(t)
	f(p)
	must.Do(t, p.Close())
}

// whole is sound for a made-up schema, which lacks the tables that the newest
// readers ask for.
func whole(t *testing.T, s *Store) {
	t.Helper()
	for _, f := range s.Check(t.Context()) {
		if f.Err != nil && !(f.File == "memory.db" && (f.Check == "rows" || f.Check == "counters")) {
			t.Errorf("%s of %s: %v", f.Check, f.File, f.Err)
		}
	}
	must.Do(t, s.DeepCheck(t.Context()))
}

func TestMigrateFromEveryVersion(t *testing.T) {
	t.Parallel()
	for from := 1; from <= 4; from++ {
		a, id := agentAt(t, from)
		s := must.Get(openWith(t, a, madeUp(4), false))(t)
		must.Equal(t, fmt.Sprintf("migrations from %d", from), steps(t, s), []int64{2, 3, 4})
		memory, control, err := s.SchemaVersion(t.Context())
		if memory != 4 || control != sqlfile.ControlSchema.Version() || err != nil {
			t.Errorf("from %d: versions %d and %d, %v", from, memory, control, err)
		}
		must.Equal(t, fmt.Sprintf("memory from %d", from), must.Get(s.Get(t.Context(), id))(t).Content, "older than the schema")
		save(t, s, amber.WriteRequest{Content: "newer than the schema"})
		whole(t, s)
	}
}

// A step that fails leaves the version before it, whole, and the next open
// goes on from there.
func TestMigrationStopsBetweenSteps(t *testing.T) {
	t.Parallel()
	for broken := 2; broken <= 4; broken++ {
		a, id := agentAt(t, 1)
		bad := madeUp(4)
		bad.Migrations = slices.Clone(bad.Migrations)
		bad.Migrations[broken-1] += ` INSERT INTO steps SELECT no_such_column FROM steps;`
		if _, err := openWith(t, a, bad, false); err == nil {
			t.Fatalf("step %d: the broken migration did not fail", broken)
		}
		must.Equal(t, "version after a failed step", version(t, a, "memory.db"), int64(broken-1))
		old := must.Get(openWith(t, a, madeUp(broken-1), false))(t)
		if m := must.Get(old.Get(t.Context(), id))(t); m.Content != "older than the schema" {
			t.Errorf("step %d: the memory is %q", broken, m.Content)
		}
		save(t, old, amber.WriteRequest{Content: "between the steps"})
		whole(t, old)
		must.Do(t, old.Close())
		s := must.Get(openWith(t, a, madeUp(4), false))(t)
		must.Equal(t, fmt.Sprintf("migrations after step %d failed", broken), steps(t, s), []int64{2, 3, 4})
	}
}

func TestMigrationRunsOnce(t *testing.T) {
	t.Parallel()
	a, _ := agentAt(t, 1)
	const openers = 6
	stores := make([]*Store, openers)
	errs := make([]error, openers)
	var done sync.WaitGroup
	for i := range openers {
		own := agentIn(t, homeOf(a))
		done.Go(func() { stores[i], errs[i] = openWith(t, own, madeUp(4), false) })
	}
	done.Wait()
	must.Do(t, errors.Join(errs...))
	for _, s := range stores {
		must.Equal(t, "migrations", steps(t, s), []int64{2, 3, 4})
	}
	whole(t, stores[0])
}

func TestKeepSchemaLeavesAnOlderFile(t *testing.T) {
	t.Parallel()
	a, _ := agentAt(t, 1)
	must.Fail(openWith(t, a, madeUp(4), true))(t, "open of an older file", amber.KindConflict)
	must.Equal(t, "version of the file", version(t, a, "memory.db"), 1)
	must.Get(openWith(t, a, madeUp(1), true))(t)
}

// No writer can write while a migration runs, and no migration begins while a writer writes.
func TestMigrationHoldsTheExclusiveLock(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, _ := agentAt(t, 1)
	h, _, err := home.Open(homeOf(a), home.Options{Clock: newHandClock().Now, Random: rand.Reader, Wait: 20 * time.Millisecond})
	must.Do(t, err)
	hasty := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	migrate := func() error { return only(openWith(t, hasty, madeUp(4), false)) }
	must.Do(t, a.Write(ctx, "memory", func(home.Current) error {
		must.Kind(t, "migration beside a writer of memory.db", migrate(), amber.KindBusy)
		return nil
	}))
	must.Do(t, a.Write(ctx, "control", func(home.Current) error {
		must.Kind(t, "migration beside a writer of control.db", migrate(), amber.KindBusy)
		return nil
	}))
	must.Do(t, a.Exclusive(ctx, func(home.Current) error {
		must.Kind(t, "migration beside a fence", migrate(), amber.KindBusy)
		return nil
	}))
	must.Equal(t, "version of the file", version(t, a, "memory.db"), 1)
	must.Do(t, migrate())
}

func scanInt(s scanner) (n int64, err error) {
	err = s.Scan(&n)
	return n, err
}
