package repo_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestBlobsComeBack(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		large := []sample{
			{repo.KindPages, 4096, noise(1, 1<<20)},
			{repo.KindPages, 4096, text(2, 256<<10)},
			{repo.KindPages, 65536, text(3, 5<<16)},
			{repo.KindPages, 512, noise(3, 512)},
			{repo.KindFile, 0, noise(4, 1<<20+1)}, // not copied
			{repo.KindFile, 0, text(5, 3<<20)},    // not copied, compressed
			{repo.KindFile, 0, noise(6, 2<<20)},   // a pack of its own below
		}
		for _, packBytes := range []int64{16 << 20, 1 << 20, 1000} {
			t.Run(fmt.Sprint(packBytes), func(t *testing.T) {
				t.Parallel()
				target, r := openOn(t, newMemory())
				r.SetPackBytes(packBytes)
				samples := append(few(), large...)
				report := fill(t, r, samples...)
				if report.New != len(samples) || report.Known != 0 || report.Packs != len(target.names("packs/")) {
					t.Errorf("report %+v", report)
				}
				readAll(t, r, samples)
				again := open(t, target)
				readAll(t, again, samples)
				if c := clean(t, again); c.Blobs != len(samples) || !c.DataRead || c.IndexObjects != 1 {
					t.Errorf("check %+v", c)
				}
				if c, err := again.Check(ctx, false); err != nil || !c.OK() || c.DataRead {
					t.Errorf("check: %v, %+v", err, c)
				}
			})
		}
	})
}

func TestAnyMixOfBlobsComesBack(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		target := newMemory()
		var all []sample
		for range 5 {
			rp := open(t, target)
			rp.SetPackBytes(int64(r.IntN(50_000) + 200))
			var some []sample
			for range r.IntN(60) {
				s := sample{kind: repo.Kind(r.IntN(6) + 1), data: text(r.Uint64(), r.IntN(5000))}
				if s.kind == repo.KindPages {
					s.pageSize = 512
					s.data = noise(r.Uint64N(9), 512*(r.IntN(20)+1)) // some of them equal
				}
				some = append(some, s)
			}
			report := fill(t, rp, some...)
			if report.New+report.Known != len(some) {
				t.Fatalf("%d blobs, report %+v", len(some), report)
			}
			all = append(all, some...)
		}
		last := open(t, target)
		unique := map[repo.ID]bool{}
		for _, s := range all {
			unique[s.id()] = true
		}
		if c := clean(t, last); c.Blobs != len(unique) || last.Blobs() != len(unique) {
			t.Errorf("%d blobs in packs, %d in the index, want %d", c.Blobs, last.Blobs(), len(unique))
		}
		slices.SortFunc(all, func(a, b sample) int { return a.id().Compare(b.id()) })
		all = slices.CompactFunc(all, func(a, b sample) bool { return a.id() == b.id() })
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		readAll(t, last, all)
	})
}

func TestKnownBlobsAreStoredOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		target := newMemory()
		samples := few()
		r := open(t, target)
		twice := append(slices.Clone(samples), samples...)
		if got := fill(t, r, twice...); got.New != len(samples) || got.Known != len(samples) {
			t.Errorf("report %+v", got)
		}
		before := target.names("")
		for _, r := range []*repo.Repo{r, open(t, target)} {
			must.Equal(t, "report", fill(t, r, samples...), repo.Report{Known: len(samples)})
		}
		must.Equal(t, "objects", target.names(""), before)
	})
}

func TestWriterKeepsTheOrderOfPut(t *testing.T) {
	t.Parallel()
	var samples []sample
	for i := range 300 {
		samples = append(samples, sample{repo.KindFile, 0, text(uint64(i), (i%7+1)*1000)})
	}
	a, b := newMemory(), newMemory()
	fill(t, open(t, a), samples...)
	fill(t, open(t, b), samples...)
	must.Equal(t, "packs of the same blobs", b.names(""), a.names(""))
	r := open(t, a)
	var last int64
	for _, s := range samples {
		l, ok := r.Find(s.id())
		if !ok || l.Offset <= last {
			t.Fatalf("blob at %d behind one at %d", l.Offset, last)
		}
		last = l.Offset
	}
}

