package colony

import (
	"fmt"

	"github.com/amber-memory/amber"
)

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
