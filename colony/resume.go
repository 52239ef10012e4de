package colony

import (
	"context"
	"fmt"

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
		if b.view.head.g != nil && id <= b.view.head.g.id || b.view.good() && id <= b.view.named || looked == mostBegun {
			break
		}
		// In the other half of the grace time it can be finished.
		if g.manifest != nil || b.v.now().Sub(g.newestTime()) > b.v.o.Grace/2 {
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

// begun reports whether every part that is there is one of the snapshot.
func (b *backup) begun(ctx context.Context, g *group, p Packed) (bool, error) {
	for seq, f := range g.parts {
		if seq >= len(p.Parts) || f.Size >= 0 && f.Size != int64(len(p.Parts[seq].Content)) {
			return false, nil
		}
	}
	for _, seq := range g.seqs() {
		file, err := b.v.b.Get(ctx, g.parts[seq].Name)
		if isKind(err, amber.KindNotFound) {
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

// plan refuses what does not fit into the vault before anything is written.
func (b *backup) plan(p Packed, missing []NamedText) error {
	quota := func(why, hint string) error {
		return &amber.Error{Op: "plan upload", Kind: amber.KindQuota, Err: fmt.Errorf("%s", why), Hint: hint}
	}
	files := append([]NamedText{p.Manifest, Latest(b.v.label, p.Info.ID, b.v.now())}, missing...)
	var total int64
	for _, f := range files {
		if len(f.Content) > MaxFileBytes {
			return quota(fmt.Sprintf("%s has %d bytes, and a file at most %d", f.Name, len(f.Content), MaxFileBytes), "")
		}
		total += int64(len(f.Content))
	}
	if old := b.view.pointer; old != nil && old.Size > 0 {
		total -= old.Size // it is replaced
	}
	if room := b.room(); total > room {
		return quota(fmt.Sprintf("it takes %d bytes, and the vault has room for %d", total, room), "amber vault prune --keep 1")
	}
	if most := b.v.o.Operations; most > 0 && len(files) > most {
		return quota(fmt.Sprintf("it takes %d operations, and there are %d in an hour", len(files), most), "")
	}
	return nil
}

// room is how many bytes the vault takes. One that nobody wrote to may not know
// its quota yet.
func (b *backup) room() int64 {
	if b.status.QuotaBytes > 0 {
		return b.status.AvailableBytes
	}
	return DefaultQuota - b.status.UsedBytes
}
