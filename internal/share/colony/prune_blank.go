package colony

import (
	"context"

	"github.com/amber-memory/amber"
)

// newestFilled returns the newest snapshot that can be restored and has text in
// it.
func (v *Vault) newestFilled(ctx context.Context, w view) (SnapshotID, error) {
	for _, id := range w.ids {
		f, ok, err := v.sound(ctx, id, w.groups[id])
		if err != nil {
			return "", err
		}
		if !ok {
			continue
		}
		blank, readable, err := v.blank(ctx, f)
		if err != nil || readable && !blank {
			return id, err
		}
	}
	return "", nil
}

// blank reports whether the documents of a snapshot have no text but white space. It reads them where that is possible;
// they may turn out not to be readable. It assumes that an encrypted snapshot has text.
func (v *Vault) blank(ctx context.Context, f found) (blank, readable bool, err error) {
	const few = 1 << 10 // no agent writes so many spaces
	if !f.whole() || f.m.Info.Encrypted || f.m.textBytes() > few {
		return false, f.whole(), nil
	}
	if f.m.blank() {
		return true, true, nil
	}
	r, gone, err := v.read(ctx, f)
	if gone || told(err) && !isKind(err, amber.KindQuota) { // it is too small to be too big
		return false, false, nil
	}
	return err == nil && r.Documents.blank(), err == nil, err
}

// blank reports whether the documents that a manifest declares are empty.
func (m manifest) blank() bool { return !m.Info.Encrypted && m.textBytes() <= 0 }

// textBytes returns how many bytes the texts have, by what the manifest declares.
func (m manifest) textBytes() int64 {
	none := Documents{}
	for _, name := range m.Info.DocNames {
		none[name] = ""
	}
	return m.Info.ByteSize - int64(len(none.canonical()))
}
