package gitsync

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/gitsync/chunk"
)

// packBytes is how large a pack becomes. One that is half as large stays as it
// is.
const packBytes = 8 << 20

// minPacked is how many files are worth a new one.
const minPacked = 4

// Compact puts many small chunks into few files, byte by byte, so that nobody
// sees a difference: not who has applied them, and not who has never seen
// them. Chunks with text of memories that were erased are written again without
// it; the history of git still has it. New files are durable before old ones
// go. Errors: refused for a folder that cannot be written; damaged chunks are
// left alone.
func (s *Sync) Compact(ctx context.Context) (report amber.SyncCompact, err error) {
	if s.o.Format == amber.SyncEngram {
		return report, amber.Errorf(amber.KindUnsupported, "compact", s.dir, "the format of Engram has no packs")
	}
	if _, err := s.fs.Lstat(s.chunks()); errors.Is(err, fs.ErrNotExist) {
		return report, nil
	}
	err = s.writing(ctx, func() error {
		c := &compaction{s: s, report: &report, erased: map[amber.MemoryID]bool{}, left: map[chunk.ID]bool{}}
		return c.run(ctx)
	})
	return report, err
}

// compaction is one compaction on its way.
type compaction struct {
	s      *Sync
	report *amber.SyncCompact
	erased map[amber.MemoryID]bool
	left   map[chunk.ID]bool // that others must rewrite
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
			if r.Erased != nil {
				c.erased[r.Erased.ID] = true
			}
		}
		one.size += int64(len(p.Bytes))
		one.parts = append(one.parts, p.ID)
	}
	return one, nil
}

// believe keeps of the erasures in the folder those that this store has taken
// in: a chunk that the import refuses removes nothing here either.
func (c *compaction) believe(ctx context.Context) error {
	refs := make([]amber.SyncRef, 0, len(c.erased))
	for id := range c.erased {
		refs = append(refs, amber.SyncRef{Scope: amber.ChangeMemory, ID: string(id)})
	}
	records, err := c.s.store.SyncRecords(ctx, refs)
	if err != nil {
		return err
	}
	for i, r := range records {
		if r.Erased == nil {
			delete(c.erased, amber.MemoryID(refs[i].ID))
		}
	}
	return nil
}

// rewrite replaces the files in which a chunk holds text that was erased.
func (c *compaction) rewrite(ctx context.Context) error {
	if len(c.erased) == 0 {
		return nil
	}
	files := c.files
	c.files = nil
	for _, f := range files {
		kept, err := c.rewriteFile(ctx, f)
		if err != nil {
			return err
		}
		c.files = append(c.files, kept...)
	}
	return nil
}

// rewriteFile returns what becomes of a file: itself, or its chunks one by one.
func (c *compaction) rewriteFile(ctx context.Context, f stored) ([]stored, error) {
	parts, err := c.s.parts(f.file)
	if err != nil {
		return nil, err
	}
	var out []stored
	changed := false
	for _, p := range parts {
		next, rewritten, err := c.withoutErased(ctx, p)
		if err != nil {
			return nil, err
		}
		changed = changed || rewritten
		out = append(out, stored{file: file{id: next.ID, name: next.ID.FileName()}, size: int64(len(next.Bytes)), parts: []chunk.ID{next.ID}})
	}
	if !changed {
		return []stored{f}, nil
	}
	for _, p := range parts {
		next, rewritten, err := c.withoutErased(ctx, p)
		if err != nil {
			return nil, err
		}
		if err := c.s.put(next.ID, next.Bytes); err != nil {
			return nil, err
		}
		if rewritten {
			c.report.Rewritten++
		}
	}
	return out, c.remove(f)
}

// withoutErased returns a chunk without the text of what was erased. One that
// somebody else has signed stays as it is and is counted: nobody else can vouch
// for the new bytes, and who asks for signatures would lose the rest of it.
func (c *compaction) withoutErased(ctx context.Context, p chunk.Part) (chunk.Part, bool, error) {
	d, err := chunk.Decode(p.ID, p.Bytes)
	if err != nil {
		return p, false, err
	}
	kept := filter(d.Records, func(r amber.SyncRecord) bool { return r.Memory == nil || !c.erased[r.Memory.ID] })
	if len(kept) == len(d.Records) {
		return p, false, nil
	}
	var signer amber.Signer
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

// pack puts small files together, the smallest first, as long as no file is
// more than a third of what they become: see [chunk.EncodePack].
func (c *compaction) pack(ctx context.Context) error {
	slices.SortStableFunc(c.files, func(a, b stored) int { return int(a.size - b.size) })
	var kept []stored
	for rest := c.files; ; {
		group, after := nextGroup(rest)
		if len(group) < minPacked {
			c.files = append(kept, rest...)
			return nil
		}
		one, err := c.packGroup(ctx, group)
		switch {
		case amber.KindOf(err) == amber.KindInvalid: // without doubles one part is too large for the others
			kept = append(kept, group...)
		case err != nil:
			return err
		default:
			kept = append(kept, one)
		}
		rest = after
	}
}

// nextGroup takes files from the beginning of a list that is ordered by size.
func nextGroup(files []stored) (group, rest []stored) {
	var total int64
	n := 0
	for n < len(files) && total+files[n].size <= packBytes && files[n].size < packBytes/2 {
		total += files[n].size
		n++
	}
	for n > 0 && files[n-1].size > total/3 {
		n--
		total -= files[n].size
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
	slices.SortFunc(parts, func(a, b chunk.Part) int { return compareText(string(a.ID), string(b.ID)) })
	id, b, err := chunk.EncodePack(parts)
	if err != nil {
		return stored{}, err
	}
	if err := c.s.put(id, b); err != nil {
		return stored{}, err
	}
	one := stored{file: file{id: id, name: id.FileName()}, size: int64(len(b))}
	for _, p := range parts {
		one.parts = append(one.parts, p.ID)
	}
	c.report.Packed += int64(len(parts))
	for _, f := range group {
		if err := c.remove(f); err != nil {
			return one, err
		}
	}
	return one, nil
}

// remove removes a file whose chunks are in another one.
func (c *compaction) remove(f stored) error {
	path := filepath.Join(c.s.chunks(), f.name)
	if err := c.s.fs.Remove(path); err != nil {
		return fail("remove chunk", f.label(), err)
	}
	return fail("remove chunk", f.label(), c.s.fs.SyncDir(c.s.chunks()))
}
