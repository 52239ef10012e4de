package main

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// agentSize says how large the agent is that snapshots are taken of. The
// default is an agent of about 360 MB.
type agentSize struct {
	Seed     uint64 `json:"seed"`
	Memories int    `json:"memories"`
	Vector   int    `json:"dimensions"` // of each memory's embedding, 32-bit floats
	Notes    int    `json:"notes"`
	Commits  int    `json:"commits"`
	Form     int    `json:"form"` // raised whenever the same numbers make another agent
}

var fullSize = agentSize{Seed: 1, Memories: 100_000, Vector: 384, Notes: 2000, Commits: 500, Form: 2}

// label is the name of the generated agent in a cache folder.
func (s agentSize) label() string {
	return fmt.Sprintf("agent-%d-%d-%d-%d-%d-%d", s.Form, s.Seed, s.Memories, s.Vector, s.Notes, s.Commits)
}

// Where the agent lies in its home.
var agentPath = filepath.Join("tenants", string(amber.DefaultTenant), "agents", string(amber.DefaultAgent))

// generated returns a home with the agent of that size below dir, made now if
// it is not there. It is never changed: measurements run on copies.
func generated(ctx context.Context, dir string, size agentSize) string {
	path := filepath.Join(dir, size.label())
	done := path + ".json" // written last
	if b, err := os.ReadFile(done); err == nil {
		fmt.Printf("agent: %s from %s\n", b, path)
		return path
	}
	check(os.RemoveAll(path))
	begin := time.Now()
	within("generate agent", func() { generate(ctx, path, size) })
	b := get(json.Marshal(size))
	fmt.Printf("agent: %s made in %s\n", b, time.Since(begin).Round(time.Second))
	check(os.WriteFile(done, b, 0o600))
	return path
}

// generate makes an agent as Amber's own writes leave it.
func generate(ctx context.Context, dir string, size agentSize) {
	random := rand.NewChaCha8([32]byte(binary.LittleEndian.AppendUint64(make([]byte, 24), size.Seed)))
	clock := steadyClock()
	h, _, err := home.Open(dir, home.Options{Clock: clock, Random: random})
	check(err)
	agent := get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))
	g := generator{size: size, agent: agent, clock: clock, random: random, text: newWriter(size.Seed)}
	g.memories(ctx)
	g.notes(ctx)
}

// steadyClock goes on by a millisecond at every call.
func steadyClock() amber.Clock {
	var ms atomic.Int64
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time { return begin.Add(time.Duration(ms.Add(1)) * time.Millisecond) }
}

type generator struct {
	size   agentSize
	agent  *home.Agent
	clock  amber.Clock
	random io.Reader
	text   *writer
}

// memories fills memory.db. Memories go through the store. There is no batch
// of embeddings, and a transaction for each would take an hour: they are
// inserted as the store inserts them, many in one transaction.
func (g *generator) memories(ctx context.Context) {
	store := get(sqlite.Open(ctx, g.agent, sqlite.Options{Clock: g.clock, Random: g.random}))
	defer func() { check(store.Close()) }()
	db := openMemoryDB(g.agent, []string{"foreign_keys(1)", "busy_timeout(10000)"})
	defer func() { check(db.Close()) }()
	for n := 0; n < g.size.Memories; {
		batch := make([]amber.WriteRequest, min(amber.MaxBatchSize, g.size.Memories-n))
		for i := range batch {
			batch[i] = g.memory(n + i)
		}
		acks := get(store.WriteBatch(ctx, batch))
		g.embed(ctx, db, acks)
		n += len(batch)
	}
}

// memory is the n-th memory: nine in ten of one of forty projects, the others
// global.
func (g *generator) memory(n int) amber.WriteRequest {
	content := fmt.Sprintf("%s %x%d", g.text.some(8+g.text.random.IntN(22)), g.text.random.Uint64(), n)
	r := amber.WriteRequest{Title: g.text.some(4), Content: content}
	if n%10 != 0 {
		r.Scope, r.Kind = amber.ScopeProject, amber.ProjectFact
		r.Identities = amber.Identities{ProjectID: fmt.Sprintf("acme/project-%02d", n%40)}
	}
	if n%3 == 0 {
		r.Tags = []string{g.text.some(1)}
	}
	return r
}

// embed gives memories a vector each.
func (g *generator) embed(ctx context.Context, db *sql.DB, memories []amber.WriteAck) {
	tx := get(db.BeginTx(ctx, nil))
	defer tx.Rollback()
	vector := make([]byte, 4*g.size.Vector)
	for _, m := range memories {
		g.direction(vector)
		get(tx.ExecContext(ctx, `INSERT INTO embeddings (memory_id, model, dimension, vector) VALUES (?, 'bench', ?, ?)`, m.ID, g.size.Vector, vector))
		get(tx.ExecContext(ctx, `INSERT INTO changes (stamp, op, scope, key, old_digest, new_digest) VALUES (?, ?, ?, ?, ?, ?)`,
			m.Origin.Clock, amber.OpUpdate, amber.ChangeMemory, m.ID, m.ContentDigest, m.ContentDigest))
	}
	check(tx.Commit())
}

// direction fills a vector of length 1, as models make them. No two are alike.
func (g *generator) direction(vector []byte) {
	values := make([]float64, len(vector)/4)
	square := 0.0
	for i := range values {
		values[i] = g.text.random.NormFloat64()
		square += values[i] * values[i]
	}
	length := math.Sqrt(square)
	for i, v := range values {
		binary.LittleEndian.PutUint32(vector[4*i:], math.Float32bits(float32(v/length)))
	}
}

// notes writes the notes in as many commits: each adds some notes and edits
// one that is there.
func (g *generator) notes(ctx context.Context) {
	if g.size.Notes == 0 {
		return
	}
	current := get(g.agent.Current())
	dir := filepath.Join(g.agent.GenDir(current), "memdir")
	d := get(notes.New(notes.Options{Guard: notes.Fixed(dir), Clock: g.clock}))
	written := 0
	for c := range g.size.Commits {
		if c > 0 {
			g.note(dir, g.text.random.IntN(written))
		}
		for ; written < g.size.Notes*(c+1)/g.size.Commits; written++ {
			g.note(dir, written)
		}
		check(d.CommitAll(ctx))
	}
	// One pack, as after a restore, or after git gc: thousands of small files
	// would make the plain copy slow, which everything is compared with.
	repack := command{program: "git", args: []string{"-C", dir, "repack", "-a", "-d", "-q"}}
	get(repack.runNow(ctx))
	check(d.Check(ctx))
}

// noteName is what the n-th note is called.
func noteName(n int) string { return fmt.Sprintf("area-%02d/note-%04d", n%25, n) }

// note writes a note as an editor would.
func (g *generator) note(dir string, n int) {
	path := filepath.Join(dir, filepath.FromSlash(noteName(n))+".md")
	check(os.MkdirAll(filepath.Dir(path), 0o700))
	title, first := g.text.text(n)
	_, second := g.text.text(n)
	check(os.WriteFile(path, fmt.Appendf(nil, "# %s\n\n%s\n\n%s\n", title, first, second), 0o600))
}

// folderSize counts the bytes and files below a folder, which need not exist.
func folderSize(dir string) (bytes, files int64) {
	check(filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info := get(d.Info())
		bytes, files = bytes+info.Size(), files+1
		return nil
	}))
	return bytes, files
}
