package repo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// A writer has four goroutines. They run until Close closes the channels, and after a failure they pass jobs through
// without doing anything, so no goroutine waits for ever:
//
//	Put ─┬─ work ──> compress (2) ── ready ──┐
//	     └─ order ─────────────────────────> pack ── uploads ──> upload

// upload is a pack to store, or a mark behind the packs before it.
type upload struct {
	pack *packing
	mark chan struct{}
}

// compress seals blobs.
func (w *Writer) compress() {
	for j := range w.work {
		if j.flush == nil && w.failure() == nil {
			if err := w.seal(j); err != nil {
				w.fail(err)
			}
		}
		j.ready <- struct{}{}
	}
}

func (w *Writer) seal(j *job) (err error) {
	if j.copied {
		j.stored = j.plain
		return nil
	}
	if len(j.plain) > copyBytes && len(j.plain) <= FilePartBytes {
		if out, ok := w.outs.Get().(*[]byte); ok {
			j.out = *out
		}
	}
	b, c, out := w.encs.compress(j.entry.kind, j.plain, j.out, w.codec.room())
	j.entry.compression, j.out = c, out
	j.stored, err = w.codec.seal(&j.entry, b, out)
	return err
}

// pack fills packs, in the order of Put.
func (w *Writer) pack(ctx context.Context) {
	defer close(w.uploads)
	var p *packing // the open pack, nil before its first blob
	for j := range w.order {
		<-j.ready
		switch {
		case w.failure() != nil:
		case j.flush != nil:
			p = w.finish(p)
		default:
			var err error
			if p, err = w.packJob(ctx, p, j); err != nil {
				w.fail(err)
			}
		}
		if j.flush != nil {
			w.uploads <- upload{mark: j.flush}
		}
		if j.packed != nil {
			close(j.packed)
		}
		w.rest(j)
	}
}

// packJob adds a blob to the open pack, or to a new one when it is full.
func (w *Writer) packJob(ctx context.Context, p *packing, j *job) (*packing, error) {
	if p != nil && !p.fits(len(j.stored), w.repo.packBytes) {
		p = w.finish(p)
	}
	if p == nil {
		select {
		case buf := <-w.buffers:
			p = newPacking(buf)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	large := !p.fits(len(j.stored), w.repo.packBytes)
	p.add(j.entry, j.stored, large)
	w.mu.Lock()
	w.report.New++
	w.report.Plain += int64(j.entry.plain)
	w.report.Stored += int64(len(j.stored))
	if j.entry.sealed && j.entry.kind == KindManifest {
		w.sealed[j.entry.id] = sha256.Sum256(j.stored)
	}
	w.mu.Unlock()
	if !large {
		return p, nil
	}
	p = w.finish(p)
	mark := make(chan struct{})
	w.uploads <- upload{mark: mark}
	<-mark // the bytes belong to the job
	return p, nil
}

// finish hands a pack on and returns the next one: none.
func (w *Writer) finish(p *packing) *packing {
	if p != nil {
		w.uploads <- upload{pack: p}
	}
	return nil
}

// upload stores packs, one after the other.
func (w *Writer) upload(ctx context.Context) {
	looked := false
	for u := range w.uploads {
		if u.mark != nil {
			close(u.mark)
			continue
		}
		if err := w.mayUpload(ctx, &looked); err != nil {
			w.fail(err)
		}
		if w.failure() != nil {
			continue // and no pack is filled any more
		}
		d, err := u.pack.upload(ctx, w.repo.target, w.avoids)
		if err != nil {
			w.fail(err)
			continue
		}
		w.buffers <- u.pack.data
		w.mu.Lock()
		w.packs = append(w.packs, d)
		w.stored = append(w.stored, d.id)
		w.report.Packs++
		w.mu.Unlock()
	}
}

// mayUpload says why a pack must not be stored. Before the first it looks
// whether others have changed the key since it was read.
func (w *Writer) mayUpload(ctx context.Context, looked *bool) error {
	if !*looked && w.failure() == nil {
		if err := w.repo.sameKeys(ctx, "store pack", ""); err != nil {
			return err
		}
		*looked = true
	}
	return w.stale()
}

func sortPacks(packs []packDir) {
	slices.SortFunc(packs, func(a, b packDir) int { return a.id.Compare(b.id) })
}

// groupOf returns how many packs of a list belong in one index object.
func groupOf(packs []packDir) int {
	blobs := 0
	for i, p := range packs {
		if blobs += p.dir.blobs(); blobs >= maxIndexBlobs {
			return i + 1
		}
	}
	return len(packs)
}

// putIndex writes an index object for packs that are durable. In place of one
// whose bytes do not match its name it puts the right one: unlike a pack it
// holds nothing that is nowhere else.
func putIndex(ctx context.Context, t target.Target, packs []packDir) (name string, err error) {
	b := marshalIndex(packs)
	id := ID(sha256.Sum256(b))
	name = indexName(id)
	err = putObject(ctx, t, name, id, int64(len(b)), bytes.NewReader(b))
	if amber.KindOf(err) != amber.KindDamaged {
		return name, err
	}
	if err := t.Delete(ctx, name); err != nil {
		return name, fmt.Errorf("remove damaged %s: %w", name, err)
	}
	return name, putObject(ctx, t, name, id, int64(len(b)), bytes.NewReader(b))
}
