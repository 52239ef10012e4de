package repo

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/amber-memory/amber"
)

// Get reads a blob. The result is the caller's. Errors: not_found when the
// index does not know it; damaged, naming the pack, when no place of it holds
// it; refused for one that is encrypted when the repository is locked; too_new;
// those of the target.
func (r *Repo) Get(ctx context.Context, id ID) (Blob, error) {
	s := r.newStream()
	return s.any(ctx, id)
}

// Read reads blobs, in the order in which they lie in packs, neighbours with one request, and calls fn once for each
// id. The packs come in the order in which the ids first need them. The blob that fn is given is valid until fn
// returns. Nothing is read when the index does not know one of the ids. Errors: those of [Repo.Get]; that of fn, as it
// is, which ends the reading.
func (r *Repo) Read(ctx context.Context, ids []ID, fn func(Blob) error) error {
	plan, err := r.plan(ids)
	if err != nil {
		return err
	}
	return r.readPlan(ctx, plan, false, fn)
}

// plan returns the places of blobs in the order of reading.
func (r *Repo) plan(ids []ID) ([]place, error) {
	plan := make([]place, 0, len(ids))
	turn := map[ID]int{} // of a pack
	for _, id := range ids {
		places := r.places(id)
		if len(places) == 0 {
			return nil, errNotFound(id)
		}
		p := places[0]
		if _, ok := turn[p.pack]; !ok {
			turn[p.pack] = len(turn)
		}
		plan = append(plan, p)
	}
	slices.SortFunc(plan, func(a, b place) int {
		return cmp.Or(cmp.Compare(turn[a.pack], turn[b.pack]), cmp.Compare(a.offset, b.offset),
			cmp.Compare(a.stored, b.stored), a.id.Compare(b.id))
	})
	return slices.CompactFunc(plan, func(a, b place) bool { return a.id == b.id }), nil
}

// neighbours returns how many places at the beginning of a plan are read with
// one request.
func neighbours(plan []place) int {
	for i := 1; i < len(plan); i++ {
		gap := int64(plan[i].offset) - plan[i-1].end()
		if plan[i].pack != plan[0].pack || gap < 0 || gap > maxGapBytes {
			return i
		}
	}
	return len(plan)
}

func errNotFound(id ID) error {
	return amber.Errorf(amber.KindNotFound, "read blob", id.String(), "the blob is not in the index")
}

// stream reads blobs. It keeps its buffers: what it returned is overwritten by
// its next call. Not safe for concurrent use.
type stream struct {
	repo   *Repo
	opener opener
	stored []byte
}

func (r *Repo) newStream() *stream { return &stream{repo: r, opener: r.newOpener()} }

func (r *Repo) newOpener() opener { return opener{codec: r.keys(), decoder: r.decoder} }

// fill reads n bytes behind a gap into a buffer.
func fill(body io.Reader, name string, gap int64, n int, buf []byte) ([]byte, error) {
	_, err := io.CopyN(io.Discard, body, gap)
	buf = slices.Grow(buf[:0], n)[:n]
	if err == nil {
		_, err = io.ReadFull(body, buf)
	}
	if err != nil {
		err = readError(name, err)
	}
	return buf, err
}

// any reads a blob from the first of its places that holds it.
func (s *stream) any(ctx context.Context, id ID) (Blob, error) {
	first := errNotFound(id)
	for i, p := range s.repo.places(id) {
		b, err := s.one(ctx, &p)
		if err == nil || !isProblem(err) {
			return b, err
		}
		if i == 0 {
			first = err
		}
	}
	return Blob{}, first
}

// one reads a blob from one place.
func (s *stream) one(ctx context.Context, p *place) (Blob, error) {
	if err := s.fetch(ctx, p); err != nil {
		return Blob{}, err
	}
	b, err := s.opener.open(&p.entry, s.stored)
	if err != nil {
		return Blob{}, damaged("read blob", p.id.String(), fmt.Errorf("in %s: %w", packName(p.pack), err))
	}
	return b, nil
}

// fetch reads the stored bytes of a blob from one place.
func (s *stream) fetch(ctx context.Context, p *place) error {
	name := packName(p.pack)
	stored, err := s.stored[:0], error(nil)
	if p.stored > 0 {
		stored, err = fetch(ctx, s.repo.target, name, int64(p.offset), int64(p.stored), stored)
	}
	switch {
	case amber.KindOf(err) == amber.KindNotFound:
		// An index names it: that is damage.
		return damaged("read blob", p.id.String(), fmt.Errorf("%s is missing", name))
	case err != nil:
		return err
	}
	s.stored = stored
	return nil
}
