package colony

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
)

// found is a snapshot whose manifest was looked at.
type found struct {
	g *group // nil: there is none
	m Manifest
	// err says why it cannot be restored, as far as the listing and the
	// manifest tell. Of kind damaged or too_new.
	err error
	// incomplete says that err is about a file that is not there.
	incomplete bool
}

// info describes the snapshot. The names of its files say its id and label.
func (f found) info(label string) Info {
	i := f.m.Info
	i.ID, i.Label = f.g.id, label
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
		return absent("its manifest")
	}
	file, err := v.b.Get(ctx, g.manifest.Name)
	if isKind(err, amber.KindNotFound) {
		return absent("its manifest")
	} else if err != nil {
		return found{}, err
	}
	m, err := ParseManifest(file.Content)
	if err != nil {
		return found{g: g, err: &amber.Error{Op: "read snapshot", Kind: amber.KindOf(err), ID: string(id), Err: err}}, nil
	}
	f := found{g: g, m: m}
	for _, name := range m.PartFiles {
		n, ok := ParseName(name)
		if !ok || n.Label != v.label || n.ID != id || n.Kind != PartFile {
			f.err, f.incomplete = damaged(string(id), "the part_files name %s, which is no part of it", quote(name)), false
			return f, nil
		}
		if f.err == nil && !g.holds(name) {
			f.err, f.incomplete = damaged(string(id), "%s is missing", name), true
		}
	}
	return f, nil
}

// view is a label as it was found.
type view struct {
	inventory
	named SnapshotID // by the pointer; "" when it cannot be read
	bad   string     // why the pointer is of no use; "" when it is good
	notes []string   // what a strict reader would have against the pointer
	// head is what the pointer names; when it is bad, the newest snapshot that
	// is complete, if there is one.
	head found
}

// good reports whether the pointer names a snapshot that is all there.
func (w view) good() bool { return w.bad == "" }

// look finds the newest snapshot. What looks bad is looked at again: it may be
// that somebody was at work between two requests.
func (v *Vault) look(ctx context.Context) (view, error) {
	const most = 4
	var last view
	for try := range most {
		in, err := v.list(ctx)
		if err != nil {
			return view{}, err
		}
		w, err := v.resolve(ctx, in)
		if err != nil || in.empty() || w.good() {
			return w, err
		}
		if try > 0 && in.same(last.inventory) {
			return w, nil
		}
		last = w
	}
	return last, nil
}

func (v *Vault) resolve(ctx context.Context, in inventory) (view, error) {
	w := view{inventory: in}
	if in.empty() {
		return w, nil
	}
	if err := v.readPointer(ctx, &w); err != nil {
		return w, err
	}
	if w.good() {
		f, err := v.examine(ctx, w.named, in.groups[w.named])
		if err != nil {
			return w, err
		}
		if !f.incomplete {
			w.head = f
			return w, nil
		}
		w.bad = fmt.Sprintf("the pointer names a snapshot that is not all there (%v)", f.err)
	}
	f, err := v.newest(ctx, in, func(SnapshotID) bool { return true })
	w.head = f
	return w, err
}

// readPointer says what the pointer names, or why it is bad. A pointer of a newer
// format is an error.
func (v *Vault) readPointer(ctx context.Context, w *view) error {
	if w.pointer == nil {
		w.bad = "there is no pointer"
		return nil
	}
	file, err := v.b.Get(ctx, w.pointer.Name)
	if isKind(err, amber.KindNotFound) {
		w.bad = "there is no pointer"
		return nil
	} else if err != nil {
		return err
	}
	p, err := ParsePointer(file.Content)
	switch {
	case isKind(err, amber.KindTooNew):
		return err
	case err != nil:
		w.bad = fmt.Sprintf("the pointer cannot be read (%v)", err)
		return nil
	}
	w.named, w.notes = p.ID, p.Objections(v.label)
	if len(w.notes) > 0 && !v.o.Tolerant {
		w.bad = w.notes[0]
	}
	return nil
}

// newest returns the newest complete snapshot among those that may be it.
func (v *Vault) newest(ctx context.Context, in inventory, may func(SnapshotID) bool) (found, error) {
	for _, id := range in.ids {
		if in.groups[id].manifest == nil || !may(id) {
			continue
		}
		f, err := v.examine(ctx, id, in.groups[id])
		if err != nil || f.whole() {
			return f, err
		}
	}
	return found{}, nil
}

// nothing is the error for a label of which something is there, and no snapshot.
func (w view) nothing() error {
	return amber.Errorf(amber.KindDamaged, "read snapshot", "", fmt.Sprintf("files are there, and no snapshot that is complete (%s)", w.bad))
}
