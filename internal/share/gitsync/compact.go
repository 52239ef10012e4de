package gitsync

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// packBytes is how large a pack becomes. Compact leaves a pack of half that size as it is.
const packBytes = 4 << 20

// minPacked is how many files are worth a new one.
const minPacked = 4

// Compact puts many small chunks into few files, byte by byte. Neither a store
// that has applied the chunks nor a store that has never seen them notices a
// difference. Chunks with text of memories that were erased, and of prompts and
// sessions that were deleted, are written again without it, those that are
// signed by their signer alone; the history of git still has it. New files are
// durable before old ones go. Errors: refused for a folder that cannot be
// written; damaged chunks are left alone.
func (s *Sync) Compact(ctx context.Context) (report wire.SyncCompact, err error) {
	if s.o.Format == wire.SyncEngram {
		return report, amber.Errorf(amber.KindUnsupported, "compact", s.dir, "the format of Engram has no packs")
	}
	if _, err := s.fs.Lstat(s.chunks()); errors.Is(err, fs.ErrNotExist) {
		return report, nil
	}
	err = s.writing(ctx, func() error {
		c := &compaction{s: s, report: &report, erased: map[amber.SyncRef]bool{}, left: map[chunk.ID]bool{}}
		return c.run(ctx)
	})
	return report, err
}

// compaction is one compaction on its way.
type compaction struct {
	s      *Sync
	report *wire.SyncCompact
	erased map[amber.SyncRef]bool // and deleted prompts and sessions
	left   map[chunk.ID]bool      // that others must rewrite
	files  []stored
}

// stored is a file that can be packed.
type stored struct {
	file
	size  int64
	parts []chunk.ID
}

func (c *compaction) run(ctx context.Context) error {
	before, err := c.bytes()
	if err != nil {
		return err
	}
	if err := c.gather(ctx); err != nil {
		return err
	}
	c.report.Before = int64(len(c.files))
	for _, step := range []func(context.Context) error{c.believe, c.rewrite, c.dropDoubles, c.pack} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	c.report.After, c.report.Left = int64(len(c.files)), int64(len(c.left))
	after, err := c.bytes()
	c.report.Freed = before - after
	return err
}

// bytes returns the size of everything in the folder.
func (c *compaction) bytes() (n int64, err error) {
	entries, err := c.s.fs.ReadDir(c.s.chunks())
	if err != nil {
		return 0, fail("list chunks", c.s.dir, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Type().IsRegular() {
			n += info.Size()
		}
	}
	return n, nil
}

// gather reads every file that is whole, and what was erased.
func (c *compaction) gather(ctx context.Context) error {
	files, err := c.s.list()
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		one, err := c.stored(f)
		if err != nil && !isVerdict(err) {
			return err
		}
		if err == nil {
			c.files = append(c.files, one)
		}
	}
	return nil
}

func (c *compaction) stored(f file) (stored, error) {
	parts, err := c.s.parts(f)
	if err != nil {
		return stored{}, err
	}
	one := stored{file: f}
	for _, p := range parts {
		d, err := chunk.Decode(p.ID, p.Bytes)
		if err != nil {
			return one, err
		}
		for _, r := range d.Records {
			if r.Erased != nil || r.Gone != nil {
				c.erased[r.Ref()] = true
			}
		}
		one.size += int64(len(p.Bytes))
		one.parts = append(one.parts, p.ID)
	}
	return one, nil
}

// believe keeps of the erasures and deletions in the folder those that this
// store has taken in: a chunk that the import refuses removes nothing here
// either.
func (c *compaction) believe(ctx context.Context) error {
	refs := slices.Collect(maps.Keys(c.erased))
	removed, err := c.s.store.RemovedAt(ctx, c.s.dir, refs)
	if err != nil {
		return err
	}
	for i, ok := range removed {
		if !ok {
			delete(c.erased, refs[i])
		}
	}
	return nil
}

// isGone reports whether a record holds text of what is gone for good. A
// memory that was only deleted keeps its history.
func (c *compaction) isGone(r amber.SyncRecord) bool {
	return (r.Memory != nil || r.Prompt != nil || r.Session != nil) && c.erased[r.Ref()]
}

// rewrite replaces the files in which a chunk holds text that was erased.
func (c *compaction) rewrite(ctx context.Context) error {
	if len(c.erased) == 0 {
		return nil
	}
	files := c.files
	c.files = nil
	for _, f := range files {
		one, err := c.rewriteFile(ctx, f)
		if err != nil {
			return err
		}
		c.files = append(c.files, one)
	}
	return nil
}

// rewriteFile returns what becomes of a file: itself, or a pack of its chunks.
// A rewritten chunk is much like the old one, and git would take it for that
// under a new name; in a pack it is not.
func (c *compaction) rewriteFile(ctx context.Context, f stored) (stored, error) {
	parts, err := c.s.parts(f.file)
	if err != nil {
		return f, err
	}
	rewritten := int64(0)
	for i, p := range parts {
		next, changed, err := c.withoutErased(ctx, p)
		if err != nil {
			return f, err
		}
		if parts[i] = next; changed {
			rewritten++
		}
	}
	if rewritten == 0 {
		return f, nil
	}
	one, err := c.writePack(parts)
	if err != nil {
		return f, err
	}
	c.report.Rewritten += rewritten
	return one, c.remove(f)
}

