package crashfs

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// CrashClone returns what a power cut at this moment would leave, as a new file system in which
// everything is durable and nothing is stopped; the package comment says what may be lost. The receiver is
// not changed, so many clones can be taken of one state. It works after [FS.StopAt] too. Equal
// states and equal random numbers give equal clones.
func (c *FS) CrashClone(r *rand.Rand) *FS {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := survivor{rand: r, names: c.survivingNames(r), clones: map[*node]*node{}}
	clone := New()
	clone.root = s.clone(c.root)
	return clone
}

// survivingNames returns the directories that lose or gain names against their durable state.
func (c *FS) survivingNames(r *rand.Rand) map[*node]map[string]*node {
	odds := chance(r)
	keep := make([]bool, len(c.pending))
	all := false // a moved directory keeps everything before it
	for i := len(c.pending) - 1; i >= 0; i-- {
		keep[i] = r.Float64() < odds || all
		all = all || keep[i] && c.pending[i].movesDir()
	}
	names := map[*node]map[string]*node{}
	for i, op := range c.pending {
		if !keep[i] {
			continue
		}
		for _, ch := range op {
			if names[ch.dir] == nil {
				names[ch.dir] = maps.Clone(ch.dir.durable)
			}
			set(names[ch.dir], ch.name, ch.to)
		}
	}
	return names
}

// chance draws how likely unsynced things survive. Drawing it once per clone or file, and not 0.5 every
// time, makes "all" and "nothing" as common as the mixtures between them.
func chance(r *rand.Rand) float64 { return float64(r.IntN(5)) / 4 }

// survivor copies the tree that is left. A file with two names is copied once.
type survivor struct {
	rand   *rand.Rand
	names  map[*node]map[string]*node
	clones map[*node]*node
}

func (s *survivor) clone(n *node) *node {
	if c := s.clones[n]; c != nil {
		return c
	}
	c := newFile(n.mode, n.modTime)
	if n.isDir() {
		c = newDir(n.mode, n.modTime)
	}
	s.clones[n] = c
	if n.isDir() {
		s.cloneNames(n, c)
		return c
	}
	c.data = n.afterCrash(s.rand)
	c.touch(0, len(c.data))
	c.sync()
	return c
}

func (s *survivor) cloneNames(n, c *node) {
	names, ok := s.names[n]
	if !ok {
		names = n.durable
	}
	// Sorted, so that the random numbers meet the files in the same order every time.
	for _, name := range slices.Sorted(maps.Keys(names)) {
		child := s.clone(names[name])
		c.entries[name] = child
		c.durable[name] = child
	}
}

// afterCrash returns the content a power cut leaves of a file.
func (n *node) afterCrash(r *rand.Rand) []byte {
	left := make([]byte, n.lengthAfterCrash(r))
	copy(left, n.disk)
	odds := chance(r)
	for start := 0; start < len(left); start += blockSize {
		if !n.dirty[start/blockSize] {
			continue
		}
		end := min(start+blockSize, len(left))
		switch {
		case r.Float64() < odds:
			copy(left[start:end], n.data[min(start, len(n.data)):])
		case r.IntN(2) == 0:
			// The block is allocated, its content never arrived. Bytes below the floor were there all along.
			if zero := max(start, n.floor); zero < end {
				clear(left[zero:end])
			}
		}
	}
	return left
}

func (n *node) lengthAfterCrash(r *rand.Rand) int {
	switch r.IntN(4) {
	case 0:
		return n.floor
	case 1:
		return n.peak
	case 2:
		return len(n.data)
	}
	return n.floor + r.IntN(n.peak-n.floor+1)
}
