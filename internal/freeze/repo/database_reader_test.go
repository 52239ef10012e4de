package repo_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// scattered stores a database whose pages lie in many chunks.
func scattered(t testing.TB, pages int) (*memory, *repo.Repo, repo.DatabaseRef, []byte) {
	t.Helper()
	target, r := openOn(t, newMemory())
	data := noise(1, 512*pages)
	base, _ := freeze(t, r, 512, data, nil)
	for i := range 12 {
		for j := i; j < pages; j += 29 + i {
			data[j*512]++
		}
		base, _ = freeze(t, r, 512, data, base)
	}
	return target, r, base.Ref, data
}

func TestDatabaseReaderReadsAnyPart(t *testing.T) {
	t.Parallel()
	_, r, ref, data := scattered(t, 1000)
	for _, cache := range []int64{0, 64 << 10, 300_000, 1 << 30} {
		d := must.Get(r.OpenDatabase(ctx, ref, cache))(t)
		var done sync.WaitGroup
		for worker := range uint64(4) {
			done.Go(func() {
				rnd := rand.New(rand.NewPCG(worker, 0))
				for range 150 {
					at, n := rnd.IntN(len(data)+2000), rnd.IntN(5000)
					b := make([]byte, n)
					got, err := d.ReadAt(b, int64(at))
					want := data[min(at, len(data)):min(at+n, len(data))]
					if (err == io.EOF) != (len(want) < n) || err != nil && err != io.EOF || !bytes.Equal(b[:got], want) {
						t.Errorf("%d bytes at %d: %d, %v", n, at, got, err)
					}
				}
			})
		}
		done.Wait()
	}
	d, _ := r.OpenDatabase(ctx, ref, 0)
	must.Fail(d.ReadAt(make([]byte, 1), -1))(t, "a negative offset", amber.KindInvalid)
}

func TestDatabaseReaderCountsAndKeepsWhatWasUsedLast(t *testing.T) {
	t.Parallel()
	r := open(t, newMemory())
	const chunk = 64 << 10
	data := noise(1, 8*chunk)
	b, _ := freeze(t, r, 4096, data, nil)
	d := must.Get(r.OpenDatabase(ctx, b.Ref, 2*chunk))(t)
	read := func(chunks ...int64) {
		t.Helper()
		for _, n := range chunks {
			must.Get(d.ReadAt(make([]byte, 1000), n*chunk+4000))(t)
		}
	}
	read(0, 1, 0, 1, 0) // both are kept
	must.Equal(t, "read", d.Stats(), repo.ReadStats{PagesDistinct: 4, StoredBytes: 2 * chunk})
	read(2, 0) // 1 was not used for longest
	must.Equal(t, "stored bytes", d.Stats().StoredBytes, 3*chunk)
	read(1)
	must.Equal(t, "read", d.Stats(), repo.ReadStats{PagesDistinct: 6, StoredBytes: 4 * chunk})
}

func TestDatabaseReaderTriesAgainAfterAnError(t *testing.T) {
	t.Parallel()
	target, r, ref, data := scattered(t, 200)
	d := must.Get(r.OpenDatabase(ctx, ref, 1<<20))(t)
	target.fail = func(int) error { return errCut }
	b := make([]byte, len(data))
	must.Is(t, "read", must.Err(d.ReadAt(b, 0)), errCut)
	target.fail = nil
	if _, err := d.ReadAt(b, 0); err != nil || !bytes.Equal(b, data) {
		t.Errorf("again: %v", err)
	}
}

// TestFlippedBytesOfADatabaseAreFound flips one byte of the pack for each of
// its blobs.
func TestFlippedBytesOfADatabaseAreFound(t *testing.T) {
	t.Parallel()
	target, r, ref, _ := scattered(t, 300)
	must.Do(t, r.DatabaseBlobs(ctx, ref, func(id repo.ID, _ repo.Kind) error {
		l, _ := r.Find(id)
		damaged := target.clone()
		name := "packs/" + l.Pack.String()[:2] + "/" + l.Pack.String() + ".pack"
		damaged.objects[name][l.Offset+l.Stored/2] ^= 1
		must.Fail(thaw(open(t, damaged), ref))(t, fmt.Sprintf("blob %v", id), amber.KindDamaged)
		return nil
	}))
}
