package gitsync_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
)

// prose returns n words that do not repeat, so that little of them goes away
// in a chunk.
func prose(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "%x ", r.Uint32())
	}
	return b.String()
}

// both are two clones that have merged and imported everything.
func (h *hub) both(t *testing.T) (a, b *gitClone) {
	t.Helper()
	a, b = h.clones[0], h.clones[1]
	for range 2 {
		for _, c := range h.clones {
			c.export(gitsync.ExportOptions{})
			must.Do(t, c.commit("settle"))
			must.Do(t, c.pullAndPush("--no-rebase"))
		}
	}
	for _, c := range h.clones {
		must.Do(t, c.pullAndPush("--no-rebase"))
		must.Do(t, c.importNow())
	}
	return a, b
}

// mustMerge commits and merges what both did.
func (h *hub) mustMerge(t *testing.T) {
	t.Helper()
	for _, c := range h.clones {
		must.Do(t, c.commit("work"))
	}
	for range 2 {
		for _, c := range h.clones {
			must.Do(t, c.pullAndPush("--no-rebase"))
		}
	}
	for _, c := range h.clones {
		must.Do(t, c.importNow())
	}
	h.mustBeEqual()
}

// thoughts saves and exports n chunks.
func (c *gitClone) thoughts(n int) {
	c.t.Helper()
	for i := range n {
		c.shares(fmt.Sprintf("clone %d thinks %d: %s", c.n, i, prose(c.r, 400)))
	}
}

// Some who compact the same chunks at once leave packs that share most of
// them. When they compact again, each makes one pack of those, which git would
// take for a new name of any of them.
func TestGitMergesPacksThatShareChunks(t *testing.T) {
	t.Parallel()
	h := newHub(t, 4, 1)
	h.clones[0].thoughts(8)
	h.both(t)
	for range 3 {
		for _, c := range h.clones {
			c.thoughts(1)
			must.Do(t, c.compactNow())
		}
		h.mustMerge(t)
	}
}

// A pack of which one chunk is written anew is much like the old one.
func TestGitMergesAPackOfWhichSomethingWasErased(t *testing.T) {
	t.Parallel()
	h := newHub(t, 2, 2)
	id := h.clones[0].save("to be erased")
	h.clones[0].thoughts(6)
	a, b := h.both(t)
	must.Do(t, a.compactNow())
	h.mustMerge(t)
	must.Get(a.Erase(t.Context(), id))(t)
	a.export(gitsync.ExportOptions{})
	must.Do(t, a.compactNow())
	b.thoughts(16)
	must.Do(t, b.compactNow())
	h.mustMerge(t)
}

// A long chunk that loses its last memory begins as it did before.
func TestGitMergesALongChunkOfWhichSomethingWasErased(t *testing.T) {
	t.Parallel()
	h := newHub(t, 2, 3)
	a := h.clones[0]
	for range 3 {
		a.save(prose(a.r, 8_000))
	}
	id := a.shares("to be erased")
	a, b := h.both(t)
	must.Get(a.Erase(t.Context(), id))(t)
	a.export(gitsync.ExportOptions{})
	must.Do(t, a.compactNow())
	for range 4 {
		for range 3 {
			b.save(prose(b.r, 8_000))
		}
		b.export(gitsync.ExportOptions{})
	}
	must.Do(t, b.compactNow())
	h.mustMerge(t)
}
