package colony

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
)

// mostBegun bounds how many uploads that were not finished are looked at.
const mostBegun = 4

// resume finds an upload of the same documents that was begun and not finished,
// and returns its files and what is there of it; nil when there is none.
// Encryption makes other bytes each time: such an upload is not found.
func (b *backup) resume(ctx context.Context) (Packed, *group, error) {
	if len(b.v.o.Recipients) > 0 {
		return Packed{}, nil, nil
	}
	looked := 0
	for _, id := range b.view.ids {
		g := b.view.groups[id]
		if id <= b.after() || g.manifest != nil || looked == mostBegun {
			break
		}
		// The backup can finish the upload in the other half of the grace time. No part may be older than that: another
		// client that has not seen the newer parts may be removing it.
		if half := b.v.o.Grace / 2; b.v.idle(g) > half || b.v.now().Sub(g.oldestTime()) > half {
			continue
		}
		looked++
		p, err := b.pack(ctx, id)
		if err != nil {
			return Packed{}, nil, err
		}
		same, err := b.begun(ctx, g, p)
		if err != nil || same {
			return p, g, err
		}
	}
	return Packed{}, nil, nil
}

// after returns the last snapshot that a new one must be later than.
func (b *backup) after() SnapshotID {
	last := b.seen.ID
	if b.view.head.g != nil {
		last = max(last, b.view.head.g.id)
	}
	if b.view.good() {
		last = max(last, b.view.named)
	}
	return last
}

// pinned reports whether the parts that are there prove which documents they are of: compressed data ends in a checksum
// of all of it, and the last part is uploaded first. So no backup resumes the upload of another client that only begins
// in the same way.
func (b *backup) pinned(g *group, p Packed) bool {
	const checksum = 12 // characters of 8 bytes
	size := cmp.Or(int64(b.v.partChars), PartChars)
	for seq := range p.Parts {
		if _, there := g.parts[seq]; !there && int64(seq+1)*size > p.Info.BlobChars-checksum {
			return false
		}
	}
	return true
}

// begun reports whether every part that is there is one of the snapshot.
func (b *backup) begun(ctx context.Context, g *group, p Packed) (bool, error) {
	if !b.pinned(g, p) {
		return false, nil
	}
	for seq, f := range g.parts {
		if seq >= len(p.Parts) || f.Size >= 0 && f.Size != int64(len(p.Parts[seq].Content)) {
			return false, nil
		}
	}
	for _, seq := range g.seqs() {
		file, err := b.v.b.Get(ctx, g.parts[seq].Name)
		if isKind(err, amber.KindNotFound) || isKind(err, amber.KindDamaged) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if file.Content != p.Parts[seq].Content {
			return false, nil
		}
	}
	return true, nil
}
