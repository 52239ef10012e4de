package repo

import (
	"maps"
	"slices"

	"github.com/amber-memory/amber"
)

// Avoid makes blobs that lie only in these packs count as not there, so that
// they are stored again in others: packs that are about to be deleted. Blobs
// put before are not looked at again. The map is copied.
func (w *Writer) Avoid(packs map[ID]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.avoid == nil {
		w.avoid = map[ID]bool{}
	}
	maps.Copy(w.avoid, packs)
}

func (w *Writer) avoids(pack ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.avoid[pack]
}

// Written returns the packs that the writer has made durable, in the order in
// which it did. Some may have been there before, byte for byte.
func (w *Writer) Written() []ID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]ID(nil), w.stored...)
}

// distrust makes blobs count as not there that are there and damaged.
func (w *Writer) distrust(ids ...ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost == nil {
		w.lost = map[ID]bool{}
	}
	for _, id := range ids {
		w.lost[id] = true
	}
}

// holds reports whether a blob needs not be stored. The caller holds mu.
func (w *Writer) holds(id ID) bool {
	if _, seen := w.seen[id]; seen {
		return true
	}
	return !w.lost[id] && w.repo.hasOutside(id, w.avoid)
}

// holdsAll reports whether all of the blobs are stored, or on their way.
func (w *Writer) holdsAll(ids []ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !slices.ContainsFunc(ids, func(id ID) bool { return !w.holds(id) })
}

// otherKey reports whether one of these is not the key that the writer seals
// with. Nothing is shared between keys.
func (w *Writer) otherKey(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return name != w.codec.name })
}

// onlySealed fails in an encrypted repository when one of the blobs is there and not encrypted: the caller has kept its
// id from before the encryption. onlySealed cannot see whether another key was used. The error is of kind invalid.
func (w *Writer) onlySealed(op string, ids []ID) error {
	if w.codec.name == "" {
		return nil
	}
	for _, id := range ids {
		places := w.repo.places(id)
		if len(places) > 0 && !slices.ContainsFunc(places, func(p place) bool { return p.sealed }) {
			return amber.Errorf(amber.KindInvalid, op, id.String(), "the blob was stored before the repository was encrypted")
		}
	}
	return nil
}
