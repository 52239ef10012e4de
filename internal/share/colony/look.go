package colony

import (
	"context"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
)

// view is a label as it was found.
type view struct {
	inventory
	named SnapshotID // by the pointer; "" when it cannot be read
	bad   string     // why the pointer is of no use; "" when it is good
	notes []string   // what a strict reader would have against the pointer
	// head is what the pointer names; when it is bad, the newest snapshot that
	// is complete, if there is one. passed are those with a manifest that are
	// newer then.
	head   found
	passed []found
	// unlisted says why the inventory is empty although the label is not.
	unlisted error
}

// good reports whether the pointer names a snapshot that is all there.
func (w view) good() bool { return w.bad == "" }

// fallback says why the head is not what the pointer names, and what newer ones
// are passed over; "" when it is.
func (w view) fallback() string {
	all := []string{w.bad}
	for _, f := range w.passed {
		all = append(all, f.unreadable())
	}
	return strings.Join(all, "; ")
}

// look finds the newest snapshot. If the view looks bad, look takes another view, since another writer may have changed
// the vault between two requests.
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
		w.bad = fmt.Sprintf("the pointer names a snapshot that is incomplete (%v)", f.err)
	}
	var err error
	w.head, w.passed, err = v.search(ctx, in, func(SnapshotID) bool { return true })
	return w, err
}

// readPointer says what the pointer names, or why it is bad. A pointer of a newer
// format is an error.
func (v *Vault) readPointer(ctx context.Context, w *view) error {
	if w.pointer == nil {
		w.bad = "the label has no pointer"
		return nil
	}
	file, err := v.b.Get(ctx, w.pointer.Name)
	if isKind(err, amber.KindNotFound) {
		w.bad = "the label has no pointer"
		return nil
	} else if err != nil && !isKind(err, amber.KindDamaged) {
		return err
	}
	var p pointer
	if err == nil {
		p, err = parsePointer(file.Content)
	}
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
	f, _, err := v.search(ctx, in, may)
	return f, err
}

// search is newest. It also returns those that have a manifest, are newer and
// cannot be restored.
func (v *Vault) search(ctx context.Context, in inventory, may func(SnapshotID) bool) (found, []found, error) {
	var passed []found
	for _, id := range in.ids {
		if in.groups[id].manifest == nil || !may(id) {
			continue
		}
		f, err := v.examine(ctx, id, in.groups[id])
		if err != nil || f.whole() {
			return f, passed, err
		}
		passed = append(passed, f)
	}
	return found{}, passed, nil
}

// nothing is the error for a label of which something is there, and no snapshot.
func (w view) nothing() error {
	return amber.Errorf(amber.KindDamaged, "read snapshot", "", "the label has files, but no complete snapshot (%s)", w.fallback())
}
