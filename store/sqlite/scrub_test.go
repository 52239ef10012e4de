package sqlite

import (
	mathrand "math/rand/v2"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestMiddle(t *testing.T) {
	t.Parallel()
	page := func(kind byte, cells, content byte) []byte {
		p := make([]byte, 512)
		p[0], p[4], p[5], p[6] = kind, cells, content, 0x80
		return p
	}
	for _, c := range []struct {
		name string
		page []byte
		want int // bytes
	}{
		{"leaf of a table", page(0x0d, 3, 1), 384 - 8 - 6},
		{"leaf of an index", page(0x0a, 0, 0), 128 - 8},
		{"node of a table", page(0x05, 1, 1), 384 - 12 - 2},
		{"node of an index", page(0x02, 1, 1), 384 - 12 - 2},
		{"something else", page(0x00, 1, 1), 0},
		{"more cells than fit", page(0x0d, 255, 1), 0},
		{"content outside", page(0x0d, 1, 0xff), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			must.Equal(t, "bytes", len(sqlfile.Middle(2, c.page)), c.want)
		})
	}
	first := make([]byte, 512)
	copy(first[100:], page(0x0d, 1, 1)[:8])
	must.Equal(t, "bytes of the first page", len(sqlfile.Middle(1, first)), 384-110)
	random := mathrand.New(mathrand.NewPCG(1, 1))
	for range 10_000 { // whatever a page holds, nothing outside of it is touched
		p := page(byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32()))
		for i := range 8 {
			p[100+i] = byte(random.Uint32())
		}
		clear(sqlfile.Middle(1+random.Int64N(2), p))
	}
}

// Scrubbing changes nothing anybody can read.
func TestScrubKeepsEverything(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	others := newCrowd()
	others.grow(t, s, scale(200))
	for i, id := range others.ids[:len(others.ids)/2] { // indexes with holes
		if content := plainText(others.random, 10+i%30); i%2 == 0 {
			must.Get(s.Edit(t.Context(), amber.EditRequest{ID: id, Content: &content}))(t)
		}
	}
	before := must.Get(s.List(t.Context(), amber.ListQuery{All: true, Limit: amber.MaxPageSize}))(t).Items
	must.Do(t, s.memory.Update(t.Context(), "scrub", "", (*tx).Scrub))
	after := must.Get(s.List(t.Context(), amber.ListQuery{All: true, Limit: amber.MaxPageSize}))(t).Items
	if len(before) != len(after) {
		t.Fatalf("%d memories, were %d", len(after), len(before))
	}
	for i := range after {
		if after[i].Content != before[i].Content || after[i].Revision != before[i].Revision {
			t.Errorf("memory %d changed", i)
		}
	}
	others.mustBeIn(t, s)
}
