package repo

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// RebuildReport says what [Repo.Rebuild] has made.
type RebuildReport struct {
	Packs   int      // in the new index
	Blobs   int      // in the new index
	Objects []string // the new index: one object for 131072 blobs
	// Superseded are older index objects whose content is in the new ones. Before
	// deleting them, wait until no reader can be about to read one.
	Superseded []string
	Problems   []Problem // packs whose directory cannot be read, at most a thousand
}

// Rebuild makes the index again from the directories of the packs, of which
// it reads only the end, writes it and loads it. Older index objects stay. An
// index object that names a pack which is there and whose own directory cannot
// be read is not superseded: it is the only one that knows those blobs. Errors:
// those of the target.
func (r *Repo) Rebuild(ctx context.Context) (RebuildReport, error) {
	l, err := list(ctx, r.target)
	if err != nil {
		return RebuildReport{}, err
	}
	b := &rebuild{target: r.target, listing: l, known: map[ID]bool{}}
	for _, id := range sorted(l.packs) { // and so the packs of an index object are in order
		if err := b.pack(ctx, id); err != nil {
			return RebuildReport{}, err
		}
	}
	if err := b.write(ctx); err != nil {
		return RebuildReport{}, err
	}
	if err := b.superseded(ctx); err != nil {
		return RebuildReport{}, err
	}
	b.report.Problems = b.problems.list
	return b.report, r.Reload(ctx)
}

// rebuild is one run of Rebuild.
type rebuild struct {
	target   target.Target
	listing  listing
	open     []packDir   // in no index object yet
	blobs    int         // in open
	known    map[ID]bool // packs in the new index
	problems problems
	report   RebuildReport
}

func (b *rebuild) pack(ctx context.Context, id ID) error {
	d, err := readDirectory(ctx, b.target, id, b.listing.packs[id])
	if err != nil {
		return b.problems.note(packName(id), err)
	}
	b.open = append(b.open, d)
	b.blobs += d.dir.blobs()
	b.known[id] = true
	b.report.Packs++
	b.report.Blobs += d.dir.blobs()
	if b.blobs < maxIndexBlobs {
		return nil
	}
	return b.write(ctx)
}

// write ends an index object.
func (b *rebuild) write(ctx context.Context) error {
	if len(b.open) == 0 {
		return nil
	}
	name, err := putIndex(ctx, b.target, b.open)
	if err != nil {
		return err
	}
	b.report.Objects = append(b.report.Objects, name)
	b.open, b.blobs = nil, 0
	return nil
}

// superseded lists index objects that are needed no more.
func (b *rebuild) superseded(ctx context.Context) error {
	fresh := map[string]bool{}
	for _, name := range b.report.Objects {
		fresh[name] = true
	}
	var buf []byte
	for _, id := range sorted(b.listing.index) {
		if fresh[indexName(id)] {
			continue
		}
		var packs []packDir
		var err error
		packs, buf, err = readIndex(ctx, b.target, id, b.listing.index[id], buf)
		switch {
		case amber.KindOf(err) == amber.KindTooNew, err == nil && b.needed(packs):
		case err == nil || isProblem(err):
			b.report.Superseded = append(b.report.Superseded, indexName(id))
		default:
			return fmt.Errorf("rebuild index: %w", err)
		}
	}
	return nil
}

// needed reports whether one of the packs is there and has no directory that
// can be read.
func (b *rebuild) needed(packs []packDir) bool {
	for _, p := range packs {
		_, there := b.listing.packs[p.id]
		if there && !b.known[p.id] {
			return true
		}
	}
	return false
}
