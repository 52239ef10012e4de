package search

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// holds reports whether a text is anywhere in the bytes of the index.
func (m *Memory) holds(text string) bool {
	for _, s := range m.contents {
		if bytes.Contains(s.Terms, []byte(text)) || bytes.Contains(s.Docs, []byte(text)) {
			return true
		}
	}
	for _, lists := range m.lists {
		for term := range lists {
			if strings.Contains(term, text) {
				return true
			}
		}
	}
	for _, d := range m.tail {
		if bytes.Contains(d.Marshal(), []byte(text)) {
			return true
		}
	}
	return false
}

// Whatever is written, removed, erased and merged, what lives is found, what does not is
// not, and nothing is left of what was erased.
func TestHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 3))
		m, cache := NewMemory(), &Cache{}
		alive := map[int64]Document{}
		row := int64(0)
		for range 2500 {
			switch n := r.IntN(10); {
			case n < 7:
				row++
				kind := Facet("kind", fmt.Sprint(r.IntN(3)))
				text := fmt.Sprintf("common%d word%d unique%dx", r.IntN(3), r.IntN(500), row)
				d := Analyze(row, []Field{{text, 1}, {fmt.Sprintf("title%d", r.IntN(50)), 6}}, []string{kind})
				must.Do(t, m.PutTail(d))
				alive[row] = d
			case len(alive) > 0:
				at := 1 + r.Int64N(row)
				if _, ok := alive[at]; !ok {
					continue
				}
				delete(alive, at)
				if n == 7 {
					must.Do(t, Remove(m, cache, at))
					continue
				}
				must.Do(t, Erase(m, cache, at))
				if text := fmt.Sprintf("unique%dx", at); m.holds(text) {
					t.Fatalf("seed %d: %s was erased and is there", seed, text)
				}
			}
			if r.IntN(3) == 0 {
				must.Get(Tidy(m, cache, r.IntN(2000), FewWait))(t)
			}
		}
		check(t, m, cache, alive, r)
		for must.Get(Tidy(m, cache, 1000, FewWait))(t) {
		}
		check(t, m, cache, alive, r)
	}
}

// check asks for many words and compares with looking at every document.
func check(t *testing.T, m *Memory, cache *Cache, alive map[int64]Document, r *rand.Rand) {
	t.Helper()
	for range 50 {
		asked := []Asked{}
		for _, w := range []string{fmt.Sprint("common", r.IntN(3)), fmt.Sprint("word", r.IntN(500)), fmt.Sprint("title", r.IntN(50))} {
			asked = append(asked, Asked{Word: w, Variants: []Variant{{w, 1}}})
		}
		kind := Facet("kind", fmt.Sprint(r.IntN(3)))
		a := must.Get(Ask(m, cache, Filter{{kind}}))(t)
		must.Do(t, a.For(asked))
		rows := must.Get(a.Best(5000))(t)
		got := must.Get(a.Look(rows))(t)
		slices.SortFunc(got, func(x, y Match) int { return slices.Index(rows, x.Row) - slices.Index(rows, y.Row) })
		want := map[int64]bool{}
		for row, d := range alive {
			has := func(term string) bool {
				return slices.ContainsFunc(d.Terms, func(x Term) bool { return x.Text == term })
			}
			if has(kind) && slices.ContainsFunc(asked, func(a Asked) bool { return has(a.Variants[0].Term) }) {
				want[row] = true
			}
		}
		if len(got) != len(want) {
			t.Fatalf("found %d, want %d", len(got), len(want))
		}
		for i, g := range got {
			if !want[g.Row] {
				t.Fatalf("row %d was found", g.Row)
			}
			if i > 0 && g.Words > got[i-1].Words {
				t.Fatalf("%v is behind %v", g, got[i-1])
			}
		}
	}
}

