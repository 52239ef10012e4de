package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// ReadDatabase hands out every page of a database once, in the order in which chunks lie in packs, neighbours together,
// each checked. Write is called with the offset in the database and with pages that are valid until it returns. At the
// end the digest of the whole is compared: before ReadDatabase has returned nil, nothing is known about which pages
// belong together. Errors: damaged; not_found for a blob that the index does not know; too_new; those of the target;
// that of write, as it is.
func (r *Repo) ReadDatabase(ctx context.Context, ref DatabaseRef, write func(offset int64, pages []byte) error) error {
	m, err := r.loadMap(ctx, ref)
	if err != nil {
		return err
	}
	g := m.group()
	digests := make([]PageDigest, m.pages)
	err = r.Read(ctx, m.chunks, func(b Blob) error {
		return g.chunk(&b, func(run pageRun, sums []PageDigest, pages []byte) error {
			copy(digests[run.first-1:], sums)
			return write(int64(run.first-1)*int64(m.pageSize), pages)
		})
	})
	if err != nil {
		return err
	}
	if DatabaseDigest(m.pageSize, digests) != ref.Digest {
		return damaged("read database", ref.Digest.String(), errors.New("the pages do not match the digest of the whole"))
	}
	return nil
}

// grouped is the runs of a map by chunk.
type grouped struct {
	pageSize int
	runs     []pageRun // in the order of chunks, in each in the order of places
	from     []uint32  // of each chunk: its first run; one more at the end
	number   map[ID]uint32
}

// group takes the runs of a settled map, which is of no use for anything else
// then.
func (m *pageMap) group() *grouped {
	g := &grouped{
		pageSize: m.pageSize, runs: m.runs,
		from: make([]uint32, len(m.chunks)+1), number: make(map[ID]uint32, len(m.chunks)),
	}
	slices.SortFunc(g.runs, func(a, b pageRun) int {
		return cmp.Or(cmp.Compare(a.chunk, b.chunk), cmp.Compare(a.place, b.place), cmp.Compare(a.first, b.first))
	})
	for i, r := range g.runs {
		g.from[r.chunk+1] = uint32(i + 1)
	}
	for i, id := range m.chunks {
		g.number[id] = uint32(i)
	}
	return g
}

// chunk calls fn for every run of a chunk that was read.
func (g *grouped) chunk(b *Blob, fn func(run pageRun, sums []PageDigest, pages []byte) error) error {
	n := g.number[b.ID]
	for _, run := range g.runs[g.from[n]:g.from[n+1]] {
		from, to := int(run.place), int(run.place)+int(run.pages)
		if err := checkChunk(b, g.pageSize, to); err != nil {
			return err
		}
		if err := fn(run, b.Digests[from:to], b.Data[from*g.pageSize:to*g.pageSize]); err != nil {
			return err
		}
	}
	return nil
}

// checkChunk checks that a blob is what a map says: at least so many pages of
// one size.
func checkChunk(b *Blob, pageSize, pages int) error {
	if b.Kind != KindPages || b.PageSize != pageSize || len(b.Digests) < pages {
		return damaged("read pages", b.ID.String(), fmt.Errorf(
			"%d bytes of %v in pages of %d, a map needs %d pages of %d", len(b.Data), b.Kind, b.PageSize, pages, pageSize))
	}
	return nil
}
