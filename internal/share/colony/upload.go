package colony

import (
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
)

// upload writes a new snapshot, all but the pointer, or goes on with one that was
// begun.
func (b *backup) upload(ctx context.Context) error {
	p, begun, err := b.resume(ctx)
	if err != nil {
		return err
	}
	if begun == nil {
		if p, err = b.fresh(ctx); err != nil {
			return err
		}
		begun = &group{}
	}
	b.report.Resumed = len(begun.parts) > 0
	var missing []NamedText
	for seq, part := range slices.Backward(p.Parts) { // as pinned wants it
		if _, there := begun.parts[seq]; !there {
			missing = append(missing, part)
		}
	}
	if err := b.plan(p, missing); err != nil {
		return err
	}
	b.announce(ctx, p.Info.ID)
	total := len(missing) + 2
	for i, part := range missing {
		b.v.o.Progress(Progress{Step: "part", Name: part.Name, Done: i, Total: total})
		if err := b.create(ctx, p.Info.ID, part); err != nil {
			return err
		}
	}
	b.v.o.Progress(Progress{Step: "manifest", Name: p.Manifest.Name, Done: len(missing), Total: total})
	return b.seal(ctx, p)
}

// fresh packs the documents under a new id, which is later than every other of
// the label, also where the clock is behind.
func (b *backup) fresh(ctx context.Context) (Packed, error) {
	last := max(b.after(), b.made)
	if len(b.view.ids) > 0 {
		last = max(last, b.view.ids[0])
	}
	id, err := NextSnapshotID(b.v.now(), last, b.v.o.Random)
	if isKind(err, amber.KindDamaged) {
		return Packed{}, &amber.Error{Op: "make snapshot id", Kind: amber.KindDamaged, ID: string(last), Err: err, Hint: "amber vault delete " + string(last)}
	} else if err != nil {
		return Packed{}, err
	}
	b.made = id
	return b.pack(ctx, id)
}

// pack makes the files of the snapshot under an id.
func (b *backup) pack(ctx context.Context, id SnapshotID) (Packed, error) {
	v := b.v
	d := Draft{
		ID: id, Label: v.label, LabelRaw: v.raw, CreatedAt: v.now(), Documents: b.docs, Counter: counted(b.seen.Counter),
		Signer: v.o.Signer, Recipients: v.o.Recipients, Random: v.o.Random, PartChars: v.partChars, MaxBytes: v.o.MaxBytes,
	}
	if head := b.view.head; head.g != nil {
		d.Parent = head.g.id
		d.Counter = max(d.Counter, counted(head.m.Info.Counter))
	}
	d.Counter = min(d.Counter+1, maxCounter)
	return Pack(ctx, d)
}

// create writes a part where there is none. That the same text is there is as
// good.
func (b *backup) create(ctx context.Context, id SnapshotID, file NamedText) error {
	if err := b.v.create(ctx, file); err != nil {
		if !isKind(err, amber.KindConflict) {
			return err
		}
		there, gerr := b.v.b.Get(ctx, file.Name)
		if isKind(gerr, amber.KindNotFound) || isKind(gerr, amber.KindDamaged) {
			return overtaken(id)
		} else if gerr != nil {
			return gerr
		}
		if there.Content != file.Content {
			return overtaken(id)
		}
		return nil
	}
	b.report.Uploaded = append(b.report.Uploaded, file.Name)
	return nil
}

// create puts a file, if the vault knows how only where there is none. Errors
// also: conflict.
func (v *Vault) create(ctx context.Context, file NamedText) (err error) {
	if v.c != nil {
		_, err = v.c.PutIf(ctx, file.Name, file.Content, Condition{Absent: true})
	} else {
		_, err = v.b.Put(ctx, file.Name, file.Content)
	}
	return err
}

// seal looks whether every part is there and writes the manifest: from then on
// the snapshot is one.
func (b *backup) seal(ctx context.Context, p Packed) error {
	in, err := b.v.list(ctx)
	if err != nil {
		return err
	}
	g := in.groups[p.Info.ID]
	if b.late() {
		return overtaken(p.Info.ID)
	}
	missing := func(part NamedText) bool { return g == nil || !g.holds(part.Name) }
	if slices.ContainsFunc(p.Parts, missing) && (in.later(p.Info.ID) || !b.missed) {
		// Another writer has finished the snapshot, and removed it since. Where no later snapshot exists, it may also
		// be that the vault keeps nothing.
		b.missed = true
		return overtaken(p.Info.ID)
	}
	b.sealed = p.Info.ID
	for seq, part := range p.Parts {
		if err := b.verify(ctx, g, seq, part); err != nil {
			return err
		}
	}
	b.report.Info = p.Info
	if g.manifest != nil {
		return b.accept(ctx, p)
	}
	err = b.v.create(ctx, p.Manifest)
	if isKind(err, amber.KindConflict) {
		return b.accept(ctx, p)
	}
	if err == nil {
		b.report.Uploaded = append(b.report.Uploaded, p.Manifest.Name)
	}
	return err
}

// late reports whether the upload took so long, as when the machine slept, that another client may take the parts for
// forgotten and be just removing them.
func (b *backup) late() bool { return b.v.now().Sub(b.began) > b.v.o.Grace/2 }

// verify checks that a part was kept. A vault that tells no size is asked for
// the part.
func (b *backup) verify(ctx context.Context, g *group, seq int, part NamedText) error {
	lost := func(why string) error {
		return amber.Errorf(amber.KindDamaged, "check upload", part.Name, "%s", why)
	}
	if g == nil || !g.holds(part.Name) {
		return lost("the part was uploaded, but the vault does not have it")
	}
	if size := g.parts[seq].Size; size >= 0 {
		if size != int64(len(part.Content)) {
			return lost(fmt.Sprintf("the part has %d bytes, want %d", size, len(part.Content)))
		}
		return nil
	}
	file, err := b.v.b.Get(ctx, part.Name)
	switch {
	case isKind(err, amber.KindNotFound):
		return lost("the part was uploaded, but the vault does not have it")
	case isKind(err, amber.KindDamaged) || err == nil && file.Content != part.Content:
		return lost("the part is not what was uploaded")
	case err != nil:
		return err
	}
	return nil
}

// accept takes the manifest that is there for that of the snapshot, if it declares the same documents and is signed by
// the same key: another writer has finished the snapshot.
func (b *backup) accept(ctx context.Context, p Packed) error {
	file, err := b.v.b.Get(ctx, p.Manifest.Name)
	if isKind(err, amber.KindNotFound) || isKind(err, amber.KindDamaged) {
		return overtaken(p.Info.ID)
	} else if err != nil {
		return err
	}
	m, err := parseManifest(file.Content)
	if err != nil || m.Info.PlaintextSHA256 != p.Info.PlaintextSHA256 ||
		m.Info.Signed != p.Info.Signed || m.Info.Issuer != p.Info.Issuer {
		return overtaken(p.Info.ID)
	}
	b.report.Info = m.Info
	return nil
}