func TestVariants(t *testing.T) {
	t.Parallel()
	forms := []vocabulary{newVocabulary([]string{"bootloader", "watchdog", Facet("kind", "guration"), "seconds"}), newVocabulary([]string{"deploy", "deployment", "gru", "configuration"})}
	for word, want := range map[string][]Variant{
		"bootlaoder": {{"bootload", shareOneEdit}},
		"wacthdgo":   {{"watchdog", shareTwoEdits}},
		"guration":   {{"configur", sharePart}},
		"deploz":     {{"deploi", shareOneEdit}},
		"gra":        {},
		"zzzzzz":     {},
	} {
		must.Equal(t, word, variants(word, forms), want)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	vector := func() Vector {
		v := make([]float32, 384)
		for i := range v {
			v[i] = float32(r.NormFloat64()) / 20
		}
		return Quantize(v)
	}
	question := vector()
	var chunks []Signs
	var want []Near
	for row := int64(1); row <= 5000; {
		var c Signs
		for range 1 + r.IntN(256) {
			v := vector()
			c.Rows, c.Bits = append(c.Rows, row), v.AppendSigns(c.Bits)
			d := 0
			for i := range v.Dim() {
				if (int8(v[vectorHead+i]) < 0) != (int8(question[vectorHead+i]) < 0) {
					d++
				}
			}
			if row%2 == 0 {
				want = append(want, Near{row, d})
			}
			row++
		}
		chunks = append(chunks, c)
	}
	got := Nearest(question, chunks, func(row int64) bool { return row%2 == 0 }, 200)
	must.Equal(t, "nearest", got, nearest(want, 200))
	if c := Cosine(question, question); c < 0.7 || c > 1.6 { // its length is about 1
		t.Errorf("the cosine to itself is %f", c)
	}
}

// However distances are counted, they are the same.
func TestDistances(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	for n := range 20 {
		signs := make([]byte, n*usualWidth)
		for i := range signs {
			signs[i] = byte(r.Uint32())
		}
		var words [usualWidth / 8]uint64
		for i := range words {
			words[i] = r.Uint64()
		}
		got, want := make([]uint16, n+1), make([]uint16, n+1)
		usualDistances(got[:n], signs, &words)
		plainDistances(want[:n], signs, &words)
		must.Equal(t, fmt.Sprint("distances of ", n), got, want)
	}
}

// However many documents come at a time, and however long they are, merging keeps up.
func TestMergingKeepsUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ together, docs int }{{1, 5000}, {64, 6000}, {256, 7000}} {
		t.Run(fmt.Sprint(c.together), func(t *testing.T) {
			t.Parallel()
			m := NewMemory()
			terms, most := 0, 0
			for i, d := range zipf(rand.New(rand.NewPCG(uint64(c.together), 1)), c.docs, 8000) {
				d.Row = int64(i + 1)
				m.Add(d, Passage{}, nil)
				if terms += len(d.Terms); (i+1)%c.together != 0 {
					continue
				}
				must.Get(Tidy(m, &Cache{}, TidyWork(terms), FewWait))(t)
				terms = 0
				level0 := 0
				for _, s := range m.segments {
					if s.Level == 0 {
						level0++
					}
				}
				most = max(most, level0)
			}
			if most > 2*fanIn {
				t.Errorf("the lowest level had up to %d segments, want at most %d", most, 2*fanIn)
			}
			t.Logf("up to %d segments of the lowest level", most)
		})
	}
}

// Documents that come by the thousand become large segments at once. However they take turns
// with others, no more segments are left than merging by levels leaves.
func TestManyDocumentsSpareTheLowestLevel(t *testing.T) {
	t.Parallel()
	m := NewMemory()
	docs := zipf(rand.New(rand.NewPCG(8, 1)), 24*ManyWait, 12)
	for i, d := range docs {
		d.Row = int64(i + 1)
		m.Add(d, Passage{}, nil)
		wait := ManyWait
		if turn := i / (ManyWait / 2); turn%3 == 1 { // half as many come one by one, between
			wait = FewWait
		}
		if i%16 == 0 {
			must.Get(Tidy(m, &Cache{}, TidyWork(16*len(d.Terms)), wait))(t)
		}
	}
	for must.Get(Tidy(m, &Cache{}, 1000, FewWait))(t) {
	}
	if n, most := len(m.segments), 4*fanIn; n > most {
		t.Errorf("%d segments are left, want at most %d", n, most)
	}
	must.Equal(t, "documents", len(must.Get(Check(m))(t)), len(docs))
}

// Where merging has fallen behind, it catches up.
func TestMergingCatchesUp(t *testing.T) {
	t.Parallel()
	m := NewMemory()
	docs := zipf(rand.New(rand.NewPCG(3, 1)), 70*tailDocs, 60)
	for i, d := range docs {
		d.Row = int64(i + 1)
		m.Add(d, Passage{}, nil)
		if (i+1)%tailDocs == 0 {
			must.Get(tail(m, FewWait))(t) // and nothing is merged
		}
	}
	must.Equal(t, "crowded", must.Get(IsCrowded(m))(t), true)
	for steps := 0; must.Get(IsCrowded(m))(t); steps++ {
		if must.Get(Tidy(m, &Cache{}, 1000, FewWait))(t); steps > 1000 {
			t.Fatal("merging does not catch up")
		}
	}
	must.Equal(t, "documents", len(must.Get(Check(m))(t)), len(docs))
}

// A cache that many questions share answers each of them as none does.
func TestCacheIsShared(t *testing.T) {
	t.Parallel()
	m := NewMemory()
	for i, d := range zipf(rand.New(rand.NewPCG(5, 1)), 1500, 400) {
		d.Row = int64(i + 1)
		for k := range d.Terms {
			d.Terms[k].Text = strings.ReplaceAll(d.Terms[k].Text, "w", "vok") // no stem is another word
		}
		d.Terms = append([]Term{{Facet("scope", []string{"a", "b"}[i%2]), 1}}, d.Terms...)
		m.Add(d, Passage{Source: SourceMemory, Owner: fmt.Sprint(i)}, Quantize([]float32{float32(i % 7), 1, float32(i % 3)}))
	}
	for left := true; left; {
		left = must.Get(Tidy(m, &Cache{}, 5000, FewWait))(t)
	}
	must.Do(t, Remove(m, &Cache{}, 3, 700, 1499))
	shared := &Cache{}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 9))
			for range 20 {
				q := Request{
					Text:   fmt.Sprintf("vok%d vok%d vok%d", r.IntN(5), r.IntN(400), r.IntN(900)),
					Filter: Filter{{Facet("scope", []string{"a", "b"}[r.IntN(2)])}}, Limit: 20,
				}
				if r.IntN(2) == 0 {
					q.Meanings = []Meaning{{Model: anyModel, Vector: Quantize([]float32{1, 2, 3})}}
				}
				want := must.Get(Recall(m, nil, q))(t)
				must.Equal(t, q.Text, must.Get(Recall(m, shared, q))(t), want)
			}
		})
	}
	wg.Wait()
}
