package repo

import (
	"context"
	"slices"
	"sync"

	"github.com/amber-memory/amber"
)

const (
	// chunkPagesBytes is how many bytes of pages lie in one blob: enough to
	// compress well, few enough that reading one page of it is cheap.
	chunkPagesBytes = 64 << 10
	// batchBytes is what Write hands over at a time: whole chunks of every
	// page size.
	batchBytes = 4 * chunkPagesBytes
	batches    = 4
	// maxBaseRuns is when a database has been scattered so much that it is
	// stored anew.
	maxBaseRuns = maxMapRuns / 4
)

// DatabaseWriter stores a database page by page. One goroutine uses it at a
// time; the caller ends it with Finish or Abort. The pages are durable when the
// [Writer] is flushed.
//
//	Write ── copies ──> full ──> hash: digests, what changed ──> Writer
//	  └───────────────── free <────┘
type DatabaseWriter struct {
	w      *Writer
	hashed pageHash // of the goroutine until stopped is closed
	open   []byte   // the batch that is being filled
	free   chan []byte
	full   chan []byte
	cancel context.CancelFunc

	stopped chan struct{} // closed when the goroutine has ended
	err     error         // why it ended early; valid when stopped is closed
	end     sync.Once     // closes full
	over    bool
}

// NewDatabase begins a database. With a base only pages whose digest differs
// are stored, those that changed packed together in the order of pages, and the
// map is a change to the maps of the base, or now and then a whole one. The base
// is not used when it has another page size, when its digests are not those of
// its reference, when it is not under the current key, or when one of its blobs
// is damaged or not there or only in packs to avoid. Without a base every page is offered in aligned chunks of 64 KiB;
// what the repository has is not stored again. The context is that of all that
// is stored. Errors: invalid for a page size that SQLite does not have; those
// of the target; too_new for a map of the base.
func (w *Writer) NewDatabase(ctx context.Context, pageSize int, base *Base) (*DatabaseWriter, error) {
	if _, ok := pageShiftOf(pageSize); !ok {
		return nil, amber.Errorf(amber.KindInvalid, "store database", "", "page size %d is not a power of two that SQLite uses", pageSize)
	}
	m, err := w.baseMap(ctx, pageSize, base)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	d := &DatabaseWriter{
		w: w, cancel: cancel, stopped: make(chan struct{}),
		free: make(chan []byte, batches), full: make(chan []byte, batches),
		hashed: pageHash{w: w, pageSize: pageSize, fresh: pageMap{pageSize: pageSize, change: m != nil}},
	}
	if m != nil {
		d.hashed.base, d.hashed.baseMap = base, m
		d.hashed.digests = make([]PageDigest, 0, len(base.Digests))
	}
	for range batches {
		d.free <- nil // made when it is needed
	}
	go d.run(ctx)
	return d, nil
}

// baseMap returns the map of a base that can be relied on, nil for any other.
func (w *Writer) baseMap(ctx context.Context, pageSize int, base *Base) (*pageMap, error) {
	if base == nil || base.Ref.PageSize != pageSize || base.Ref.Pages != int64(len(base.Digests)) ||
		base.Ref.check() != nil || DatabaseDigest(pageSize, base.Digests) != base.Ref.Digest {
		return nil, nil
	}
	m, err := w.repo.loadMap(ctx, base.Ref)
	switch {
	case err != nil && isProblem(err) && amber.KindOf(err) != amber.KindTooNew:
		// They may have the id of what is stored now: no reason to leave it out.
		w.distrust(base.Ref.Maps...)
		return nil, nil
	case err != nil:
		return nil, err
	case w.otherKey(m.keys...) || len(m.runs) > maxBaseRuns || !w.holdsAll(base.Ref.Maps) || !w.holdsAll(m.chunks):
		return nil, nil
	}
	return m, nil
}

// Write adds pages, whole ones, in the order of the database. They are copied
// before it returns; hashing and compressing them goes on meanwhile. Errors:
// invalid for a part of a page, or after the end; quota for a database that is too
// large; those of [Writer.Put].
func (d *DatabaseWriter) Write(pages []byte) error {
	if d.over || len(pages)%d.hashed.pageSize != 0 {
		return amber.Errorf(amber.KindInvalid, "store database", "",
			"%d bytes are not whole pages of %d bytes, or come after the end", len(pages), d.hashed.pageSize)
	}
	for len(pages) > 0 {
		if d.open == nil {
			select {
			case b := <-d.free:
				d.open = slices.Grow(b[:0], batchBytes)
			case <-d.stopped:
				return d.err
			}
		}
		n := min(len(pages), batchBytes-len(d.open))
		d.open = append(d.open, pages[:n]...)
		pages = pages[n:]
		if len(d.open) == batchBytes {
			d.send()
		}
	}
	return nil
}

// send hands the open batch over. It does not block: there are no more batches
// than places.
func (d *DatabaseWriter) send() {
	if len(d.open) > 0 {
		d.full <- d.open
	}
	d.open = nil
}

// Finish ends the database, waits for what is left to do, and returns what
// names it and the digests of its pages: with them it is the base of the next
// one. Errors: those of Write; that of ctx.
func (d *DatabaseWriter) Finish(ctx context.Context) (DatabaseRef, []PageDigest, error) {
	if d.over {
		return DatabaseRef{}, nil, amber.Errorf(amber.KindInvalid, "store database", "", "the writer was finished or aborted before")
	}
	d.send()
	defer d.Abort()
	d.over = true
	d.end.Do(func() { close(d.full) })
	select {
	case <-d.stopped:
	case <-ctx.Done():
		return DatabaseRef{}, nil, ctx.Err()
	}
	if d.err != nil {
		return DatabaseRef{}, nil, d.err
	}
	ref, err := d.hashed.finish(ctx)
	return ref, d.hashed.digests, err
}

// Abort ends the database without storing a map for it. It may be called
// twice, and after Finish.
func (d *DatabaseWriter) Abort() {
	d.over = true
	d.cancel()
	d.end.Do(func() { close(d.full) })
	<-d.stopped
}

// run hashes batches until there are no more.
func (d *DatabaseWriter) run(ctx context.Context) {
	defer close(d.stopped)
	for b := range d.full {
		if d.err = ctx.Err(); d.err == nil {
			d.err = d.hashed.batch(ctx, b)
		}
		if d.err != nil {
			return
		}
		d.free <- b
	}
	d.err = d.hashed.flush(ctx)
}
