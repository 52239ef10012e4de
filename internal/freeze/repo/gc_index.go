package repo

import (
	"bytes"
	"context"
	"slices"

	"github.com/amber-memory/amber"
)

const (
	// smallIndexBlobs is how many blobs an index object has at most that is
	// put together with others, and manyIndexObjects how many of those there
	// are before that happens.
	smallIndexBlobs  = maxIndexBlobs / 4
	manyIndexObjects = 32
)

// sweepIndex makes index objects that name no pack that is missing or about to
// be deleted, and removes those that do, those that are damaged, and when
// there are many small ones those. Every needed blob is in a pack that is there
// and is named by an index object that can be read: that was marked.
func (g *collection) sweepIndex(ctx context.Context) error {
	s := &indexSweep{indexWriter: indexWriter{target: g.repo.target}, packs: map[ID]packDir{}}
	for id, size := range g.listing.packs {
		if !g.doomed[id] {
			s.packs[id] = packDir{id: id, size: size}
		}
	}
	small, err := s.choose(ctx, g.listing.index)
	if err != nil {
		return err
	}
	if len(small) > manyIndexObjects {
		for _, id := range small {
			if err := s.take(ctx, id, g.listing.index[id]); err != nil {
				return err
			}
		}
	}
	if err := s.write(ctx); err != nil {
		return err
	}
	for _, name := range s.old {
		if s.written[name] {
			continue
		}
		if err := g.repo.target.Delete(ctx, name); err != nil {
			return err
		}
		g.report.IndexRemoved++
	}
	return nil
}

// indexSweep replaces index objects.
type indexSweep struct {
	indexWriter
	packs map[ID]packDir // that stay; with a directory once they are in open or written
	old   []string       // to remove
}

// choose takes the index objects that have to go, and returns those that are
// small.
func (s *indexSweep) choose(ctx context.Context, index map[ID]int64) (small []ID, err error) {
	for _, id := range sorted(index) {
		packs, _, err := readIndex(ctx, s.target, id, index[id], nil)
		switch {
		case amber.KindOf(err) == amber.KindDamaged:
			s.old = append(s.old, indexName(id))
		case amber.KindOf(err) == amber.KindNotFound, amber.KindOf(err) == amber.KindTooNew:
		case err != nil:
			return nil, err
		case !s.stay(packs):
			if err := s.replace(ctx, id, packs); err != nil {
				return nil, err
			}
		case countBlobs(packs) <= smallIndexBlobs:
			small = append(small, id)
		}
	}
	return small, nil
}

// stay reports whether all packs stay.
func (s *indexSweep) stay(packs []packDir) bool {
	return !slices.ContainsFunc(packs, func(p packDir) bool {
		is, ok := s.packs[p.id]
		return !ok || is.size != p.size
	})
}

func countBlobs(packs []packDir) (n int) {
	for _, p := range packs {
		n += p.dir.blobs()
	}
	return n
}

// take replaces an index object.
func (s *indexSweep) take(ctx context.Context, id ID, size int64) error {
	packs, _, err := readIndex(ctx, s.target, id, size, nil)
	if err != nil {
		return err
	}
	return s.replace(ctx, id, packs)
}

// replace puts the packs of an index object into new ones.
func (s *indexSweep) replace(ctx context.Context, id ID, packs []packDir) error {
	s.old = append(s.old, indexName(id))
	for _, p := range packs {
		is, ok := s.packs[p.id]
		if !ok || is.size != p.size || bytes.Equal(is.dir, p.dir) {
			continue
		}
		if is.dir != nil {
			// Two index objects describe it in two ways: the pack tells.
			var err error
			if p, err = readDirectory(ctx, s.target, p.id, p.size); err != nil {
				return err
			}
			s.open = slices.DeleteFunc(s.open, func(o packDir) bool { return o.id == p.id })
		}
		s.packs[p.id] = p
		if err := s.add(ctx, p); err != nil {
			return err
		}
	}
	return nil
}
