package repo

import (
	lru "container/list"
	"context"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"

	"github.com/amber-memory/amber"
)

// ReadStats counts what a [DatabaseReader] has done.
type ReadStats struct {
	PagesDistinct int64 // touched at least once
	StoredBytes   int64 // of those chunks, as they lie in packs
}

// DatabaseReader reads the pages of a database in any order. Only chunks that
// are needed are read, each checked against its id; those used last are kept.
// Safe for concurrent use.
type DatabaseReader struct {
	ctx  context.Context // of all reading: ReadAt has none
	repo *Repo
	m    *pageMap
	room int64 // bytes of chunks that are kept

	mu     sync.Mutex
	recent lru.List // of *readChunk, the one used last in front
	chunks map[uint32]*lru.Element
	kept   int64    // bytes of recent
	asked  []uint64 // one bit for each page
	stats  ReadStats
}

var _ io.ReaderAt = (*DatabaseReader)(nil)

// readChunk is a chunk that is kept, or on its way. The fields below ready
// are valid when it is closed.
type readChunk struct {
	number  uint32
	ready   chan struct{}
	pages   []byte
	digests []PageDigest
	err     error
}

// OpenDatabase opens a database for reading at random. The context is that of
// all reading from it. At most cacheBytes of chunks are kept, and those that
// are just being used; 0 keeps one. There is nothing to close. Errors: damaged,
// not_found and too_new for a map that cannot be read; those of the target.
func (r *Repo) OpenDatabase(ctx context.Context, ref DatabaseRef, cacheBytes int64) (*DatabaseReader, error) {
	m, err := r.loadMap(ctx, ref)
	if err != nil {
		return nil, err
	}
	return &DatabaseReader{
		ctx: ctx, repo: r, m: m, room: cacheBytes,
		chunks: map[uint32]*lru.Element{}, asked: make([]uint64, (m.pages+63)/64),
	}, nil
}

// Size returns the length of the database in bytes.
func (d *DatabaseReader) Size() int64 { return d.m.pages * int64(d.m.pageSize) }

// Stats returns what has been done so far.
func (d *DatabaseReader) Stats() ReadStats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stats
}

// ReadAt implements [io.ReaderAt]: any offset, any length, [io.EOF] when the
// database ends before. Errors: invalid for a negative offset; damaged;
// not_found; those of the target.
func (d *DatabaseReader) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, amber.Errorf(amber.KindInvalid, "read pages", "", "offset %d is negative", offset)
	}
	size := int64(d.m.pageSize)
	want := max(0, min(int64(len(p)), d.Size()-offset))
	if want > 0 {
		d.count(offset/size, (offset+want-1)/size)
	}
	for int64(n) < want {
		at := offset + int64(n)
		run := d.run(uint32(at/size) + 1)
		part, _, err := d.pages(run)
		if err != nil {
			return n, err
		}
		n += copy(p[n:want], part[at-int64(run.first-1)*size:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// count notes that pages were asked for, from one to another, from 0.
func (d *DatabaseReader) count(from, to int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for ; from <= to; from++ {
		if bit := uint64(1) << (from % 64); d.asked[from/64]&bit == 0 {
			d.asked[from/64] |= bit
			d.stats.PagesDistinct++
		}
	}
}

// run returns the run that has a page.
func (d *DatabaseReader) run(page uint32) pageRun {
	runs := d.m.runs
	return runs[sort.Search(len(runs), func(i int) bool { return runs[i].end() > int64(page) })]
}

// pages returns the pages of a run and their digests.
func (d *DatabaseReader) pages(run pageRun) ([]byte, []PageDigest, error) {
	c, mine := d.take(run.chunk)
	if mine {
		d.load(c)
	}
	<-c.ready
	if c.err != nil {
		return nil, nil, c.err
	}
	from, to := int(run.place)*d.m.pageSize, (int(run.place)+int(run.pages))*d.m.pageSize
	if to > len(c.pages) {
		id := d.m.chunks[run.chunk]
		return nil, nil, errChunk(id, fmt.Sprintf("%d bytes of pages, a map needs %d", len(c.pages), to))
	}
	return c.pages[from:to], c.digests[run.place : run.place+run.pages], nil
}

// take returns a chunk; mine when the caller must load it.
func (d *DatabaseReader) take(number uint32) (c *readChunk, mine bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e, ok := d.chunks[number]; ok {
		d.recent.MoveToFront(e)
		return e.Value.(*readChunk), false
	}
	c = &readChunk{number: number, ready: make(chan struct{})}
	d.chunks[number] = d.recent.PushFront(c)
	return c, true
}

// load reads a chunk and lets others go that were not used for longest.
func (d *DatabaseReader) load(c *readChunk) {
	defer close(c.ready)
	id := d.m.chunks[c.number]
	b, err := d.repo.Get(d.ctx, id)
	if err == nil {
		err = checkChunk(&b, d.m.pageSize, 1)
	}
	c.pages, c.digests, c.err = b.Data, slices.Clone(b.Digests), err

	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		// The next one who asks tries again.
		d.recent.Remove(d.chunks[c.number])
		delete(d.chunks, c.number)
		return
	}
	d.stats.StoredBytes += d.repo.storedBytes(id)
	d.kept += int64(len(c.pages))
	d.evict(c)
}

// evict makes room behind the chunk that was loaded last. The caller holds mu.
func (d *DatabaseReader) evict(last *readChunk) {
	for e := d.recent.Back(); e != nil && d.kept > d.room; {
		c, before := e.Value.(*readChunk), e.Prev()
		// One on its way counts only when it is there.
		if c != last && c.loaded() {
			d.recent.Remove(e)
			delete(d.chunks, c.number)
			d.kept -= int64(len(c.pages))
		}
		e = before
	}
}

func (c *readChunk) loaded() bool {
	select {
	case <-c.ready:
		return true
	default:
		return false
	}
}
