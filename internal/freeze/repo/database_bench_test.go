package repo_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// benchDatabase makes the pages of an agent: four in ten hold vectors, the
// others text.
func benchDatabase(pages int) []byte {
	r := rand.New(rand.NewPCG(1, 0))
	data := make([]byte, 0, pages*4096)
	for i := range pages {
		if i%100 >= 43 {
			data = append(data, text(r.Uint64(), 3300)...)
			data = append(data, noise(r.Uint64(), 796)...)
			continue
		}
		for range 1024 {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(r.NormFloat64())))
		}
	}
	return data
}

// BenchmarkDatabase stores and reads 40 MB of pages. The digests of a first
// run are the base of the others.
func BenchmarkDatabase(b *testing.B) {
	const pages = 10_000
	data := benchDatabase(pages)
	changed := slices.Clone(data)
	for i := range 28 { // as 250 of 90 000
		changed[i*pages/28*4096]++
	}
	store := func(b *testing.B, r *repo.Repo, data []byte, base *repo.Base) *repo.Base {
		w := r.NewWriter(ctx)
		defer w.Close()
		d := must.Get(w.NewDatabase(ctx, 4096, base))(b)
		for piece := range slices.Chunk(data, 256<<10) {
			must.Do(b, d.Write(piece))
		}
		ref, sums, err := d.Finish(ctx)
		must.Do(b, err)
		report := must.Get(w.Flush(ctx))(b)
		b.ReportMetric(float64(report.Stored), "stored-B/op")
		return &repo.Base{Ref: ref, Digests: sums}
	}
	target := newMemory()
	base := store(b, open(b, target), data, nil)
	run := func(name string, target *memory, data []byte, base *repo.Base) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				r := open(b, target.clone())
				b.StartTimer()
				store(b, r, data, base)
			}
		})
	}
	run("first", newMemory(), data, nil)
	run("unchanged", target, data, base)
	run("change", target, changed, base)
	r := open(b, target)
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			must.Do(b, r.ReadDatabase(ctx, base.Ref, func(int64, []byte) error { return nil }))
		}
	})
	b.Run("page", func(b *testing.B) {
		d := must.Get(r.OpenDatabase(ctx, base.Ref, 8<<20))(b)
		rnd := rand.New(rand.NewPCG(1, 1))
		page := make([]byte, 4096)
		for b.Loop() {
			must.Get(d.ReadAt(page, rnd.Int64N(pages)*4096))(b)
		}
	})
}
