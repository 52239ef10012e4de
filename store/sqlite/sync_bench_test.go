package sqlite

import (
	"crypto/rand"
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

var syncRows = flag.Int("sync-rows", 10_000, "memories that the benchmarks of sync exchange")

// chunkRows is how many records a chunk of the benchmarks has.
const chunkRows = 2000

// BenchmarkApply measures a first import, and beside it the same rows put into
// the same tables and indexes by nothing but inserts.
func BenchmarkApply(b *testing.B) {
	records := benchRecords(*syncRows)
	b.Run("import", func(b *testing.B) {
		benchRows(b, func(s *Store, first int, rows []amber.SyncRecord) error {
			_, err := s.Apply(b.Context(), chunkOf(fmt.Sprint(first), rows...))
			return err
		}, records)
	})
	b.Run("bare", func(b *testing.B) {
		benchRows(b, func(s *Store, _ int, rows []amber.SyncRecord) error {
			return s.memory.Update(b.Context(), "insert", "", func(t *tx) error {
				for _, r := range rows {
					args, err := sqlrows.MemoryArgs(r.Memory.Memory)
					if err != nil {
						return err
					}
					if _, err := t.Exec(sqlrows.InsertMemory, args...); err != nil {
						return err
					}
				}
				return nil
			})
		}, records)
	})
}

func benchRows(b *testing.B, put func(s *Store, first int, rows []amber.SyncRecord) error, records []amber.SyncRecord) {
	for b.Loop() {
		b.StopTimer()
		s := benchStore(b)
		b.StartTimer()
		for first := 0; first < len(records); first += chunkRows {
			must.Do(b, put(s, first, records[first:min(len(records), first+chunkRows)]))
		}
		b.StopTimer()
		must.Do(b, s.Close())
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(records)), "µs/row")
}

// BenchmarkOutgoing measures exports from a store of some size: of nothing
// new, of ten new memories, and of everything.
func BenchmarkOutgoing(b *testing.B) {
	s := benchStore(b)
	defer s.Close()
	records := benchRecords(*syncRows)
	for first := 0; first < len(records); first += chunkRows {
		must.Get(s.Apply(b.Context(), chunkOf(fmt.Sprint(first), records[first:min(len(records), first+chunkRows)]...)))(b)
	}
	at := headNow(b, s)
	b.Run("nothing", func(b *testing.B) { benchOutgoing(b, s, at, 0) })
	for i := range 10 {
		must.Get(s.Write(b.Context(), amber.WriteRequest{Content: fmt.Sprintf("new fact %d", i)}))(b)
	}
	b.Run("ten", func(b *testing.B) { benchOutgoing(b, s, at, 10) })
	b.Run("all", func(b *testing.B) { benchOutgoing(b, s, "", *syncRows+10) })
}

func headNow(b *testing.B, s *Store) amber.Position {
	b.Helper()
	p := must.Get(s.Head(b.Context()))(b)
	return p
}

func benchOutgoing(b *testing.B, s *Store, since amber.Position, want int) {
	for b.Loop() {
		r := amber.OutgoingRequest{Place: "elsewhere", Since: since, After: since}
		got := 0
		for done := false; !done; {
			out := must.Get(s.Outgoing(b.Context(), r))(b)
			got += len(out.Records)
			r.After, done = out.Next, out.Done
		}
		if got != want {
			b.Fatalf("exported %d records, want %d", got, want)
		}
	}
}

func benchStore(b *testing.B) *Store {
	b.Helper()
	clock := newHandClock()
	h, _, err := home.Open(b.TempDir()+"/home", home.Options{Clock: clock.Now, Random: rand.Reader})
	must.Do(b, err)
	a := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(b)
	s := must.Get(Open(b.Context(), a, Options{Clock: clock.Now, Random: rand.Reader}))(b)
	return s
}

// benchRecords are memories of about sixty words.
func benchRecords(n int) []amber.SyncRecord {
	r := mathrand.New(mathrand.NewPCG(1, 1))
	zipf := mathrand.NewZipf(r, 1.2, 8, 20_000)
	records := make([]amber.SyncRecord, n)
	for i := range records {
		var text strings.Builder
		for range 40 + r.IntN(40) {
			fmt.Fprintf(&text, "w%d ", zipf.Uint64())
		}
		records[i] = farMemory(memoryID(i), far(1, int64(1_700_000_000_000+i)), text.String())
		records[i].Memory.Title = fmt.Sprintf("fact %d", i)
	}
	return records
}
