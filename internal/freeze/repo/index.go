package repo

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"sort"
)

// located is an entry with the number of its pack: 56 bytes per blob is what
// an index costs.
type located struct {
	entry
	pack uint32
}

func compareLocated(a, b located) int {
	if c := a.id.Compare(b.id); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.pack, b.pack), cmp.Compare(a.offset, b.offset))
}

// indexPack is a pack the index knows.
type indexPack struct {
	id   ID
	size int64
	sum  [sha256.Size]byte // of its directory
	bad  bool              // missing, or of another size: nothing may rely on it
}

// index knows where blobs lie. An id may be there several times. Reading is
// safe for concurrent use, adding is not.
type index struct {
	packs  []indexPack
	number map[ID]uint32
	base   []located // sorted, as loaded
	recent []located // sorted, added since: short, so adding is cheap
	sealed bool      // some blob is
}

func newIndex(blobs int) *index {
	return &index{number: map[ID]uint32{}, base: make([]located, 0, blobs)}
}

// load adds a pack to what is being loaded; sort ends the loading. It reports
// false for a pack that an earlier index object describes otherwise: both
// directories are kept, the bytes of the pack will tell.
func (x *index) load(p packDir, bad bool) (agrees bool) {
	n, fresh, agrees := x.pack(p, bad)
	if fresh || !agrees {
		x.base = x.append(x.base, p.dir, n)
	}
	return agrees
}

func (x *index) sort() {
	slices.SortFunc(x.base, compareLocated)
	x.base = slices.Compact(x.base)
	if cap(x.base)-len(x.base) > len(x.base)/8 {
		x.base = slices.Clone(x.base)
	}
}

// add adds packs to a loaded index.
func (x *index) add(packs []packDir) {
	for _, p := range packs {
		n, fresh, agrees := x.pack(p, false)
		if fresh || !agrees {
			x.recent = x.append(x.recent, p.dir, n)
		}
		x.packs[n].bad = false // it has just been stored, in the place of one that was lost
	}
	slices.SortFunc(x.recent, compareLocated)
}

// pack returns the number of a pack, fresh when it had none.
func (x *index) pack(p packDir, bad bool) (n uint32, fresh, agrees bool) {
	sum := sha256.Sum256(p.dir)
	if n, ok := x.number[p.id]; ok {
		return n, false, x.packs[n].sum == sum
	}
	n = uint32(len(x.packs))
	x.number[p.id] = n
	x.packs = append(x.packs, indexPack{id: p.id, size: p.size, sum: sum, bad: bad})
	return n, true, true
}

// append adds the blobs of a pack to a list.
func (x *index) append(l []located, dir directory, pack uint32) []located {
	for i := range dir.blobs() {
		e := dir.at(i)
		x.sealed = x.sealed || e.sealed
		l = append(l, located{entry: e, pack: pack})
	}
	return l
}

// place is where a blob lies, or should.
type place struct {
	entry
	pack ID
}

// places returns every place of a blob, those in good packs first.
func (x *index) places(id ID) []place {
	var good, bad []place
	for _, part := range [][]located{equal(x.base, id), equal(x.recent, id)} {
		for _, l := range part {
			p := &x.packs[l.pack]
			if p.bad {
				bad = append(bad, place{l.entry, p.id})
			} else {
				good = append(good, place{l.entry, p.id})
			}
		}
	}
	return append(good, bad...)
}

// has reports whether a blob lies in a pack that may be relied on and need not
// be avoided.
func (x *index) has(id ID, avoid map[ID]bool) bool {
	good := func(l located) bool { return !x.packs[l.pack].bad && !avoid[x.packs[l.pack].id] }
	return slices.ContainsFunc(equal(x.base, id), good) || slices.ContainsFunc(equal(x.recent, id), good)
}

// equal returns the part of a sorted list that has the given id.
func equal(l []located, id ID) []located {
	from := sort.Search(len(l), func(i int) bool { return l[i].id.Compare(id) >= 0 })
	to := from
	for to < len(l) && l[to].id == id {
		to++
	}
	return l[from:to]
}

func (x *index) blobs() int { return len(x.base) + len(x.recent) }
