package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func (r *rig) relate(from, to amber.MemoryID, kind string) {
	r.t.Helper()
	must.Get(r.store("acme", "ada").Relations.Relate(r.t.Context(), amber.Relation{From: from, To: to, Type: kind, Strength: 0.5}))(r.t)
}

func TestTheGraphShowsWhatIsNearAMemory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.visitor("")
	p := b.get("graph")
	sound(t, p)
	shows(t, p, "amber relation near ID")
	must.Equal(t, "no id", b.get("graph?memory=x").status, http.StatusBadRequest)
	must.Equal(t, "unknown memory", b.get("graph?memory=01900000-0000-7000-8000-000000000000").status, http.StatusNotFound)
	middle, one, two, far := r.remember("the middle"), r.remember("one step"), r.remember("replaced"), r.remember("two steps")
	p = b.get("graph?memory=" + string(middle.ID))
	sound(t, p)
	shows(t, p, "Nothing is related to this memory")
	r.relate(middle.ID, one.ID, "related")
	r.relate(middle.ID, two.ID, "supersedes")
	r.relate(far.ID, one.ID, "related")
	p = b.get("graph?memory=" + string(middle.ID))
	sound(t, p)
	shows(t, p, "3 memories", "the middle", "→ to it · 1 step", "← from it · 2 steps", "amber relation near "+string(middle.ID)+" --all --depth 2")
	must.Equal(t, "list", p.rows(), []string{"one step", "two steps", "replaced"})
	circles, lines := 0, 0
	for range p.all("circle") {
		circles++
	}
	for range p.all("line") {
		lines++
	}
	must.Equal(t, "dots and lines, with a sample for each type", []int{circles, lines}, []int{4, 5})
	must.Equal(t, "one step", b.get("graph?depth=1&memory="+string(middle.ID)).rows(), []string{"one step", "replaced"})
	p = b.get("graph?type=supersedes&memory=" + string(middle.ID))
	must.Equal(t, "one type", p.rows(), []string{"replaced"})
	shows(t, p, "related") // it can still be chosen
}

func TestALargeHostileGraphFitsAPage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	store := r.store("acme", "ada")
	write := func(i int) amber.MemoryID {
		return must.Get(store.LongTerm.Write(t.Context(), amber.WriteRequest{Title: harmfulName + fmt.Sprint(i), Content: harmfulName + fmt.Sprint(i) + strings.Repeat("<", 300)}))(t).ID
	}
	middle := write(0)
	var ring []amber.MemoryID
	for i := range 230 {
		ring = append(ring, write(i+1))
		from := middle
		if i >= 100 {
			from = ring[i-100]
		}
		r.relate(from, ring[i], []string{"related", `"><b>`, "supersedes"}[i%3])
	}
	for i := range 99 {
		r.relate(ring[i], ring[i+1], "beside")
	}
	p := r.visitor("").get("graph?memory=" + string(middle))
	sound(t, p)
	shows(t, p, "199 memories, and more that are not shown")
}
