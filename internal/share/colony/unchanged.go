package colony

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// find returns a snapshot that holds the documents as this vault would write
// them: the newest, or a later one that the pointer has not come to name.
func (b *backup) find(ctx context.Context) (found, error) {
	if b.o.Force {
		return found{}, nil
	}
	w := b.view
	// The snapshots that were passed over are newer than the head. The backup must not make the pointer name the older
	// head.
	if len(w.passed) == 0 {
		if same, err := b.holds(ctx, w.head); err != nil || same {
			b.report.Unchanged = same
			return w.head, err
		}
	}
	for _, id := range w.ids {
		if w.head.g != nil && id <= w.head.g.id {
			break
		}
		f, err := b.v.examine(ctx, id, w.groups[id])
		if err != nil {
			return found{}, err
		}
		same, err := b.holds(ctx, f)
		if err != nil || same {
			b.report.Resumed = same
			return f, err
		}
		if f.whole() {
			break // what is older than it would not be the newest
		}
	}
	return found{}, nil
}

// holds reports whether a snapshot is complete and is what a new one would be. A snapshot that is older than the one
// this home has seen does not count: it would not be restored here.
func (b *backup) holds(ctx context.Context, f found) (bool, error) {
	if !f.whole() || f.short() != nil || f.g.id < b.seen.ID || slices.Contains(b.given, f.g.id) || !b.alike(f.m.Info, f.g.id) {
		return false, nil
	}
	o := readOptions{Label: b.v.label, ID: f.g.id, Trust: b.v.o.Trust, MaxBytes: b.v.o.MaxBytes}
	_, err := f.m.Check(ctx, o)
	if err != nil && !told(err) {
		return false, err
	}
	return err == nil, nil
}

// alike compares what the manifest tells. The digest of an encrypted snapshot is
// salted: what was seen from here must tell, and also for whom it is.
func (b *backup) alike(i Info, id SnapshotID) bool {
	signed := b.v.o.Signer != nil
	if i.Signed != signed || signed && i.Issuer != b.v.o.Signer.KeyID() {
		return false
	}
	if len(b.v.o.Recipients) == 0 {
		return !i.Encrypted && i.PlaintextSHA256 == b.digest
	}
	readers := b.v.readers()
	return i.Encrypted && b.seen.ID == id && b.seen.Documents == b.digest && readers != "" && b.seen.Recipients == readers
}

// readers returns a digest of the recipients that this vault encrypts to. It returns "" when nothing is encrypted, or
// when one recipient does not say who it is.
func (v *Vault) readers() string {
	var all []string
	for _, r := range v.o.Recipients {
		named, ok := r.(fmt.Stringer)
		if !ok {
			return ""
		}
		all = append(all, named.String())
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return "sha256:" + amber.ContentDigest(strings.Join(slices.Compact(all), "\n"))
}
