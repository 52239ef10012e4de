package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the bare query runs on the same engine

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
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

func prepare(ctx context.Context, dir string, large, small int) (*bench, error) {
	b := &bench{dir: dir, writer: newWriter(uint64(time.Now().UnixNano())), largeN: large, smallN: small}
	begin := time.Now()
	var err error
	if b.large, err = b.fill(ctx, "large", large); err != nil {
		return nil, err
	}
	fmt.Printf("%d memories stored in %s\n", large, time.Since(begin).Round(time.Millisecond))
	if b.small, err = b.fill(ctx, "small", small); err != nil {
		return nil, err
	}
	s, err := b.fill(ctx, "empty", 0)
	if err != nil {
		return nil, err
	}
	b.empty = s.Agent()
	return b, s.Close()
}

func (b *bench) close() error { return errors.Join(b.large.Close(), b.small.Close()) }

func options() sqlite.Options { return sqlite.Options{Clock: time.Now, Random: rand.Reader} }

// fill makes a store of n memories, half of them in one project.
func (b *bench) fill(ctx context.Context, name string, n int) (*sqlite.Store, error) {
	h, _, err := home.Open(filepath.Join(b.dir, name), home.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return nil, err
	}
	agent, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, agent, options())
	if err != nil {
		return nil, err
	}
	var batch []amber.WriteRequest
	for i := range n {
		batch = append(batch, b.request(i))
		if len(batch) == amber.MaxBatchSize || i == n-1 {
			if _, err := s.WriteBatch(ctx, batch); err != nil {
				return nil, err
			}
			batch = batch[:0]
		}
	}
	return s, nil
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
func median(n int, ours, theirs func() error) (a, b time.Duration, err error) {
	var as, bs []time.Duration
	for range n {
		for _, side := range []struct {
			run  func() error
			into *[]time.Duration
		}{{ours, &as}, {theirs, &bs}} {
			begin := time.Now()
			if err := side.run(); err != nil {
				return 0, 0, err
			}
			*side.into = append(*side.into, time.Since(begin))
		}
	}
	slices.Sort(as)
	slices.Sort(bs)
	return as[n/2], bs[n/2], nil
}

// save compares one save into the large store with one into the small.
func (b *bench) save(ctx context.Context) (ratio, error) {
	n := 1 << 30 // beyond what fill wrote
	one := func(s *sqlite.Store) func() error {
		return func() error {
			n++
			_, err := s.Write(ctx, b.request(n*100+1))
			return err
		}
	}
	// The small store grows while it is measured: by a fifth at most.
	ours, theirs, err := median(min(b.smallN/5, 400), one(b.large), one(b.small))
	return ratio{
		name: "save", ours: ours, theirs: theirs, limit: 1.2,
		what: fmt.Sprintf("at %d", b.largeN), base: fmt.Sprintf("at %d", b.smallN),
	}, err
}

// recall compares a question with the full-text query it needs.
func (b *bench) recall(ctx context.Context) (ratio, error) {
	return b.ask(ctx, "recall", amber.Filter{}, 1.3)
}

// recallNarrow is the same where the filter lets one memory in a hundred
// through. The bare query has no such filter.
func (b *bench) recallNarrow(ctx context.Context) (ratio, error) {
	f := amber.Filter{Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "acme/narrow"}}
	return b.ask(ctx, "recall, filter passes 1 %", f, 0)
}

func (b *bench) ask(ctx context.Context, name string, f amber.Filter, limit float64) (ratio, error) {
	current, err := b.large.Agent().Current()
	if err != nil {
		return ratio{}, err
	}
	u := url.URL{Scheme: "file", Path: filepath.Join(b.large.Agent().GenDir(current), "memory.db"), RawQuery: "mode=rw&_pragma=query_only(1)"}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return ratio{}, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	bare, err := db.Prepare(`SELECT rowid FROM memory_fts WHERE memory_fts MATCH ? ORDER BY rank LIMIT 8`)
	if err != nil {
		return ratio{}, err
	}
	var words []string
	asked := func() error {
		words = b.writer.question()
		_, err := b.large.Recall(ctx, amber.Query{Text: strings.Join(words, " "), Filter: f})
		return err
	}
	query := func() error {
		rows, err := bare.Query(`"` + strings.Join(words, `" OR "`) + `"`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
		}
		return rows.Err()
	}
	for range 5 { // both sides warm
		if err := errors.Join(asked(), query()); err != nil {
			return ratio{}, err
		}
	}
	ours, theirs, err := median(60, asked, query)
	return ratio{name: name, ours: ours, theirs: theirs, limit: limit, what: fmt.Sprintf("at %d", b.largeN), base: "the bare full-text query"}, err
}

// open compares opening the large store with opening an empty one.
func (b *bench) open(ctx context.Context) (ratio, error) {
	one := func(agent *home.Agent) func() error {
		return func() error {
			s, err := sqlite.Open(ctx, agent, options())
			if err != nil {
				return err
			}
			return s.Close()
		}
	}
	ours, theirs, err := median(100, one(b.large.Agent()), one(b.empty))
	return ratio{name: "open", ours: ours, theirs: theirs, limit: 1.2, what: fmt.Sprintf("at %d", b.largeN), base: "at 0"}, err
}

// exclusive measures how long a fence waits behind eight busy writers, each
// with handles of its own, as eight processes have.
func (b *bench) exclusive(ctx context.Context) (ratio, error) {
	const writers, fences = 8, 500
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	errs := make(chan error, writers)
	for w := range writers {
		wg.Go(func() { errs <- b.writeUntil(ctx, w) })
	}
	h, _, err := home.Open(filepath.Join(b.dir, "small"), home.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return ratio{}, err
	}
	agent, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	if err != nil {
		return ratio{}, err
	}
	var waits []time.Duration
	for range fences {
		begin := time.Now()
		err := agent.Exclusive(ctx, func(home.Current) error {
			waits = append(waits, time.Since(begin))
			return nil
		})
		if err != nil {
			return ratio{}, err
		}
		time.Sleep(2 * time.Millisecond) // let the writers be busy again
	}
	cancel()
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil && amber.KindOf(err) != amber.KindUnreachable {
			return ratio{}, err
		}
	}
	slices.Sort(waits)
	return ratio{
		name: "exclusive lock behind 8 writers, p99", ours: waits[fences*99/100], absoluteLimit: 10 * time.Millisecond,
		what: fmt.Sprintf("median %s, longest %s", waits[fences/2].Round(time.Microsecond), waits[fences-1].Round(time.Microsecond)),
	}, nil
}

func (b *bench) writeUntil(ctx context.Context, w int) error {
	h, _, err := home.Open(filepath.Join(b.dir, "small"), home.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return err
	}
	agent, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	if err != nil {
		return err
	}
	s, err := sqlite.Open(ctx, agent, options())
	if err != nil {
		return err
	}
	defer s.Close()
	text := newWriter(uint64(w))
	for i := 0; ctx.Err() == nil; i++ {
		title, content := text.text(i)
		if _, err := s.Write(ctx, amber.WriteRequest{Title: title, Content: fmt.Sprintf("%d %s", w, content)}); err != nil {
			return err
		}
	}
	return nil
}