func TestFlushTwiceWritesTwoIndexObjects(t *testing.T) {
	t.Parallel()
	target, r := openOn(t, newMemory())
	w := writer(t, r)
	for i, s := range few()[:2] {
		must.Get(s.put(ctx, w))(t)
		must.Equal(t, "a blob is known before it is durable", r.Has(s.id()), false)
		if report := must.Get(w.Flush(ctx))(t); report.New != i+1 || !r.Has(s.id()) {
			t.Fatalf("flush: %+v", report)
		}
	}
	must.Equal(t, "index objects", len(target.names("index/")), 2)
	clean(t, r)
}

func TestPacksAreDurableBeforeTheirIndexObject(t *testing.T) {
	t.Parallel()
	target, r := openOn(t, newMemory())
	r.SetPackBytes(700)
	fill(t, r, few()...)
	var puts []string
	for _, c := range target.calls {
		if name, ok := strings.CutPrefix(c, "put "); ok {
			puts = append(puts, name[:5])
		}
	}
	want := slices.Repeat([]string{"packs"}, len(puts)-1)
	if diff := cmp.Diff(append(want, "index"), puts); diff != "" || len(puts) < 3 {
		t.Errorf("%d objects: %s", len(puts), diff)
	}
}

func TestNeighboursAreReadWithOneRequest(t *testing.T) {
	t.Parallel()
	target := newMemory()
	samples := few()
	fill(t, open(t, target), samples...)
	r := open(t, target)
	target.calls = nil
	wanted := ids(samples)
	slices.Reverse(wanted)
	n := 0
	must.Do(t, r.Read(ctx, append(wanted, wanted...), func(repo.Blob) error { n++; return nil }))
	must.Hold(t, n == len(samples) && len(target.calls) == 1, "%d blobs, calls %q", n, target.calls)
	stop := errors.New("enough")
	must.Is(t, "read", r.Read(ctx, wanted, func(repo.Blob) error { return stop }), stop)
}

func TestUnknownBlobIsNotFound(t *testing.T) {
	t.Parallel()
	target, r := openOn(t, newMemory())
	must.Fail(r.Get(ctx, repo.ID{1}))(t, "get", amber.KindNotFound)
	fill(t, r, few()...)
	target.calls = nil
	err := r.Read(ctx, append(ids(few()), repo.ID{1}), func(repo.Blob) error { t.Error("called"); return nil })
	must.Hold(t, amber.KindOf(err) == amber.KindNotFound && len(target.calls) == 0, "read: %v after %q", err, target.calls)
	if _, ok := r.Find(repo.ID{1}); ok || r.Has(repo.ID{1}) {
		t.Error("found what is not there")
	}
}

func TestWriterRefuses(t *testing.T) {
	t.Parallel()
	r := open(t, newMemory())
	w := writer(t, r)
	page := make([]byte, 512)
	tests := map[string]func() error{
		"kind 0":         func() error { _, err := w.Put(ctx, 0, nil); return err },
		"kind 7":         func() error { _, err := w.Put(ctx, 7, nil); return err },
		"pages":          func() error { _, err := w.Put(ctx, repo.KindPages, page); return err },
		"too long":       func() error { _, err := w.Put(ctx, repo.KindFile, make([]byte, repo.MaxBlobBytes+1)); return err },
		"no pages":       func() error { _, err := w.PutPages(ctx, 512, nil, nil); return err },
		"page size":      func() error { _, err := w.PutPages(ctx, 500, make([]repo.PageDigest, 1), page[:500]); return err },
		"small pages":    func() error { _, err := w.PutPages(ctx, 256, make([]repo.PageDigest, 2), page); return err },
		"missing digest": func() error { _, err := w.PutPages(ctx, 512, make([]repo.PageDigest, 2), page); return err },
	}
	for name, do := range tests {
		must.Kind(t, name, do(), amber.KindInvalid)
	}
	must.Kind(t, "flush after a refused blob", must.Err(w.Flush(ctx)), "")
	for range 2 {
		must.NoError(t, w.Close())
	}
	must.Fail(w.Put(ctx, repo.KindFile, nil))(t, "put after close", amber.KindInvalid)
	must.Fail(w.Flush(ctx))(t, "flush after close", amber.KindInvalid)
}

