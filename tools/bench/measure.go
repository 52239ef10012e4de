package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the bare query runs on the same engine

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// bench holds the stores that are compared.
type bench struct {
	dir            string
	writer         *writer
	empty          *home.Agent
	large, small   *sqlite.Store
	largeN, smallN int
}

func prepare(ctx context.Context, dir string, large, small int) *bench {
	b := &bench{dir: dir, writer: newWriter(uint64(time.Now().UnixNano())), largeN: large, smallN: small}
	begin := time.Now()
	b.large = b.fill(ctx, "large", large)
	fmt.Printf("%d memories stored in %s\n", large, time.Since(begin).Round(time.Millisecond))
	b.small = b.fill(ctx, "small", small)
	s := b.fill(ctx, "empty", 0)
	b.empty = s.Agent()
	check(s.Close())
	return b
}

func (b *bench) close() { check(errors.Join(b.large.Close(), b.small.Close())) }

func options() sqlite.Options { return sqlite.Options{Clock: time.Now, Random: rand.Reader} }

// fill makes a store of n memories, half of them in one project.
func (b *bench) fill(ctx context.Context, name string, n int) *sqlite.Store {
	s := get(sqlite.Open(ctx, agentIn(filepath.Join(b.dir, name)), options()))
	var batch []amber.WriteRequest
	for i := range n {
		batch = append(batch, b.request(i))
		if len(batch) == amber.MaxBatchSize || i == n-1 {
			get(s.WriteBatch(ctx, batch))
			batch = batch[:0]
		}
	}
	return s
}

// request is a memory, global, but one in a hundred of a project of its own.
func (b *bench) request(i int) amber.WriteRequest {
	title, content := b.writer.text(i)
	r := amber.WriteRequest{Title: title, Content: content}
	if i%100 == 0 {
		r.Scope, r.Identities = amber.ScopeProject, amber.Identities{ProjectID: "acme/narrow"}
	}
	return r
}

// median runs ours and theirs in turn, n times each.
func median(n int, ours, theirs func()) (a, b time.Duration) {
	var as, bs []time.Duration
	for range n {
		for _, side := range []struct {
			run  func()
			into *[]time.Duration
		}{{ours, &as}, {theirs, &bs}} {
			begin := time.Now()
			side.run()
			*side.into = append(*side.into, time.Since(begin))
		}
	}
	return middle(as), middle(bs)
}

// save compares one save into the large store with one into the small.
func (b *bench) save(ctx context.Context) ratio {
	n := 1 << 30 // beyond what fill wrote
	one := func(s *sqlite.Store) func() {
		return func() {
			n++
			get(s.Write(ctx, b.request(n*100+1)))
		}
	}
	// The small store grows while it is measured: by a fifth at most.
	ours, theirs := median(min(b.smallN/5, 400), one(b.large), one(b.small))
	return ratio{
		name: "save", ours: ours, theirs: theirs, limit: 1.2,
		what: fmt.Sprintf("at %d", b.largeN), base: fmt.Sprintf("at %d", b.smallN),
	}
}

// recall compares a question with the same words asked of a bare FTS5 table of the same
// memories.
func (b *bench) recall(ctx context.Context) ratio {
	return b.ask(ctx, "recall", amber.Filter{}, 1.3)
}

// recallNarrow is the same where the filter lets one memory in a hundred
// through. The bare query has no such filter.
func (b *bench) recallNarrow(ctx context.Context) ratio {
	f := amber.Filter{Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "acme/narrow"}}
	return b.ask(ctx, "recall, filter passes 1 %", f, 0)
}

func (b *bench) ask(ctx context.Context, name string, f amber.Filter, limit float64) ratio {
	db := b.fullText()
	defer db.Close()
	bare := get(db.Prepare(`SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 8`))
	var words []string
	asked := func() {
		words = b.writer.question()
		get(b.large.Recall(ctx, amber.Query{Text: strings.Join(words, " "), Filter: f}))
	}
	query := func() {
		rows := get(bare.Query(`"` + strings.Join(words, `" OR "`) + `"`))
		defer rows.Close()
		for rows.Next() {
		}
		check(rows.Err())
	}
	for range 5 { // both sides warm
		asked()
		query()
	}
	ours, theirs := median(60, asked, query)
	return ratio{name: name, ours: ours, theirs: theirs, limit: limit, what: fmt.Sprintf("at %d", b.largeN), base: "the bare full-text query"}
}

// fullText makes an FTS5 table of the memories, in memory.
func (b *bench) fullText() *sql.DB {
	db := get(sql.Open("sqlite", ":memory:"))
	db.SetMaxOpenConns(1)
	source := openMemoryDB(b.large.Agent(), []string{"query_only(1)"})
	defer source.Close()
	get(db.Exec(`CREATE VIRTUAL TABLE words USING fts5 (title, content, tokenize = 'porter unicode61 remove_diacritics 2')`))
	rows := get(source.Query(`SELECT title, content FROM memories WHERE deleted_at IS NULL`))
	defer rows.Close()
	tx := get(db.Begin())
	for rows.Next() {
		var title, content string
		check(rows.Scan(&title, &content))
		get(tx.Exec(`INSERT INTO words VALUES (?, ?)`, title, content))
	}
	check(rows.Err())
	check(tx.Commit())
	return db
}

// open compares opening the large store with opening an empty one.
func (b *bench) open(ctx context.Context) ratio {
	one := func(agent *home.Agent) func() {
		return func() { check(get(sqlite.Open(ctx, agent, options())).Close()) }
	}
	ours, theirs := median(100, one(b.large.Agent()), one(b.empty))
	return ratio{name: "open", ours: ours, theirs: theirs, limit: 1.2, what: fmt.Sprintf("at %d", b.largeN), base: "at 0"}
}

// exclusive measures how long a fence waits behind eight busy writers, each
// with handles of its own, as eight processes have.
func (b *bench) exclusive(ctx context.Context) ratio {
	const writers, fences = 8, 500
	// The writes that filled the large store are still on their way to the disk, and every sync would wait for them.
	check(fsx.OS().SyncAll(b.dir))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	errs := make(chan error, writers)
	for w := range writers {
		wg.Go(func() { errs <- attempt(func() { b.writeUntil(ctx, w) }) })
	}
	agent := agentIn(filepath.Join(b.dir, "small"))
	var waits []time.Duration
	for range fences {
		begin := time.Now()
		check(agent.Exclusive(ctx, func(home.Current) error {
			waits = append(waits, time.Since(begin))
			return nil
		}))
		time.Sleep(2 * time.Millisecond) // let the writers be busy again
	}
	cancel()
	wg.Wait()
	close(errs)
	for err := range errs {
		if amber.KindOf(err) != amber.KindUnreachable { // a writer whose context ended
			check(err)
		}
	}
	slices.Sort(waits)
	return ratio{
		name: "exclusive lock behind 8 writers, p99", ours: waits[fences*99/100], absoluteLimit: 10 * time.Millisecond,
		what: fmt.Sprintf("median %s, longest %s", waits[fences/2].Round(time.Microsecond), waits[fences-1].Round(time.Microsecond)),
	}
}

func (b *bench) writeUntil(ctx context.Context, w int) {
	s := get(sqlite.Open(ctx, agentIn(filepath.Join(b.dir, "small")), options()))
	defer s.Close()
	text := newWriter(uint64(w))
	for i := 0; ctx.Err() == nil; i++ {
		title, content := text.text(i)
		get(s.Write(ctx, amber.WriteRequest{Title: title, Content: fmt.Sprintf("%d %s", w, content)}))
	}
}
