package repo_test

import (
	"crypto/sha256"
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// live returns the bytes that are in use.
func live() int64 {
	runtime.GC()
	runtime.GC() // what finalizers and pools let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestWriterMemory writes 200 MB that do not compress. Not parallel: it
// looks at the heap of the whole process.
func TestWriterMemory(t *testing.T) {
	t.Run("plain", func(t *testing.T) { writerMemory(t, newMemory(), 0) })
	t.Run("encrypted", func(t *testing.T) { writerMemory(t, newEncrypted(t), 48) })
}

// writerMemory is TestWriterMemory for a target, where each blob takes some
// bytes more.
func writerMemory(t *testing.T, target *memory, more int64) {
	t.Helper()
	target.discard = "packs/"
	r := open(t, target)
	before := live()
	var most int64
	target.onPut = func(string) { most = max(most, live()-before) }
	w := r.NewWriter(ctx)
	defer w.Close()
	const blob = 512 << 10
	page := noise(1, blob)
	d := make([]repo.PageDigest, blob/4096)
	for i := range (200 << 20) / blob {
		binary.LittleEndian.PutUint64(page, uint64(i))
		copy(d, digests(4096, page[:4096]))
		must.Get(w.PutPages(ctx, 4096, d, page))(t)
	}
	report, err := w.Flush(ctx)
	if err != nil || report.Stored != 200<<20+400*more {
		t.Fatalf("%v, %+v", err, report)
	}
	t.Logf("%d packs, at most %.1f MiB in use", report.Packs, float64(most)/(1<<20))
	must.Hold(t, most != 0 && most <= 24<<20, "%d bytes in use", most)
}

// TestIndexMemory loads an index of a million blobs. Not parallel, as above.
func TestIndexMemory(t *testing.T) {
	const perPack, packs = 4096, 250
	target := newMemory()
	last := millionBlobs(target, perPack, packs)
	before := live()
	r := open(t, target)
	used := live() - before
	if r.Blobs() != perPack*packs {
		t.Fatalf("%d blobs", r.Blobs())
	}
	if _, ok := r.Find(last); !ok || r.Has(repo.ID{1}) {
		t.Error("found wrong")
	}
	perMillion := used * 1_000_000 / (perPack * packs)
	t.Logf("%.1f MB for a million blobs", float64(perMillion)/1e6)
	must.Hold(t, perMillion <= 60e6, "%d bytes for a million blobs", perMillion)
	runtime.KeepAlive(r)
}

func millionBlobs(target *memory, perPack, packs int) (last repo.ID) {
	n := uint64(0)
	for first := 0; first < packs; first += 25 {
		var group []indexPack
		for p := range 25 {
			p := indexPack{id: repo.ID{byte(first + p), 1}, count: uint32(perPack)}
			offset := uint32(32)
			for range perPack {
				n++
				last = sha256.Sum256(binary.LittleEndian.AppendUint64(nil, n))
				p.dir = append(p.dir, item{id: last, kind: 3, offset: offset, stored: 9, plain: 9}.bytes()...)
				offset += 9
			}
			p.size = uint64(offset) + uint64(len(p.dir)) + 64
			group = append(group, p)
		}
		target.storeIndex(indexOf(group...))
	}
	return last
}
