package search

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// crowd is an index of 100 000 documents of 40 to 120 words, of 50 000 that are as common
// as those of a language.
var crowd = sync.OnceValues(func() (*Memory, error) {
	r := rand.New(rand.NewPCG(1, 1))
	z := rand.NewZipf(r, 1.05, 2, 49999)
	m := NewMemory()
	for row := int64(1); row <= 100_000; row++ {
		weights := map[uint64]uint32{}
		length := 40 + r.IntN(81)
		for range length {
			weights[z.Uint64()]++
		}
		d := Document{Row: row, Length: length, Terms: []Term{{Facet("scope", fmt.Sprint(row%10)), 1}}}
		for w, n := range weights {
			d.Terms = append(d.Terms, Term{fmt.Sprintf("w%d", w), n})
		}
		slices.SortFunc(d.Terms, func(a, b Term) int { return cmp.Compare(a.Text, b.Text) })
		if err := m.PutTail(d); err != nil {
			return nil, err
		}
		if row%tailDocs != 0 {
			continue
		}
		for left := true; left; {
			var err error
			if left, err = Tidy(m, nil, 1<<20, FewWait); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
})

// BenchmarkWords asks for 2, 8 and 20 words, rare ones or as common as they come.
func BenchmarkWords(b *testing.B) {
	begin := time.Now()
	m, err := crowd()
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d segments, made in %s", len(m.segments), time.Since(begin))
	cache := &Cache{}
	r := rand.New(rand.NewPCG(2, 2))
	z := rand.NewZipf(r, 1.05, 2, 49999)
	for _, words := range []int{2, 8, 20} {
		for _, kind := range []string{"common", "rare"} {
			for _, filter := range []Filter{nil, {{Facet("scope", "3")}}} {
				b.Run(fmt.Sprintf("%d %s filter %t", words, kind, filter != nil), func(b *testing.B) {
					for b.Loop() {
						asked := make([]Asked, words)
						for i := range asked {
							w := z.Uint64()
							if kind == "rare" {
								w = 1000 + r.Uint64N(49000)
							}
							asked[i].Variants = []Variant{{fmt.Sprintf("w%d", w), 1}}
						}
						a, err := Ask(m, cache, filter)
						if err != nil {
							b.Fatal(err)
						}
						if err := a.For(asked); err != nil {
							b.Fatal(err)
						}
						rows, err := a.Best(200)
						if err != nil {
							b.Fatal(err)
						}
						if _, err := a.Look(rows); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
