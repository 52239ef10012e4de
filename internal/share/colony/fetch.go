package colony

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
)

// fetch reads the parts of a snapshot, and never more than its documents could
// need. gone says that a file that was listed is not there.
func (v *Vault) fetch(ctx context.Context, f found) (parts []string, gone bool, err error) {
	id, most := string(f.g.id), maxBlob(v.o.MaxBytes)
	if f.size() > most {
		return nil, false, tooBig(id, maxBytes(v.o.MaxBytes))
	}
	parts = make([]string, len(f.m.PartFiles))
	for i, name := range f.m.PartFiles {
		v.o.Progress(Progress{Step: "part", Name: name, Done: i, Total: len(parts)})
		file, err := v.b.Get(ctx, name)
		if isKind(err, amber.KindNotFound) {
			return nil, true, damaged(id, "%s is missing", name)
		} else if err != nil {
			return nil, false, err
		}
		if most -= int64(len(file.Content)); most < 0 {
			return nil, false, tooBig(id, maxBytes(v.o.MaxBytes))
		}
		parts[i] = file.Content
	}
	return parts, false, nil
}

// proven reads a snapshot and returns nil when the snapshot can be restored, so that the label does not need older
// ones. If the snapshot is encrypted and cannot be opened here, proven compares each part with its digest in the
// manifest. The error has the kind damaged when the snapshot is not what was uploaded, conflict when another writer has
// just removed it, and otherwise says why the vault could not be asked.
func (v *Vault) proven(ctx context.Context, f found) error {
	if !f.whole() {
		return damaged("", "the label has no complete snapshot")
	}
	o := v.reading(f.g.id)
	if _, err := f.m.Check(ctx, o); err != nil {
		return err
	}
	parts, gone, err := v.fetch(ctx, f)
	if gone {
		return v.vanished(ctx, f, err)
	} else if err != nil {
		return err
	}
	_, _, err = unpack(ctx, f.m, parts, o)
	if f.m.Info.Encrypted && isKind(err, amber.KindRefused) {
		return f.m.intact(f.g.id, parts)
	}
	return err
}

// errVanished is returned when others have removed a snapshot while it was read.
var errVanished = errors.New("another writer has just removed the snapshot")

// vanished returns the error for a snapshot of which a part is not there: others
// may have removed all of it.
func (v *Vault) vanished(ctx context.Context, f found, lost error) error {
	in, err := v.list(ctx)
	if err != nil {
		return err
	}
	if g := in.groups[f.g.id]; g == nil || g.manifest == nil {
		return &amber.Error{Op: "read snapshot", Kind: amber.KindConflict, ID: string(f.g.id), Err: errVanished}
	}
	return lost
}

// intact compares the parts with what the manifest says of each.
func (m manifest) intact(id SnapshotID, parts []string) error {
	if len(m.PartSHA256) != len(parts) {
		return damaged(string(id), "the manifest has no digests of the parts, and no identity opens them")
	}
	for i, content := range parts {
		v, err := decodeJSON([]byte(content))
		if err != nil {
			return damaged(m.PartFiles[i], "%w", err)
		}
		b64, _ := v.member("b64")
		chunk, _ := b64.str()
		if amber.ContentDigest(chunk) != m.PartSHA256[i] {
			return damaged(m.PartFiles[i], "the part is not what was uploaded")
		}
	}
	return nil
}

// direct finds a snapshot when the listing has failed: by its manifest, and by the pointer when the caller asks for no
// id. A file that is not there is damaged then, since without a listing the client cannot know whether it ever existed.
func (v *Vault) direct(ctx context.Context, id SnapshotID, listing error) (view, found, error) {
	w := view{named: id, unlisted: listing}
	if id == "" {
		w.pointer = &FileInfo{Name: LatestName(v.label), Size: -1}
		if err := v.readPointer(ctx, &w); err != nil {
			return w, found{}, err
		}
		if !w.good() {
			return w, found{}, damaged("", "%s, and the vault cannot be listed (%w)", w.bad, listing)
		}
	}
	w.pointer = nil
	g := &group{id: w.named, unlisted: true, manifest: &FileInfo{Name: ManifestName(v.label, w.named), Size: -1}}
	f, err := v.examine(ctx, w.named, g)
	if err == nil {
		err = f.err
	}
	return w, f, err
}
