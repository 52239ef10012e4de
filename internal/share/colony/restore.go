package colony

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
)

// Restore reads a snapshot; "" is the newest: what the pointer names, or when it
// is bad the newest that is complete, which the result says, as well as what
// newer ones there are that cannot be read. Documents that the pointer names and
// that are not what they were are never replaced by older ones: the error names
// those.
//
// Errors: not_found when the label, or the snapshot that was asked for, is not
// there; damaged, also when files are there and no snapshot; untrusted, also when
// what is the newest is older than one that was seen; conflict when the newest
// was made with another label that has the same names; too_new, unsupported; quota
// when it has more than may be read; refused when no identity opens it.
func (v *Vault) Restore(ctx context.Context, id SnapshotID) (Restored, error) {
	r, err := v.restore(ctx, id)
	return r, v.wrap("restore", err)
}

func (v *Vault) restore(ctx context.Context, id SnapshotID) (Restored, error) {
	seen, err := v.seen(ctx)
	if err != nil {
		return Restored{}, err
	}
	for again := false; ; again = true {
		w, f, err := v.choose(ctx, id, seen)
		if err != nil {
			return Restored{}, err
		}
		r, gone, err := v.read(ctx, f)
		if gone && !again {
			continue // another client may just have removed it
		}
		if err != nil {
			return Restored{}, v.alternative(ctx, w, f, err)
		}
		return v.judge(ctx, w, r, id != "", seen)
	}
}

// choose finds the snapshot to be read. A vault that cannot be listed because one
// of its files is damaged, perhaps none of this label, is asked for those that
// are needed.
func (v *Vault) choose(ctx context.Context, id SnapshotID, seen Sighting) (view, found, error) {
	if id != "" {
		return v.named(ctx, id)
	}
	w, err := v.look(ctx)
	switch {
	case isKind(err, amber.KindDamaged):
		return v.direct(ctx, "", err)
	case err != nil:
	case w.empty():
		err = v.absent(seen)
	case w.head.g == nil:
		err = w.nothing()
	case w.head.err != nil:
		err = v.alternative(ctx, w, w.head, w.head.err)
	}
	return w, w.head, err
}

// named finds the snapshot that was asked for. The pointer does not matter.
func (v *Vault) named(ctx context.Context, id SnapshotID) (view, found, error) {
	if _, err := ParseSnapshotID(string(id)); err != nil {
		return view{}, found{}, err
	}
	in, err := v.list(ctx)
	if isKind(err, amber.KindDamaged) {
		return v.direct(ctx, id, err)
	} else if err != nil {
		return view{}, found{}, err
	}
	w := view{inventory: in, named: id}
	if in.groups[id] == nil {
		return w, found{}, amber.Errorf(amber.KindNotFound, "find snapshot", string(id), "the label has no snapshot of this id")
	}
	f, err := v.examine(ctx, id, in.groups[id])
	if err == nil {
		err = f.err
	}
	return w, f, err
}

// read fetches the parts and unpacks them. Before it fetches anything it checks the manifest for contradictions. gone
// says that a listed file is not there.
func (v *Vault) read(ctx context.Context, f found) (r Restored, gone bool, err error) {
	o := v.reading(f.g.id)
	if _, err := f.m.Check(ctx, o); err != nil {
		return r, false, err
	}
	parts, gone, err := v.fetch(ctx, f)
	if err != nil {
		return r, gone, err
	}
	docs, checks, err := unpack(ctx, f.m, parts, o)
	return Restored{Info: f.info(v.label), Documents: docs, Checks: checks}, false, err
}

// judge says what the reader should know, and refuses what is older than what
// was seen, unless it was asked for by name.
func (v *Vault) judge(ctx context.Context, w view, r Restored, named bool, seen Sighting) (Restored, error) {
	documents, _ := r.Documents.Digest() // "" for none, which a tolerant reader takes
	if why := rolledBack(r.Info, documents, seen); why != "" {
		if !named {
			return Restored{}, putBack(r.ID, why)
		}
		r.Warnings = append(r.Warnings, why)
	}
	if r.LabelRaw != "" && strings.TrimSpace(r.LabelRaw) != v.raw {
		if !named {
			return Restored{}, v.foreign(r.LabelRaw, "amber vault restore --label NAME")
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("the snapshot was made with the label %s", quote(r.LabelRaw)))
	}
	if w.unlisted != nil {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the vault could not be listed, so newer snapshots are not known (%v)", w.unlisted))
	}
	if !named {
		r.Fallback = w.fallback()
		r.Warnings = append(r.Warnings, v.unnamed(ctx, w)...)
		if w.good() && len(w.notes) > 0 {
			r.Checks.Declared = false
			r.Checks.Relaxed = append(r.Checks.Relaxed, w.notes...)
		}
	}
	s := Sighting{ID: r.ID, Counter: r.Counter, Documents: documents}
	if warning := v.see(ctx, s); warning != "" {
		r.Warnings = append(r.Warnings, warning)
	}
	return r, nil
}

// unnamed warns of snapshots that are newer than what the pointer names: the process that
// made them has not come to move it.
func (v *Vault) unnamed(ctx context.Context, w view) []string {
	if !w.good() {
		return nil
	}
	f, passed, err := v.search(ctx, w.inventory, func(id SnapshotID) bool { return id > w.named })
	if err != nil {
		return nil
	}
	var all []string
	for _, p := range passed {
		all = append(all, p.unreadable())
	}
	if f.g != nil {
		all = append(all, fmt.Sprintf("the pointer does not name the newer snapshot %s", f.g.id))
	}
	return all
}

// alternative adds to an error about what is damaged which other snapshot there
// is.
func (v *Vault) alternative(ctx context.Context, w view, f found, err error) error {
	if !isKind(err, amber.KindDamaged) || amber.HintOf(err) != "" || f.g == nil {
		return err
	}
	other, asked := v.newest(ctx, w.inventory, func(id SnapshotID) bool { return id != f.g.id })
	if asked != nil || other.g == nil {
		return err
	}
	return &amber.Error{Op: "read snapshot", Kind: amber.KindOf(err), ID: string(f.g.id), Err: err, Hint: restoreHint(other.g.id)}
}

// putBack is the error for what is the newest and older than what was seen.
func putBack(id SnapshotID, why string) error {
	return &amber.Error{Op: "read snapshot", Kind: amber.KindUntrusted, ID: string(id), Err: errors.New(why), Hint: restoreHint(id)}
}

func restoreHint(id SnapshotID) string { return "amber vault restore --snapshot " + string(id) }
