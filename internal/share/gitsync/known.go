package gitsync

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
)

// known is a set of versions. It keeps 16 bytes of each, so that an export of
// a million fits in memory; they are those of a cryptographic hash, and two
// versions never share them.
type known map[[16]byte]struct{}

// add reports whether the version was not in the set.
func (k known) add(r amber.SyncRecord) bool {
	key := keyOf(r)
	if _, there := k[key]; there {
		return false
	}
	k[key] = struct{}{}
	return true
}

// keyOf names a version: what it is about, which kind of record tells it, and
// its origin.
func keyOf(r amber.SyncRecord) [16]byte {
	m := r.Mark()
	ref, id, o := m.Ref, m.Ref.ID, m.Origin
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%q\n%t%t\n%d %d %q", ref.Scope, id, r.Erased != nil, r.Gone != nil, o.Counter, uint64(o.Clock), o.Device))
	return [16]byte(sum[:16])
}

// inFolder returns the versions in the chunks of the folder. Chunks that
// cannot be read hold none: what they may hold is written again.
func (s *Sync) inFolder(ctx context.Context) (known, error) {
	k := known{}
	err := s.eachPart(ctx, func(p chunk.Part, _ file) error {
		c, err := chunk.Decode(p.ID, p.Bytes)
		if err != nil {
			return err
		}
		for _, r := range c.Records {
			k.add(r)
		}
		return nil
	}, func(string, error) {})
	return k, err
}

// eachPart calls fn with every chunk in the folder, those of packs too; one that is in several files comes once. It
// reports a chunk that is wrong to bad, and goes on.
func (s *Sync) eachPart(ctx context.Context, fn func(p chunk.Part, from file) error, bad func(id string, err error)) error {
	files, err := s.list()
	if err != nil {
		return err
	}
	seen := map[chunk.ID]bool{}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		parts, err := s.parts(f)
		if err != nil {
			if !isVerdict(err) {
				return err
			}
			bad(f.label(), err)
			continue
		}
		for _, p := range parts {
			if seen[p.ID] {
				continue
			}
			seen[p.ID] = true
			if err := fn(p, f); err != nil {
				if !isVerdict(err) {
					return err
				}
				bad(string(p.ID), err)
			}
		}
	}
	return nil
}

// label names a file in a report.
func (f file) label() string {
	if f.id != "" {
		return string(f.id)
	}
	return clip.Name(f.name)
}
