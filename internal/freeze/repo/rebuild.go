package repo

import (
	"context"

	"github.com/amber-memory/amber/internal/freeze/target"
)

// Rebuild makes the index again from the directories of the packs, of which
// it reads only the end, writes it and loads it. Older index objects stay: one
// may be the only one that knows the blobs of a pack whose own directory cannot
// be read, and [Repo.CollectGarbage] removes those that are of no use. A pack
// that cannot be read is left out; [Repo.Check] names it. Errors: those of the
// target.
func (r *Repo) Rebuild(ctx context.Context) error {
	l, err := list(ctx, r.target)
	if err != nil {
		return err
	}
	w := &indexWriter{target: r.target}
	for _, id := range sorted(l.packs) {
		d, err := readDirectory(ctx, r.target, id, l.packs[id])
		switch {
		case err == nil:
			err = w.add(ctx, d)
		case isProblem(err):
			err = nil
		}
		if err != nil {
			return err
		}
	}
	if err := w.write(ctx); err != nil {
		return err
	}
	return r.Reload(ctx)
}

// indexWriter makes index objects of packs that are durable.
type indexWriter struct {
	target  target.Target
	open    []packDir // in no index object yet
	blobs   int       // of open
	written map[string]bool
}

// add takes a pack, and ends an index object that is full.
func (w *indexWriter) add(ctx context.Context, p packDir) error {
	w.open = append(w.open, p)
	if w.blobs += p.dir.blobs(); w.blobs < maxIndexBlobs {
		return nil
	}
	return w.write(ctx)
}

// write ends an index object.
func (w *indexWriter) write(ctx context.Context) error {
	if len(w.open) == 0 {
		return nil
	}
	sortPacks(w.open)
	name, err := putIndex(ctx, w.target, w.open)
	if err != nil {
		return err
	}
	if w.written == nil {
		w.written = map[string]bool{}
	}
	w.written[name] = true
	w.open, w.blobs = nil, 0
	return nil
}
