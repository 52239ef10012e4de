package repo

import (
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
)

// GitSetWriter stores a set of git objects. Not safe for concurrent use. Its objects are stored when the [Writer] is
// flushed.
type GitSetWriter struct {
	w     *Writer
	based bool
	root  *gitShards
	shard [256][]gitEntry // sorted, as in the base
	added [256][]gitEntry // since, sorted by Finish
	fresh map[gitID]struct{}
}

// NewGitSet begins a set that has the objects of another one, none with a
// zero base. When a blob of the base is damaged, or is not there, or only in packs
// to avoid, or when the base is not under the current key, the set begins empty,
// as [GitSetWriter.Based] tells. Errors: those
// of the target; too_new.
func (w *Writer) NewGitSet(ctx context.Context, base ID) (*GitSetWriter, error) {
	g := &GitSetWriter{w: w, root: &gitShards{}, fresh: map[gitID]struct{}{}}
	if base.IsZero() {
		return g, nil
	}
	ids := []ID{base} // of the blobs that make the set
	s, err := w.repo.OpenGitSet(ctx, base)
	if err == nil {
		for _, ref := range s.root.shard {
			if ref.objects > 0 {
				ids = append(ids, ref.id)
			}
		}
		err = s.loadAll(ctx)
	}
	if amber.KindOf(err) == amber.KindTooNew || err != nil && !isProblem(err) {
		return nil, err
	}
	if err != nil {
		// They may have the id of what is stored now: no reason to leave it out.
		w.distrust(ids...)
		return g, nil
	}
	for _, shard := range s.shard {
		for i := range shard {
			ids = append(ids, shard[i].blob)
		}
	}
	if !w.otherKey(s.key) && w.holdsAll(ids) {
		g.based, g.root, g.shard = true, s.root, s.shard
	}
	return g, nil
}

// Based reports whether the set began with the objects of its base. If not,
// all objects must be put.
func (g *GitSetWriter) Based() bool { return g.based }

// Has reports whether the set has an object.
func (g *GitSetWriter) Has(oid string) bool {
	id, length, err := parseGitID(oid)
	return err == nil && length == g.root.length && g.has(id)
}

func (g *GitSetWriter) has(id gitID) bool {
	if _, ok := g.fresh[id]; ok {
		return true
	}
	_, ok := findGit(g.shard[id[0]], id)
	return ok
}

// Full reports whether the set takes no more objects.
func (g *GitSetWriter) Full() bool { return g.root.objects()+int64(len(g.fresh)) >= maxGitObjects }

// findGit looks for an object in a sorted list.
func findGit(l []gitEntry, id gitID) (int, bool) {
	return slices.BinarySearchFunc(l, id, func(e gitEntry, id gitID) int { return e.oid.compare(id) })
}

// Put adds an object unless the set has it. Errors: invalid for an object
// that does not have its id or the form of one, or an id of another length
// than the others; quota for too many; those of [Writer.Put].
func (g *GitSetWriter) Put(ctx context.Context, o GitObject) error {
	id, length, err := parseGitID(o.OID)
	if err != nil {
		return err
	}
	fail := func(kind amber.Kind, why string) error {
		return amber.Errorf(kind, "store git object", o.OID, "%s", why)
	}
	switch {
	case g.root.length != 0 && length != g.root.length:
		return fail(amber.KindInvalid, fmt.Sprintf("id has %d bytes, want %d as in the other objects", length, g.root.length))
	case gitIDOf(o.Raw, length) != id:
		return fail(amber.KindInvalid, "the bytes do not match the id")
	case checkGitRaw(o.Raw) != nil:
		return fail(amber.KindInvalid, checkGitRaw(o.Raw).Error())
	case g.has(id):
		return nil
	case g.Full():
		return fail(amber.KindQuota, fmt.Sprintf("set already has %d objects, the most allowed", maxGitObjects))
	}
	blob, err := g.w.Put(ctx, KindGit, o.Raw)
	if err != nil {
		return err
	}
	g.root.length = length
	g.fresh[id] = struct{}{}
	g.added[id[0]] = append(g.added[id[0]], gitEntry{id, blob})
	return nil
}

// Finish stores the shards that changed and the root, and returns the id of
// the root and how many objects the set has. More may be put and finished
// again. Errors: those of [Writer.Put].
func (g *GitSetWriter) Finish(ctx context.Context) (root ID, count int64, err error) {
	for first, added := range g.added {
		if len(added) == 0 {
			continue
		}
		shard := append(g.shard[first], added...)
		slices.SortFunc(shard, func(a, b gitEntry) int { return a.oid.compare(b.oid) })
		id, err := g.w.Put(ctx, KindTree, marshalGitShard(g.root.length, shard))
		if err != nil {
			return ID{}, 0, err
		}
		g.shard[first], g.added[first] = shard, nil
		g.root.shard[first] = gitShardRef{uint32(len(shard)), id}
	}
	clear(g.fresh)
	root, err = g.w.Put(ctx, KindTree, g.root.marshal())
	return root, g.root.objects(), err
}
