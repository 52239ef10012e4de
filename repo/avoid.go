package repo

import "maps"

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
	for _, id := range ids {
		if !w.holds(id) {
			return false
		}
	}
	return true
}
