package repo

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
)

// pageHash finds out which pages of a database are new and stores them. Used by
// one goroutine at a time.
type pageHash struct {
	w        *Writer
	pageSize int
	base     *Base        // nil: all pages are new
	baseMap  *pageMap     // of base
	digests  []PageDigest // of all pages so far
	fresh    pageMap      // of the pages that are new

	// Changed pages that fill no chunk yet.
	bytes   []byte
	sums    []PageDigest
	numbers []uint32 // of the pages, from 1
}

// batch takes pages that begin where a chunk does.
func (h *pageHash) batch(ctx context.Context, pages []byte) error {
	if len(h.digests)+len(pages)/h.pageSize > maxDatabasePages {
		return amber.Errorf(amber.KindQuota, "store database", "",
			"the database has more than %d pages", maxDatabasePages)
	}
	if h.base != nil {
		return h.changed(ctx, pages)
	}
	for chunk := range slices.Chunk(pages, chunkPagesBytes) {
		first, n := len(h.digests)+1, len(chunk)/h.pageSize
		for page := range slices.Chunk(chunk, h.pageSize) {
			h.digests = append(h.digests, DigestPage(page))
		}
		run := pageRun{first: uint32(first), pages: uint32(n)}
		if err := h.put(ctx, h.digests[first-1:], chunk, run); err != nil {
			return err
		}
	}
	return nil
}

// changed keeps the pages that are not as they were in the base.
func (h *pageHash) changed(ctx context.Context, pages []byte) error {
	for page := range slices.Chunk(pages, h.pageSize) {
		sum, i := DigestPage(page), len(h.digests)
		h.digests = append(h.digests, sum)
		if i < len(h.base.Digests) && h.base.Digests[i] == sum {
			continue
		}
		h.bytes = append(h.bytes, page...)
		h.sums = append(h.sums, sum)
		h.numbers = append(h.numbers, uint32(i+1))
		if len(h.bytes) >= chunkPagesBytes {
			if err := h.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush stores the changed pages that wait.
func (h *pageHash) flush(ctx context.Context) error {
	if len(h.numbers) == 0 {
		return nil
	}
	runs := make([]pageRun, len(h.numbers))
	for i, n := range h.numbers {
		runs[i] = pageRun{first: n, pages: 1, place: uint32(i)}
	}
	err := h.put(ctx, h.sums, h.bytes, runs...)
	h.bytes, h.sums, h.numbers = h.bytes[:0], h.sums[:0], h.numbers[:0]
	return err
}

// put stores a chunk and notes where its pages lie.
func (h *pageHash) put(ctx context.Context, sums []PageDigest, chunk []byte, runs ...pageRun) error {
	if h.fresh.bytes()+len(ID{})+len(runs)*mapRunBytes > MaxBlobBytes {
		return amber.Errorf(amber.KindQuota, "store database", "", "the map of the database is larger than a blob")
	}
	id, err := h.w.PutPages(ctx, h.pageSize, sums, chunk)
	if err != nil {
		return err
	}
	n := uint32(len(h.fresh.chunks))
	h.fresh.chunks = append(h.fresh.chunks, id)
	for _, r := range runs {
		r.chunk = n
		h.fresh.add(r)
	}
	return nil
}

// finish stores the map and names the database.
func (h *pageHash) finish(ctx context.Context) (DatabaseRef, error) {
	ref := DatabaseRef{
		PageSize: h.pageSize, Pages: int64(len(h.digests)), Digest: DatabaseDigest(h.pageSize, h.digests),
	}
	h.fresh.pages = ref.Pages
	h.fresh.settle()
	whole := &h.fresh
	if h.base != nil {
		if ref.Digest == h.base.Ref.Digest {
			ref.Maps = slices.Clone(h.base.Ref.Maps)
			return ref, nil
		}
		whole = h.baseMap
		if err := whole.apply(&h.fresh); err != nil {
			return DatabaseRef{}, amber.Errorf(amber.KindQuota, "store database", "", "%w", err)
		}
		whole.settle()
		// A change that is not much smaller than the map it changes saves nothing.
		if len(h.base.Ref.Maps) <= maxMapChanges && 2*h.fresh.bytes() < whole.bytes() {
			ref.Maps = slices.Clone(h.base.Ref.Maps)
			whole = &h.fresh
		}
	}
	if whole.bytes() > MaxBlobBytes {
		return DatabaseRef{}, amber.Errorf(amber.KindQuota, "store database", "", "%w", errMapTooLarge)
	}
	id, err := h.w.Put(ctx, KindMap, whole.marshal())
	ref.Maps = append(ref.Maps, id)
	return ref, err
}
