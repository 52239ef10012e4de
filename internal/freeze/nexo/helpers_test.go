package nexo

import (
	"crypto/rand"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// clock stands still until a test calls move.
type clock struct{ now time.Time }

func (c *clock) read() time.Time      { return c.now }
func (c *clock) move(d time.Duration) { c.now = c.now.Add(d) }

func newClock() *clock { return &clock{time.Date(2026, time.March, 14, 9, 30, 0, 0, time.UTC)} }

// store is an agent's store and the path of its memory.db.
type store struct {
	*sqlite.Store
	path string
}

func freshStore(t *testing.T) (*store, *clock) {
	t.Helper()
	c := newClock()
	h, _, err := home.Open(t.TempDir()+"/home", home.Options{Clock: c.read, Random: rand.Reader})
	must.Do(t, err)
	a := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	s := must.Get(sqlite.Open(t.Context(), a, sqlite.Options{Clock: c.read, Random: rand.Reader}))(t)
	t.Cleanup(func() { must.Do(t, s.Close()) })
	return &store{s, filepath.Join(a.GenDir(must.Get(a.Current())(t)), "memory.db")}, c
}

// putEmbedding stores a vector, which no contract does.
func (s *store) putEmbedding(t *testing.T, e amber.Embedding) {
	t.Helper()
	must.Do(t, asked(t, s.path, fmt.Sprintf(`INSERT INTO embeddings (memory_id, model, dimension, vector) VALUES ('%s', '%s', %d, x'%x')`,
		e.MemoryID, e.Model, len(e.Vector), packVector(e.Vector))).Close())
}

// copyOf returns a copy of the memory.db of a store.
func copyOf(t *testing.T, s *store) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	must.Do(t, asked(t, s.path, "VACUUM INTO '"+path+"'").Close())
	return path
}

// export exports a memory.db.
func export(t *testing.T, path, dir string, agent amber.AgentID) ([]Count, error) {
	t.Helper()
	r, err := image.OpenRecords(t.Context(), path)
	if err != nil {
		return nil, err
	}
	defer func() { must.Do(t, r.Close()) }()
	return Export(t.Context(), r, dir, agent)
}

// exported returns a folder with what Ana's agent exports.
func exported(t *testing.T, path string) string {
	t.Helper()
	dir := t.TempDir()
	must.Get(export(t, path, dir, "ana"))(t)
	return dir
}

var importGeneration = home.Current{Generation: 1, Incarnation: "0193c5a8-0000-7000-8000-000000000001", Device: "0193c5a8-0000-7000-8000-000000000002"}

// importNexo makes a memory.db from the databases in a folder.
func importNexo(t *testing.T, dir string, agent amber.AgentID) (string, []Count, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	into := must.Get(sqlite.Fill(t.Context(), path, importGeneration, sqlite.Options{Clock: newClock().read, Random: rand.Reader}))(t)
	left, err := Import(t.Context(), dir, into.Filler, agent)
	must.Do(t, into.Close())
	return path, left, err
}

// asked opens a database and runs statements on it.
func asked(t *testing.T, path string, queries ...string) *sql.DB {
	t.Helper()
	db := must.Get(sql.Open("sqlite", path))(t)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { must.Do(t, db.Close()) })
	for _, q := range queries {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	return db
}

// query returns the one value a query of a file answers with.
func query[T any](t *testing.T, path, q string) (v T) {
	t.Helper()
	db := must.Get(sql.Open("sqlite", "file:"+path+"?mode=ro&immutable=1"))(t)
	defer db.Close()
	must.Do(t, db.QueryRow(q).Scan(&v))
	return v
}

// holds returns everything of a memory.db that comes over.
func holds(t *testing.T, path string) (h comesOver) {
	t.Helper()
	r := must.Get(image.OpenRecords(t.Context(), path))(t)
	defer func() { must.Do(t, r.Close()) }()
	readable := func(ok bool) error {
		must.Hold(t, ok, "a record cannot be read")
		return nil
	}
	h.Concepts = map[string]string{}
	must.Do(t, r.Memories(func(m amber.Memory, concepts []string, ok bool) error {
		h.Memories = append(h.Memories, m)
		for _, c := range concepts {
			h.Concepts[string(m.ID)] += c + " "
		}
		return readable(ok)
	}))
	must.Do(t, r.Relations(func(x amber.Relation, ok bool) error { h.Relations = append(h.Relations, x); return readable(ok) }))
	must.Do(t, r.Turns(func(_ int64, x amber.Turn, ok bool) error { h.Turns = append(h.Turns, x); return readable(ok) }))
	must.Do(t, r.Sessions(func(x amber.Session, ok bool) error { h.Sessions = append(h.Sessions, x); return readable(ok) }))
	must.Do(t, r.Compactions(func(_ int64, x amber.Compaction, ok bool) error {
		h.Compactions = append(h.Compactions, x)
		return readable(ok)
	}))
	must.Do(t, r.Embeddings(func(x amber.Embedding, ok bool) error { h.Embeddings = append(h.Embeddings, x); return readable(ok) }))
	slices.SortFunc(h.Memories, func(a, b amber.Memory) int { return strings.Compare(string(a.ID), string(b.ID)) })
	slices.SortFunc(h.Sessions, func(a, b amber.Session) int { return strings.Compare(string(a.ID), string(b.ID)) })
	slices.SortFunc(h.Embeddings, func(a, b amber.Embedding) int {
		return strings.Compare(string(a.MemoryID)+a.Model, string(b.MemoryID)+b.Model)
	})
	return h
}
