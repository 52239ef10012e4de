package colony

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
)

// found is a snapshot whose manifest was looked at.
type found struct {
	g *group // nil: there is none
	m manifest
	// err says why the snapshot cannot be restored, as far as the listing and the manifest show. It has the kind
	// damaged or too_new.
	err error
	// incomplete says that err is about a file that is not there.
	incomplete bool
}

// info describes the snapshot. The names of its files say its id and label.
func (f found) info(label string) Info {
	i := f.m.Info
	i.ID, i.Label = f.g.id, label
	if i.DocNames == nil {
		i.DocNames = []string{}
	}
	return i
}

// whole reports whether the snapshot is there and nothing is missing.
func (f found) whole() bool { return f.g != nil && f.err == nil }

// examine reads the manifest of a snapshot and looks whether its parts are
// listed. g may be nil. The error is about asking.
func (v *Vault) examine(ctx context.Context, id SnapshotID, g *group) (found, error) {
	absent := func(what string) (found, error) {
		return found{g: g, err: damaged(string(id), "%s is missing", what), incomplete: true}, nil
	}
	if g == nil || g.manifest == nil {
		return absent("the manifest")
	}
	file, err := v.b.Get(ctx, g.manifest.Name)
	if isKind(err, amber.KindNotFound) {
		return absent("the manifest")
	} else if err != nil && !isKind(err, amber.KindDamaged) {
		return found{}, err
	}
	var m manifest
	if err == nil {
		m, err = parseManifest(file.Content)
	}
	if err != nil {
		return found{g: g, err: &amber.Error{Op: "read snapshot", Kind: amber.KindOf(err), ID: string(id), Err: err}}, nil
	}
	f := found{g: g, m: m}
	f.incomplete, f.err = v.judgeParts(f)
	return f, nil
}

// judgeParts says what the listing has against the parts that a manifest names,
// and whether it is that one is not there.
func (v *Vault) judgeParts(f found) (incomplete bool, err error) {
	id := string(f.g.id)
	if len(f.m.PartFiles) == 0 {
		return false, damaged(id, "the manifest names no parts")
	}
	for _, name := range f.m.PartFiles {
		n, ok := parseName(name)
		if !ok || n.Label != v.label || n.ID != f.g.id || n.Kind != partFile {
			return false, damaged(id, "part_files names %s, which is not a part of this snapshot", quote(name))
		}
		if !f.g.holds(name) && !incomplete {
			incomplete, err = true, damaged(id, "%s is missing", name)
		}
	}
	if err == nil && !v.o.Tolerant {
		err = f.short()
	}
	return incomplete, err
}

// short returns an error when the parts are listed and have fewer characters than
// the manifest says.
func (f found) short() error {
	if size := f.size(); size >= 0 && size < f.m.Info.BlobChars {
		return damaged(string(f.g.id), "the parts have %d bytes, want %d", size, f.m.Info.BlobChars)
	}
	return nil
}

// size returns how many bytes the parts have that the manifest names; -1 when
// that is not known of each.
func (f found) size() (n int64) {
	for _, name := range f.m.PartFiles {
		p, _ := parseName(name)
		if f.g.unlisted || f.g.parts[p.Seq].Size < 0 {
			return -1
		}
		n += f.g.parts[p.Seq].Size
	}
	return n
}

// unreadable says of a snapshot that is not whole that it is newer than another.
func (f found) unreadable() string {
	return fmt.Sprintf("the newer snapshot %s cannot be read (%v)", f.g.id, f.err)
}
