package colony

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// ListAll lists the snapshots of every label that the vault holds and of the
// vault's own label, newest first. The function returns the witness of a label.
// Labels that are damaged are left out, and bad says why.
func (v *Vault) ListAll(ctx context.Context, witness func(label string) Witness) (all []Listed, bad, err error) {
	labels, err := v.Labels(ctx)
	if err != nil {
		return nil, nil, err
	}
	if !slices.Contains(labels, v.label) {
		labels = append(labels, v.label) // something of it may have been seen before
	}
	for _, label := range labels {
		some, err := v.Of(label, witness(label)).List(ctx)
		switch amber.KindOf(err) {
		case "":
		case amber.KindDamaged, amber.KindUntrusted, amber.KindTooNew:
			bad = errors.Join(bad, err)
		default:
			return nil, nil, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(x, y Listed) int {
		return cmp.Or(strings.Compare(string(y.ID), string(x.ID)), strings.Compare(x.Label, y.Label))
	})
	return all, bad, nil
}

// A cursor is the snapshot that the page before ended with, a dot and its label.
// The snapshot may have been removed since.

// ValidCursor reports whether c is "" or a cursor that [PageOf] returned.
func ValidCursor(c amber.Cursor) bool {
	id, _, _ := strings.Cut(string(c), ".")
	_, err := ParseSnapshotID(id)
	return c == "" || err == nil
}

// PageOf cuts a page of at most n snapshots out of what [Vault.ListAll] returned.
// A cursor without a label stands behind every label.
func PageOf(all []Listed, n int, c amber.Cursor) amber.Page[Listed] {
	id, label, labelled := strings.Cut(string(c), ".")
	from := 0
	for ; from < len(all) && c != ""; from++ {
		l := all[from]
		if string(l.ID) < id || string(l.ID) == id && labelled && l.Label > label {
			break
		}
	}
	p := amber.Page[Listed]{Items: all[from:]}
	if len(p.Items) > n {
		p.Items = p.Items[:n]
		last := p.Items[n-1]
		p.Next = amber.Cursor(string(last.ID) + "." + last.Label)
	}
	return p
}
