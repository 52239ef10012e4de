package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/promise"
)

// world is one open store in a fresh place, with the clock that it sees. It
// lives as long as one check, which is why it may hold the context.
type world struct {
	amber.Store
	ctx     context.Context
	backend Backend
	place   Place
	clock   *Clock
	env     Env
	closer  io.Closer
}

// inWorld runs f in a fresh place of b, if the store there has the parts it
// needs, and removes the place.
func inWorld(ctx context.Context, b Backend, q amber.QueueOptions, needs []part, f func(w *world)) (err error) {
	w, err := enter(ctx, b, NewClock(start()), 1, q)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.leave()) }()
	has := w.parts()
	for _, p := range needs {
		if !has[p] {
			return fmt.Errorf("%w: the store has no %s", ErrNotRun, p)
		}
	}
	return caught(func() { f(w) })
}

// enter opens a store in a fresh place of b.
func enter(ctx context.Context, b Backend, clock *Clock, seed uint64, q amber.QueueOptions) (*world, error) {
	place, err := b.Fresh()
	if err != nil {
		return nil, fmt.Errorf("prepare place of %s: %w", b.Name, err)
	}
	w := &world{ctx: ctx, backend: b, place: place, clock: clock, env: Env{Clock: clock.Now, Random: NewRandom(seed), Queue: q}}
	if err := w.open(); err != nil {
		return nil, errors.Join(err, place.Remove())
	}
	return w, nil
}

// leave closes the store and removes its place.
func (w *world) leave() error { return errors.Join(w.close(), w.place.Remove()) }

func (w *world) open() error {
	s, c, err := w.place.Open(w.ctx, w.env)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	w.Store, w.closer = s, c
	return nil
}

func (w *world) close() error {
	if w.closer == nil {
		return nil
	}
	c := w.closer
	w.closer = nil
	if err := c.Close(); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// reopen closes the store and opens its place again.
func (w *world) reopen() {
	must0(w.close())
	must0(w.open())
}

// now returns the time a store sees.
func (w *world) now() amber.Time { return amber.At(w.clock.Now()) }

// tick moves the clock forward by a second.
func (w *world) tick() { w.clock.Advance(time.Second) }

// write stores one memory.
func (w *world) write(r amber.WriteRequest) amber.WriteAck {
	return must(w.LongTerm.Write(w.ctx, r))
}

// fact stores one global memory.
func (w *world) fact(content string) amber.MemoryID {
	return w.write(amber.WriteRequest{Content: content}).ID
}

// get returns one live memory.
func (w *world) get(id amber.MemoryID) amber.Memory { return must(w.Memories.Get(w.ctx, id)) }

// history returns every revision of a memory.
func (w *world) history(id amber.MemoryID) []amber.Memory {
	return must(amber.All(w.ctx, w.Memories.History, id))
}

// list returns every page of a listing.
func (w *world) list(q amber.ListQuery) []amber.Memory {
	return pages(func(c amber.Cursor) (amber.Page[amber.Memory], error) {
		q.Cursor = c
		return w.Memories.List(w.ctx, q)
	})
}

// everything lists all memories of all scopes, tombstones too.
func (w *world) everything() []amber.Memory {
	return w.list(amber.ListQuery{All: true, Deleted: true, Limit: amber.MaxPageSize})
}

// recall returns the hits of a query.
func (w *world) recall(q amber.Query) []amber.Hit {
	return must(w.LongTerm.Recall(w.ctx, q)).Hits
}

// found returns the ids that a text finds among global memories.
func (w *world) found(text string) []amber.MemoryID {
	return hitIDs(w.recall(amber.Query{Text: text, Limit: amber.MaxTopK}))
}

// changed runs f and returns the entries the change log gained.
func (w *world) changed(f func()) []amber.Change { return gained(w.ctx, w.Changes, f) }

// logs runs f and returns the one entry the change log gained, without its position.
func (w *world) logs(what string, f func()) amber.Change { return onlyEntry(what, w.changed(f)) }

func onlyEntry(what string, got []amber.Change) amber.Change {
	equal(len(got), 1, "entries of %s", what)
	return entryOf(got[0])
}

// controlled runs f and returns the entries the control log gained.
func (w *world) controlled(f func()) []amber.Change { return gained(w.ctx, w.ControlChanges, f) }

func gained(ctx context.Context, log amber.ChangeLog, f func()) []amber.Change {
	head := must(log.Head(ctx))
	f()
	return entries(ctx, log, head)
}

// entries returns every entry of a log after a position.
func entries(ctx context.Context, log amber.ChangeLog, after amber.Position) []amber.Change {
	var all []amber.Change
	for range maxPages {
		page := must(log.Changes(ctx, after, 100))
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
		after = page[len(page)-1].Position
	}
	panic(endless("change log"))
}

// maxPages bounds how long the suite follows a listing that does not end.
const maxPages = 10_000

func endless(what string) any {
	return promise.Failure(fmt.Errorf("the %s does not end after %d pages", what, maxPages))
}

// pages returns the items of every page.
func pages[T any](next func(amber.Cursor) (amber.Page[T], error)) []T {
	var all []T
	var cursor amber.Cursor
	for range maxPages {
		p := must(next(cursor))
		hold(p.Items != nil, "the items of a page are nil")
		all = append(all, p.Items...)
		if cursor = p.Next; cursor == "" {
			return all
		}
		hold(len(p.Items) > 0, "a page is empty and yet has a next page")
	}
	panic(endless("listing"))
}

func hitIDs(hits []amber.Hit) []amber.MemoryID {
	out := make([]amber.MemoryID, len(hits))
	for i, h := range hits {
		out[i] = h.ID
	}
	return out
}

func memoryIDs(ms []amber.Memory) []amber.MemoryID {
	out := make([]amber.MemoryID, len(ms))
	for i, m := range ms {
		out[i] = m.ID
	}
	return out
}
