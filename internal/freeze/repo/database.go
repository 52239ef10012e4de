package repo

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
)

// DatabaseRef names a database in a repository. It is part of the manifest of
// a snapshot.
type DatabaseRef struct {
	PageSize int   `json:"page_size"`
	Pages    int64 `json:"pages"`
	Digest   ID    `json:"digest"` // see [DatabaseDigest]
	Maps     []ID  `json:"maps"`   // a whole map, then at most 16 changes to it, the oldest first
}

// Bytes returns the length of the database.
func (r DatabaseRef) Bytes() int64 { return int64(r.PageSize) * r.Pages }

// check looks at a reference that was read. The error is of kind damaged.
func (r DatabaseRef) check() error {
	_, ok := pageShiftOf(r.PageSize)
	if !ok || r.Pages < 0 || r.Pages > maxDatabasePages || len(r.Maps) < 1 || len(r.Maps) > 1+maxMapChanges {
		return damaged("read database", r.Digest.String(),
			fmt.Errorf("the database is said to have %d pages of %d bytes in %d maps", r.Pages, r.PageSize, len(r.Maps)))
	}
	return nil
}

const databaseDomain = "amber database 1\x00"

// DatabaseDigest returns the digest of a database: SHA-256 over its page size,
// the number of its pages and the digests of all of them, in order.
func DatabaseDigest(pageSize int, digests []PageDigest) ID {
	h := newDatabaseHash(pageSize, int64(len(digests)))
	for i := range digests {
		h.Write(digests[i][:])
	}
	return ID(h.Sum(nil))
}

// Base is a database as the last snapshot of it holds it. Nothing of it is
// changed.
type Base struct {
	Ref     DatabaseRef
	Digests []PageDigest // of all its pages, in order
}

// typed reads a blob of one kind. Errors: those of [Repo.Get]; damaged for
// one of another kind, to which nothing should refer in this place.
func (s *stream) typed(ctx context.Context, id ID, kind Kind) (Blob, error) {
	b, err := s.any(ctx, id)
	if err == nil && b.Kind != kind {
		err = damaged("read "+kind.String(), id.String(), fmt.Errorf("the blob has kind %v", b.Kind))
	}
	return b, err
}

// loadMap reads the maps of a database and puts them together. Errors: those
// of [Repo.Get]; damaged.
func (r *Repo) loadMap(ctx context.Context, ref DatabaseRef) (*pageMap, error) {
	if err := ref.check(); err != nil {
		return nil, err
	}
	s := r.newStream()
	var sum *pageMap
	for _, id := range ref.Maps {
		b, err := s.typed(ctx, id, KindMap)
		if err != nil {
			return nil, err
		}
		m, err := parseMap(b.Data)
		switch {
		case err != nil:
		case sum != nil:
			err = sum.apply(m)
		case m.change:
			err = fmt.Errorf("the first map is a change, want a whole map")
		default:
			sum = m
		}
		if err != nil {
			return nil, damaged("read map", id.String(), err)
		}
		sum.keys = append(sum.keys, b.Key)
	}
	if sum.pageSize != ref.PageSize || sum.pages != ref.Pages {
		return nil, damaged("read map", ref.Maps[len(ref.Maps)-1].String(),
			fmt.Errorf("the maps describe %d pages of %d bytes, the manifest says %d of %d", sum.pages, sum.pageSize, ref.Pages, ref.PageSize))
	}
	sum.settle()
	return sum, nil
}

// DatabaseBlobs calls fn for every blob that a database needs, its maps and
// then its chunks, each once. Errors: damaged, not_found and too_new for a map
// that cannot be read; those of the target; that of fn, as it is.
func (r *Repo) DatabaseBlobs(ctx context.Context, ref DatabaseRef, fn func(ID, Kind) error) error {
	m, err := r.loadMap(ctx, ref)
	if err != nil {
		return err
	}
	seen := map[ID]bool{}
	for _, id := range ref.Maps {
		if seen[id] {
			continue
		}
		seen[id] = true
		if err := fn(id, KindMap); err != nil {
			return err
		}
	}
	for _, id := range m.chunks {
		if err := fn(id, KindPages); err != nil {
			return err
		}
	}
	return nil
}

// errChunk is damage: a map names a chunk that is not what it says.
func errChunk(id ID, why string) error {
	return amber.Errorf(amber.KindDamaged, "read pages", id.String(), "%s", why)
}
