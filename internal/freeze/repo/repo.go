package repo

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/wire/sign"
)

// Repo is the blobs of a repository. Safe for concurrent use; other programs
// may write to the same target.
type Repo struct {
	target     target.Target
	decoder    *zstd.Decoder
	packBytes  int64
	identities []age.Identity
	signer     sign.Signer
	random     io.Reader
	manifests  *Manifests

	mu       sync.RWMutex
	index    *index
	codec    *codec
	problems []Problem
}

// Options say how a repository is opened.
type Options struct {
	// Identities open an encrypted repository, any one of them. Without one that
	// does it is locked: see [Repo.Locked].
	Identities []age.Identity
	// Signer signs records; nil leaves them unsigned.
	Signer sign.Signer
	// Random is where nonces come from; nil is crypto/rand. Safe for concurrent
	// use.
	Random io.Reader
	// Manifests remembers what was read, for repositories that are opened again and again; nil: nothing.
	Manifests *Manifests
}

// Open reads the index and the keys of a repository; o may be nil. Index
// objects and key records that are damaged, and packs that are not there, are no
// error: see [Repo.Problems]. A target without objects is an empty repository.
// Errors: too_new for an index object or a key record of a later version; those
// of the target.
func Open(ctx context.Context, target target.Target, o *Options) (*Repo, error) {
	if o == nil {
		o = &Options{}
	}
	r := &Repo{
		target: target, decoder: newDecoder(), packBytes: defaultPackBytes,
		identities: slices.Clone(o.Identities), signer: o.Signer, random: o.Random, manifests: o.Manifests,
	}
	if r.random == nil {
		r.random = rand.Reader
	}
	if err := r.Reload(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// Reload reads the index and the keys again, and with them what other programs
// have written since. After an error the old ones stay. Errors: those of
// [Open].
func (r *Repo) Reload(ctx context.Context) error {
	x, problems, err := loadIndex(ctx, r.target)
	// An index object that goes meanwhile was replaced by others.
	for n := 1; err == nil && n < maxTries && slices.ContainsFunc(problems, isGoneIndex); n++ {
		x, problems, err = loadIndex(ctx, r.target)
	}
	if err != nil {
		return err
	}
	// After the index: a key is there before anything is sealed with it.
	c, err := r.loadCodec(ctx, x.sealed)
	if err != nil {
		return err
	}
	if c.damage != nil {
		problems = append(problems, *c.damage)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.index, r.problems = x, problems
	r.setKeys(c)
	return nil
}

// keys returns what is known about the keys of the repository.
func (r *Repo) keys() *codec {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.codec
}

func isGoneIndex(p Problem) bool {
	return p.Kind == amber.KindNotFound && strings.HasPrefix(p.Object, indexPrefix)
}

// Problems returns what was wrong with index objects and the key record when
// they were loaded, and packs that are named and not there, at most a thousand
// or so. Blobs that only damaged index objects know are not found:
// [Repo.Rebuild] mends that.
func (r *Repo) Problems() []Problem {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.problems)
}

// Blobs returns how many blobs the index knows.
func (r *Repo) Blobs() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.index.blobs()
}

// Has reports whether a blob is in the repository, as far as its index tells,
// in a pack that is there.
func (r *Repo) Has(id ID) bool { return r.hasOutside(id, nil) }

// hasOutside is Has without what lies only in some packs.
func (r *Repo) hasOutside(id ID, avoid map[ID]bool) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.index.has(id, avoid)
}

// storedBytes returns how many bytes a blob takes in its pack; 0 for one that is not there.
func (r *Repo) storedBytes(id ID) int64 {
	if places := r.places(id); len(places) > 0 {
		return int64(places[0].stored)
	}
	return 0
}

// places returns every place of a blob, the best first.
func (r *Repo) places(id ID) []place {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.index.places(id)
}

// add makes packs known that an index object names by now.
func (r *Repo) add(packs []packDir) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.index.add(packs)
}

// listing is what a target holds.
type listing struct {
	index map[ID]int64 // sizes
	packs map[ID]int64
}

// list reads the names of all objects. Index objects come first: a pack is
// there before an index object names it, so one that is missing got lost.
func list(ctx context.Context, t target.Target) (listing, error) {
	l := listing{index: map[ID]int64{}, packs: map[ID]int64{}}
	collect := func(prefix string, parse func(string) (ID, bool), into map[ID]int64) error {
		return t.List(ctx, prefix, func(o target.Object) error {
			if id, ok := parse(o.Name); ok {
				into[id] = o.Size
			}
			return nil
		})
	}
	if err := collect(indexPrefix, indexID, l.index); err != nil {
		return l, fmt.Errorf("list index: %w", err)
	}
	if err := collect(packPrefix, packID, l.packs); err != nil {
		return l, fmt.Errorf("list packs: %w", err)
	}
	return l, nil
}

// sorted returns the ids of a map in order.
func sorted(m map[ID]int64) []ID {
	return slices.SortedFunc(maps.Keys(m), ID.Compare)
}

// loadIndex reads all index objects.
func loadIndex(ctx context.Context, t target.Target) (*index, []Problem, error) {
	l, err := list(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	blobs := 0
	for _, size := range l.index {
		blobs += int(min(size, maxIndexBytes) / entryBytes)
	}
	x := newIndex(blobs)
	var found problems
	var buf []byte
	for _, id := range sorted(l.index) {
		var packs []packDir
		packs, buf, err = readIndex(ctx, t, id, l.index[id], buf)
		if amber.KindOf(err) == amber.KindTooNew {
			return nil, nil, err
		}
		if err := found.note(indexName(id), err); err != nil {
			return nil, nil, err
		}
		for _, p := range packs {
			bad := found.missing(p, l.packs)
			if !x.load(p, bad) {
				found.add(Problem{
					Object: indexName(id), Kind: amber.KindDamaged,
					Reason: "index describes " + packName(p.id) + " differently from another index object",
				})
			}
		}
	}
	x.sort()
	return x, found.list, nil
}