func TestWrongDigestsMakeABlobNobodyReads(t *testing.T) {
	t.Parallel()
	r := open(t, newMemory())
	w := writer(t, r)
	id := must.Get(w.PutPages(ctx, 512, make([]repo.PageDigest, 1), make([]byte, 512)))(t)
	must.Get(w.Flush(ctx))(t)
	must.Fail(r.Get(ctx, id))(t, "get", amber.KindDamaged)
}

func TestCancelledWriterStoresNoIndex(t *testing.T) {
	t.Parallel()
	for _, size := range []int{300 << 10, 3 << 20} {
		target, r := openOn(t, newMemory())
		r.SetPackBytes(1 << 20)
		inner, cancel := context.WithCancel(ctx)
		target.onPut = func(string) { cancel() }
		w := r.NewWriter(inner)
		for i := range 50 {
			if _, err := w.Put(inner, repo.KindFile, noise(uint64(i), size)); err != nil {
				break
			}
		}
		must.Is(t, "flush", must.Err(w.Flush(inner)), context.Canceled)
		_ = w.Close()
		cancel()
		must.Hold(t, len(target.names("index/")) == 0, "an index object was written")
	}
}

func TestConcurrentWritersShareATarget(t *testing.T) {
	t.Parallel()
	target := newMemory()
	shared := open(t, target)
	shared.SetPackBytes(20_000)
	one := shared.NewWriter(ctx)
	defer one.Close()
	var all []sample
	var wg sync.WaitGroup
	for k := range 6 {
		w := one // three goroutines on one writer, three on one of their own
		if k%2 == 1 {
			r := open(t, target)
			r.SetPackBytes(10_000)
			w = r.NewWriter(ctx)
			defer w.Close()
		}
		var mine []sample
		for i := range 80 {
			mine = append(mine, sample{repo.KindFile, 0, text(uint64(i*(k/2+1)), 900)})
		}
		all = append(all, mine...)
		wg.Go(func() {
			for _, s := range mine {
				must.NoError(t, must.Err(s.put(ctx, w)))
			}
			must.NoError(t, must.Err(w.Flush(ctx)))
		})
	}
	wg.Wait()
	r := open(t, target)
	clean(t, r)
	slices.SortFunc(all, func(a, b sample) int { return a.id().Compare(b.id()) })
	readAll(t, r, slices.CompactFunc(all, func(a, b sample) bool { return a.id() == b.id() }))
}

func TestIDs(t *testing.T) {
	t.Parallel()
	id := repo.BlobID(repo.KindFile, []byte("hello"))
	if got, err := repo.ParseID(id.String()); err != nil || got != id || id.IsZero() {
		t.Errorf("parse: %v, %v", got, err)
	}
	var back repo.ID
	b, _ := id.MarshalText()
	if err := back.UnmarshalText(b); err != nil || back != id {
		t.Errorf("text: %v, %v", back, err)
	}
	for _, s := range []string{"", "00", strings.Repeat("g", 64), strings.ToUpper(id.String()), id.String() + "0"} {
		must.Fail(repo.ParseID(s))(t, fmt.Sprintf("parse %q", s), amber.KindInvalid)
	}
	seen := map[repo.ID]bool{}
	for k := repo.KindPages; k <= repo.KindManifest; k++ {
		seen[repo.BlobID(k, nil)] = true
		if s := k.String(); strings.HasPrefix(s, "kind") {
			t.Errorf("kind %d is named %s", k, s)
		}
	}
	must.Equal(t, "ids of the kinds", len(seen), 6)
	page := make([]byte, 512)
	d := []repo.PageDigest{repo.DigestPage(page), repo.DigestPage(page)}
	must.Hold(t, repo.PagesID(512, d) != repo.PagesID(1024, d), "page sizes share ids")
	// From sha256sum: printf 'amber blob 1\0\3hello', printf 'amber pages 1\0\0\2\0\0'.
	for _, v := range []struct {
		id   repo.ID
		want string
	}{
		{id, blobVector},
		{repo.PagesID(512, nil), pagesVector},
	} {
		must.Equal(t, "id", hex.EncodeToString(v.id[:]), v.want)
	}
}

const (
	blobVector  = "363cc2c5ed37d4a261011d6392806642086dc147245e7579fd81a0fef71ca5c6"
	pagesVector = "3f63870eb116287d6ec944aa0f509341c301b926c5e650bd08b4cf867889585c"
)
