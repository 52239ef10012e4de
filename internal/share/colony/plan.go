package colony

import (
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
)

// plan refuses what does not fit into the vault before anything is written.
func (b *backup) plan(p Packed, missing []NamedText) error {
	quota := func(why, hint string) error {
		return &amber.Error{Op: "plan upload", Kind: amber.KindQuota, Err: errors.New(why), Hint: hint}
	}
	files := append([]NamedText{p.Manifest, Latest(b.v.label, p.Info.ID, b.v.now())}, missing...)
	var total int64
	for _, f := range files {
		if len(f.Content) > MaxFileBytes {
			return quota(fmt.Sprintf("%s has %d bytes, want at most %d", f.Name, len(f.Content), MaxFileBytes), "")
		}
		total += int64(len(f.Content))
	}
	if old := b.view.pointer; old != nil && old.Size > 0 {
		total -= old.Size // it is replaced
	}
	if room := b.room(); total > room {
		why, hint := b.full(total-room, p.Info.ID)
		return quota(fmt.Sprintf("the snapshot needs %d bytes, and the vault has room for %d%s", total, room, why), hint)
	}
	if most := b.v.o.Operations; most > 0 && len(files) > most {
		return quota(fmt.Sprintf("the snapshot needs %d operations, and the vault allows %d in an hour", len(files), most), "")
	}
	return nil
}

// room is how many more bytes the vault takes. A vault that no client has written to may not know its quota yet; we
// assume DefaultQuota then.
func (b *backup) room() int64 {
	if b.status.QuotaBytes > 0 {
		return b.status.AvailableBytes
	}
	return DefaultQuota - b.status.UsedBytes
}

// full says what else is to know about a vault that lacks so many bytes, and what
// helps.
func (b *backup) full(lacks int64, id SnapshotID) (why, hint string) {
	if b.status.QuotaBytes <= 0 {
		return fmt.Sprintf(" (the vault reports no quota yet; %d bytes are assumed)", int64(DefaultQuota)),
			"put a small file into the vault first: then the vault reports its quota"
	}
	if begun, size := b.unfinished(id); size >= lacks {
		return fmt.Sprintf(" (unfinished uploads take %d)", size), "amber vault delete --snapshot " + string(begun)
	}
	return "", "amber vault prune --keep 1"
}

// unfinished returns how many bytes the parts of uploads have that were not
// finished, beside one, and which of them is the largest. Prune does not remove
// those yet.
func (b *backup) unfinished(but SnapshotID) (largest SnapshotID, total int64) {
	most := int64(-1)
	for _, id := range b.view.ids {
		g := b.view.groups[id]
		if g.manifest != nil || id == but || b.v.stale(g) {
			continue
		}
		var size int64
		for _, f := range g.parts {
			size += max(f.Size, 0)
		}
		if total += size; size > most {
			largest, most = id, size
		}
	}
	return largest, total
}
