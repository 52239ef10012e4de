package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/amber-memory/amber"
)

// gitBatch is how many objects are read in the order of packs at a time: what
// a set needs of memory beyond 64 bytes for each object.
const gitBatch = 1 << 16

// GitSet reads git objects by their ids. Shards are read when they are needed
// and kept. Safe for concurrent use.
type GitSet struct {
	repo *Repo
	root *gitShards
	key  string // what the root is sealed with, and so all of it

	mu    sync.Mutex
	shard [256][]gitEntry // nil: not read yet, or no object
}

// OpenGitSet opens a set of git objects. There is nothing to close. Errors:
// those of [Repo.Get]; damaged.
func (r *Repo) OpenGitSet(ctx context.Context, root ID) (*GitSet, error) {
	b, err := r.newStream().typed(ctx, root, KindTree)
	if err != nil {
		return nil, err
	}
	g, err := parseGitRoot(b.Data)
	if err != nil {
		return nil, damaged("read git objects", root.String(), err)
	}
	return &GitSet{repo: r, root: g, key: b.Key}, nil
}

// Object reads one object. Errors: invalid for an id that is not valid; not_found
// when the set does not have it; those of [Repo.Get]; damaged.
func (g *GitSet) Object(ctx context.Context, oid string) (GitObject, error) {
	id, length, err := parseGitID(oid)
	if err != nil {
		return GitObject{}, err
	}
	shard, err := g.load(ctx, id[0])
	if err != nil {
		return GitObject{}, err
	}
	i, ok := findGit(shard, id)
	if !ok || length != g.root.length {
		return GitObject{}, amber.Errorf(amber.KindNotFound, "read git object", oid, "the snapshot does not have this object")
	}
	b, err := g.repo.newStream().any(ctx, shard[i].blob)
	if err != nil {
		return GitObject{}, err
	}
	return checkGitBlob(&b, shard[i], length)
}

// load returns a shard.
func (g *GitSet) load(ctx context.Context, first byte) ([]gitEntry, error) {
	g.mu.Lock()
	shard, ref := g.shard[first], g.root.shard[first]
	g.mu.Unlock()
	if shard != nil || ref.objects == 0 {
		return shard, nil
	}
	b, err := g.repo.newStream().typed(ctx, ref.id, KindTree)
	if err != nil {
		return nil, err
	}
	return g.keep(first, &b)
}

// keep parses a shard and keeps it.
func (g *GitSet) keep(first byte, b *Blob) ([]gitEntry, error) {
	if b.Kind != KindTree {
		return nil, damaged("read git objects", b.ID.String(), fmt.Errorf("the blob has kind %v", b.Kind))
	}
	shard, err := parseGitShard(b.Data, g.root.length, first, g.root.shard[first].objects)
	if err != nil {
		return nil, damaged("read git objects", b.ID.String(), err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shard[first] = shard
	return shard, nil
}

// loadAll reads all shards, in the order of packs.
func (g *GitSet) loadAll(ctx context.Context) error {
	first := map[ID]byte{}
	var ids []ID
	for i, s := range g.root.shard {
		if s.objects == 0 {
			continue
		}
		if _, twice := first[s.id]; twice {
			return damaged("read git objects", s.id.String(), errors.New("the root names this shard twice"))
		}
		first[s.id] = byte(i)
		ids = append(ids, s.id)
	}
	return g.repo.Read(ctx, ids, func(b Blob) error {
		_, err := g.keep(first[b.ID], &b)
		return err
	})
}

// checkGitBlob makes an object of a blob.
func checkGitBlob(b *Blob, e gitEntry, length int) (GitObject, error) {
	o := GitObject{OID: e.oid.string(length), Raw: b.Data}
	err := checkGitRaw(b.Data)
	switch {
	case b.Kind != KindGit:
		err = fmt.Errorf("the blob has kind %v", b.Kind)
	case gitIDOf(b.Data, length) != e.oid:
		err = errors.New("the bytes do not match the git id")
	}
	if err != nil {
		return GitObject{}, damaged("read git object "+o.OID, e.blob.String(), err)
	}
	return o, nil
}

// GitObjects reads all objects of a set, in the order in which they lie in packs as far as there are at most 65536,
// each checked against its id. The object that fn is given is valid until fn returns. Errors: those of [Repo.Get];
// damaged; that of fn, as it is.
func (r *Repo) GitObjects(ctx context.Context, root ID, fn func(GitObject) error) error {
	g, err := r.OpenGitSet(ctx, root)
	if err != nil {
		return err
	}
	if err := g.loadAll(ctx); err != nil {
		return err
	}
	var batch []gitEntry
	for first := range g.shard {
		batch = append(batch, g.shard[first]...)
		g.shard[first] = nil
		if len(batch) < gitBatch && first < 255 {
			continue
		}
		if err := g.read(ctx, batch, fn); err != nil {
			return err
		}
		batch = batch[:0]
	}
	return nil
}

// read reads objects; their order is lost.
func (g *GitSet) read(ctx context.Context, entries []gitEntry, fn func(GitObject) error) error {
	slices.SortFunc(entries, func(a, b gitEntry) int { return a.blob.Compare(b.blob) })
	ids := make([]ID, len(entries))
	for i := range entries {
		if ids[i] = entries[i].blob; i > 0 && ids[i] == ids[i-1] {
			return damaged("read git objects", ids[i].String(), errors.New("two objects have the same blob"))
		}
	}
	return g.repo.Read(ctx, ids, func(b Blob) error {
		i, _ := slices.BinarySearchFunc(entries, b.ID, func(e gitEntry, id ID) int { return e.blob.Compare(id) })
		o, err := checkGitBlob(&b, entries[i], g.root.length)
		if err != nil {
			return err
		}
		return fn(o)
	})
}

// GitBlobs calls fn for every blob that a set needs: the root and shards, of
// kind tree, and objects, each once. Errors: those of [Repo.Get]; damaged;
// that of fn, as it is.
func (r *Repo) GitBlobs(ctx context.Context, root ID, fn func(ID, Kind) error) error {
	g, err := r.OpenGitSet(ctx, root)
	if err != nil {
		return err
	}
	if err := g.loadAll(ctx); err != nil {
		return err
	}
	if err := fn(root, KindTree); err != nil {
		return err
	}
	for first, ref := range g.root.shard {
		if ref.objects == 0 {
			continue
		}
		if err := fn(ref.id, KindTree); err != nil {
			return err
		}
		for _, e := range g.shard[first] {
			if err := fn(e.blob, KindGit); err != nil {
				return err
			}
		}
	}
	return nil
}
