package search

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// memSegment is a segment in memory.
type memSegment struct {
	Segment
	Content
	docs  documents
	lists []Entry
}

func (m *memSegment) list(t *testing.T, term string) (list, bool) {
	i, ok := slices.BinarySearchFunc(m.lists, term, func(e Entry, term string) int { return cmp.Compare(e.Term, term) })
	if !ok {
		return list{}, false
	}
	return must.Get(openList(m.lists[i].List, len(m.docs.rows)))(t), true
}

func build(t *testing.T, docs []Document) *memSegment {
	made := newBuilder()
	for _, d := range docs {
		made.add(d)
	}
	m := &memSegment{Segment: made.segment(0)}
	for _, term := range made.terms() {
		m.lists = append(m.lists, Entry{term, made.list(term)})
	}
	m.Content = Content{made.marshal(), marshalTexts(made.terms())}
	m.docs = must.Get(openDocuments(m.Content.Docs))(t)
	return m
}

// zipf makes documents of words that are as common as those of a language.
func zipf(r *rand.Rand, n, words int) []Document {
	z := rand.NewZipf(r, 1.1, 1, uint64(words-1))
	var out []Document
	row := int64(0)
	for range n {
		row += 1 + int64(r.IntN(3))
		weights := map[string]uint32{}
		length := 1 + r.IntN(120)
		for range length {
			weights[fmt.Sprintf("w%d", z.Uint64())] += 1 + 5*uint32(r.IntN(20)/19)
		}
		d := Document{Row: row, Length: length}
		for w, n := range weights {
			d.Terms = append(d.Terms, Term{w, n})
		}
		slices.SortFunc(d.Terms, func(a, b Term) int { return cmp.Compare(a.Text, b.Text) })
		out = append(out, d)
	}
	return out
}

// plain scores every document.
func plain(docs []Document, worths map[string]worth, allowed set, n int) []scored {
	var all []scored
	for i, d := range docs {
		if allowed != nil && !allowed.has(uint32(i)) {
			continue
		}
		sum, any := int64(0), false
		for _, t := range d.Terms {
			if w, ok := worths[t.Text]; ok {
				sum += w.of(t.Weight, uint16(d.Length))
				any = true
			}
		}
		if any {
			all = append(all, scored{d.Row, sum})
		}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.row, a.row)) })
	return all[:min(n, len(all))]
}

// The best documents are the same as those of scoring every one, whatever is asked.
func TestTheBestAreFound(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		docs := zipf(r, 1+r.IntN(3000), 10+r.IntN(3000))
		m := build(t, docs)
		for range 20 {
			worths := map[string]worth{}
			for range 1 + r.IntN(12) {
				word := fmt.Sprintf("w%d", int(math.Pow(10, 4*r.Float64()))-1)
				worths[word] = worth{idf: 0.1 + 9*r.Float64(), average: 60}
			}
			var allowed set
			if r.IntN(2) == 0 {
				allowed = newSet(len(docs))
				share := 1 + r.IntN(20)
				for i := range docs {
					if r.IntN(share) == 0 {
						allowed.add(uint32(i))
					}
				}
			}
			top := &best{n: 1 + r.IntN(100)}
			var cursors []*cursor
			for term, w := range worths {
				if l, ok := m.list(t, term); ok {
					cursors = append(cursors, newCursor(l, w))
				}
			}
			must.Do(t, maxScore(cursors, &m.docs, allowed, top))
			want := plain(docs, worths, allowed, top.n)
			if got := top.sorted(); !slices.Equal(got, want) {
				t.Fatalf("seed %d: got %v\nwant %v", seed, got, want)
			}
		}
	}
}

// However many look for the best, they are the same.
func TestTheBestAreFoundTogether(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	m, cache := NewMemory(), &Cache{}
	for i, d := range zipf(r, 12*tailDocs, 2000) {
		d.Row = int64(i + 1)
		m.Add(d, Passage{}, nil)
		must.Get(Tidy(m, cache, TidyWork(len(d.Terms)), FewWait))(t)
	}
	a := must.Get(Ask(m, cache, nil))(t)
	must.Hold(t, len(a.parts) > 3, "%d parts", len(a.parts))
	for range 50 {
		asked := make([]Asked, 1+r.IntN(12))
		for i := range asked {
			asked[i].Variants = []Variant{{fmt.Sprintf("w%d", int(math.Pow(10, 3*r.Float64()))-1), 1}}
		}
		must.Do(t, a.For(asked))
		n := 1 + r.IntN(100)
		want := must.Get(a.best(n, 1))(t)
		for workers := 2; workers <= len(a.parts); workers++ {
			got := must.Get(a.best(n, workers))(t)
			must.Hold(t, slices.Equal(got, want), "%d workers found %v, one %v", workers, got, want)
		}
	}
}

// An index that was merged is the one that would have been built of what lives.
func TestMergedIsBuilt(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 2))
		docs := zipf(r, fanIn*tailDocs, 10+r.IntN(1000))
		m, cache := NewMemory(), &Cache{}
		dead := map[int64]bool{}
		for i, d := range docs {
			must.Do(t, m.PutTail(must.Get(UnmarshalDocument(d.Row, d.Marshal()))(t)))
			must.Get(Tidy(m, cache, 1, FewWait))(t)
			if old := docs[r.IntN(i+1)].Row; i >= 2*tailDocs && r.IntN(12) == 0 && old < docs[i-tailDocs].Row {
				must.Do(t, Remove(m, cache, old))
				dead[old] = true
			}
		}
		for must.Get(Tidy(m, cache, 1+r.IntN(500), FewWait))(t) {
		}
		alive := slices.DeleteFunc(docs, func(d Document) bool { return dead[d.Row] })
		segments := must.Get(m.Segments())(t)
		if len(segments) != 1 || segments[0].Level != 1 || len(m.tail) > 0 || len(dead) < 100 {
			t.Fatalf("seed %d: segments are %+v, and %d documents are in none", seed, segments, len(m.tail))
		}
		want := build(t, alive)
		must.Equal(t, "documents", m.contents[segments[0].ID], want.Content)
		must.Equal(t, "lists", len(m.lists[segments[0].ID]), len(want.lists))
		for _, e := range want.lists {
			must.Equal(t, e.Term, m.lists[segments[0].ID][e.Term], e.List)
		}
		must.Equal(t, "segments with lists", len(slices.DeleteFunc(slices.Collect(maps.Values(m.lists)), func(l map[string][]byte) bool { return len(l) == 0 })), 1)
	}
}