// withoutErased returns a chunk without the text of what was erased. A chunk that another key has signed stays as it is
// and is counted: this store cannot sign the new bytes for that key, and a reader who requires signatures would lose
// the rest of the chunk.
func (c *compaction) withoutErased(ctx context.Context, p chunk.Part) (chunk.Part, bool, error) {
	d, err := chunk.Decode(p.ID, p.Bytes)
	if err != nil {
		return p, false, err
	}
	kept := filter(d.Records, func(r amber.SyncRecord) bool { return !c.isGone(r) })
	if len(kept) == len(d.Records) {
		return p, false, nil
	}
	var signer sign.Signer
	if d.Signature != nil {
		if signer = c.s.o.Signer; signer == nil || signer.KeyID() != d.Signature.KeyID {
			c.left[p.ID] = true
			return p, false, nil
		}
	}
	h := d.Header
	h.Rewrites = append(slices.Clone(h.Rewrites), p.ID)
	id, b, err := chunk.Encode(ctx, h, kept, signer)
	return chunk.Part{ID: id, Bytes: b}, true, err
}

// dropDoubles removes files all of whose chunks are in other files as well: two
// people who compact at the same time leave some.
func (c *compaction) dropDoubles(context.Context) error {
	// Larger files first: what a pack holds needs no file of its own.
	slices.SortStableFunc(c.files, func(a, b stored) int { return len(b.parts) - len(a.parts) })
	held, files := map[chunk.ID]bool{}, map[chunk.ID]bool{}
	var kept []stored
	for _, f := range c.files {
		if files[f.id] {
			continue // rewriting made a file that was there already: there is one
		}
		files[f.id] = true
		double := true
		for _, id := range f.parts {
			double = double && held[id]
		}
		if double {
			if err := c.remove(f); err != nil {
				return err
			}
			continue
		}
		for _, id := range f.parts {
			held[id] = true
		}
		kept = append(kept, f)
	}
	c.files = kept
	return nil
}

// pack puts small files together, the smallest first.
func (c *compaction) pack(ctx context.Context) error {
	slices.SortStableFunc(c.files, func(a, b stored) int { return cmp.Compare(a.size, b.size) })
	var kept []stored
	for rest := c.files; ; {
		group, after := nextGroup(rest)
		if len(group) < minPacked {
			c.files = append(kept, rest...)
			return nil
		}
		one, err := c.packGroup(ctx, group)
		if err != nil {
			return err
		}
		kept = append(kept, one)
		rest = after
	}
}

// nextGroup takes files from the beginning of a list that is ordered by size.
func nextGroup(files []stored) (group, rest []stored) {
	var total int64
	parts, n := 0, 0
	for n < len(files) && total+files[n].size <= packBytes && files[n].size < packBytes/2 && parts+len(files[n].parts) <= chunk.MaxParts {
		total += files[n].size
		parts += len(files[n].parts)
		n++
	}
	return files[:n], files[n:]
}

// packGroup writes the pack, then removes what is in it.
func (c *compaction) packGroup(ctx context.Context, group []stored) (stored, error) {
	var parts []chunk.Part
	seen := map[chunk.ID]bool{}
	for _, f := range group {
		if err := ctx.Err(); err != nil {
			return stored{}, err
		}
		some, err := c.s.parts(f.file)
		if err != nil {
			return stored{}, err
		}
		for _, p := range some {
			if !seen[p.ID] {
				seen[p.ID] = true
				parts = append(parts, p)
			}
		}
	}
	one, err := c.writePack(parts)
	if err != nil {
		return one, err
	}
	c.report.Packed += int64(len(parts))
	for _, f := range group {
		if f.id == one.id {
			continue
		}
		if err := c.remove(f); err != nil {
			return one, err
		}
	}
	return one, nil
}

// writePack makes a pack durable. The same chunks make the same pack, no matter who
// packs them.
func (c *compaction) writePack(parts []chunk.Part) (stored, error) {
	slices.SortFunc(parts, func(a, b chunk.Part) int { return cmp.Compare(a.ID, b.ID) })
	parts = slices.CompactFunc(parts, func(a, b chunk.Part) bool { return a.ID == b.ID })
	id, b, err := chunk.EncodePack(parts)
	if err != nil {
		return stored{}, err
	}
	one := stored{file: file{id: id, name: id.FileName()}, size: int64(len(b))}
	for _, p := range parts {
		one.parts = append(one.parts, p.ID)
	}
	return one, c.s.put(id, b)
}

// remove removes a file whose chunks are in another one.
func (c *compaction) remove(f stored) error {
	path := filepath.Join(c.s.chunks(), f.name)
	if err := c.s.fs.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail("remove chunk", f.label(), err)
	}
	return fail("remove chunk", f.label(), c.s.fs.SyncDir(c.s.chunks()))
}
