package sqlite

import (
	"crypto/rand"
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// BenchmarkNeighbours measures what is near a memory among 100 000 ones: each has about
// four relations, and one is related to every other.
func BenchmarkNeighbours(b *testing.B) {
	const n = 100_000
	clock := newHandClock().Now
	h, _, err := home.Open(b.TempDir(), home.Options{Clock: clock, Random: rand.Reader})
	must.Do(b, err)
	a := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(b)
	s := must.Get(Open(b.Context(), a, Options{Clock: clock, Random: rand.Reader}))(b)
	b.Cleanup(func() { must.NoError(b, s.Close()) })
	ids := make([]amber.MemoryID, 0, n)
	for len(ids) < n {
		batch := make([]amber.WriteRequest, min(amber.MaxBatchSize, n-len(ids)))
		for i := range batch {
			batch[i].Content = fmt.Sprintf("memory %d", len(ids)+i)
		}
		for _, ack := range must.Get(s.WriteBatch(b.Context(), batch))(b) {
			ids = append(ids, ack.ID)
		}
	}
	must.Do(b, s.memory.Update(b.Context(), "relate memories", "", func(t *tx) error {
		for i := 1; i < n; i++ {
			for _, r := range []amber.Relation{
				{From: ids[0], To: ids[i], Type: "hub", Strength: 0.1},
				{From: ids[i], To: ids[1+i*7%(n-1)], Type: "related", Strength: 0.5},
				{From: ids[i], To: ids[1+i*13%(n-1)], Type: "extends", Strength: 0.9},
			} {
				if r.From == r.To {
					continue
				}
				var err error
				r.ID, err = t.NewID()
				r.Origin, r.CreatedAt = t.Origin(1), t.Now
				if err == nil {
					err = t.PutRelation(r)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	}))
	for name, q := range map[string]amber.NeighbourQuery{
		"leaf":  {ID: ids[500], Types: []string{"related", "extends"}},
		"hub":   {ID: ids[0]},
		"other": {ID: ids[0], Types: []string{"extends"}}, // than all relations of the hub
		"after": {ID: ids[500]},                           // the hub is one step away
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				got := must.Get(s.Neighbours(b.Context(), q))(b)
				b.ReportMetric(float64(len(got.Memories)), "memories")
			}
		})
	}
}
