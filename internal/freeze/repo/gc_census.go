package repo

import (
	"cmp"
	"maps"
	"slices"
)

// packUse says how much of a pack is needed.
type packUse struct {
	data int64 // stored bytes of its blobs
	live int64 // of them, those of blobs that are needed and whose home it is
	home []ID  // the blobs that are needed and whose home it is
}

// census looks at every blob the index knows. The home of a blob that is needed
// is one pack, whichever others hold it too: one that is not to be avoided, if
// there is any.
func (r *Repo) census(live map[ID]struct{}, avoid func(ID) bool) map[ID]*packUse {
	r.mu.RLock()
	defer r.mu.RUnlock()
	x := r.index
	uses := map[ID]*packUse{}
	for _, p := range x.packs {
		if !p.bad {
			uses[p.id] = &packUse{}
		}
	}
	blobs := x.base
	if len(x.recent) > 0 {
		blobs = slices.Concat(x.base, x.recent)
		slices.SortFunc(blobs, compareLocated)
	}
	for len(blobs) > 0 {
		n := len(equal(blobs, blobs[0].id))
		x.settle(blobs[:n], live, avoid, uses)
		blobs = blobs[n:]
	}
	return uses
}

// settle finds the home of one blob among its places.
func (x *index) settle(places []located, live map[ID]struct{}, avoid func(ID) bool, uses map[ID]*packUse) {
	var home *located
	for i := range places {
		p := &x.packs[places[i].pack]
		use, ok := uses[p.id]
		if !ok {
			continue
		}
		use.data += int64(places[i].stored)
		if home == nil || avoid(x.packs[home.pack].id) && !avoid(p.id) {
			home = &places[i]
		}
	}
	if _, needed := live[places[0].id]; !needed || home == nil {
		return
	}
	use := uses[x.packs[home.pack].id]
	use.live += int64(home.stored)
	use.home = append(use.home, home.id)
}

// mostlyDead reports whether more than half of what a pack holds is not
// needed.
func (u *packUse) mostlyDead() bool { return 2*u.live < u.data }

// sortedKeys returns the keys of a map in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
