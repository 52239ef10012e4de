package repo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// storeDatabase stores a database, handed over in pieces of odd lengths, and
// returns what names it and the base of the next one.
func storeDatabase(t testing.TB, w *repo.Writer, pageSize int, data []byte, base *repo.Base) *repo.Base {
	t.Helper()
	d := must.Get(w.NewDatabase(ctx, pageSize, base))(t)
	defer d.Abort()
	piece := make([]byte, 0, 37*pageSize)
	for rest := data; len(rest) > 0; {
		n := min(len(rest), cap(piece))
		piece = append(piece[:0], rest[:n]...)
		must.Do(t, d.Write(piece))
		clear(piece) // it was copied
		rest = rest[n:]
	}
	ref, sums, err := d.Finish(ctx)
	must.Do(t, err)
	if ref.PageSize != pageSize || ref.Bytes() != int64(len(data)) || !slices.Equal(sums, digests(pageSize, data)) {
		t.Fatalf("ref %+v, %d digests of %d bytes", ref, len(sums), len(data))
	}
	return &repo.Base{Ref: ref, Digests: sums}
}

// finish returns the error that ends a database.
func finish(d *repo.DatabaseWriter) error {
	_, _, err := d.Finish(ctx)
	return err
}

// freeze stores a database with one Flush.
func freeze(t testing.TB, r *repo.Repo, pageSize int, data []byte, base *repo.Base) (*repo.Base, repo.Report) {
	t.Helper()
	w := r.NewWriter(ctx)
	defer w.Close()
	b := storeDatabase(t, w, pageSize, data, base)
	return b, must.Get(w.Flush(ctx))(t)
}

// thaw reads a database, every page once.
func thaw(r *repo.Repo, ref repo.DatabaseRef) ([]byte, error) {
	got := make([]byte, ref.Bytes())
	seen := make([]bool, ref.Pages)
	err := r.ReadDatabase(ctx, ref, func(offset int64, pages []byte) error {
		for i := range len(pages) / ref.PageSize {
			n := int(offset)/ref.PageSize + i
			if seen[n] {
				return fmt.Errorf("page %d came twice", n)
			}
			seen[n] = true
		}
		copy(got[offset:], pages)
		return nil
	})
	if err == nil && slices.Contains(seen, false) {
		err = errors.New("a page did not come")
	}
	return got, err
}

// isDatabase fails when a database does not come back, in any way of reading.
func isDatabase(t testing.TB, r *repo.Repo, ref repo.DatabaseRef, want []byte) {
	t.Helper()
	got, err := thaw(r, ref)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("read: %v, %d bytes are not those that were stored", err, len(got))
	}
	at, err := r.OpenDatabase(ctx, ref, 1<<20)
	if err != nil || at.Size() != int64(len(want)) {
		t.Fatalf("open: %v", err)
	}
	got = make([]byte, len(want))
	if n, err := at.ReadAt(got, 0); err != nil || n != len(want) || !bytes.Equal(got, want) {
		t.Fatalf("read at: %v, %d bytes", err, n)
	}
	seen := map[repo.ID]bool{}
	must.Do(t, r.DatabaseBlobs(ctx, ref, func(id repo.ID, kind repo.Kind) error {
		l, ok := r.Find(id)
		if !ok || l.Kind != kind || seen[id] {
			t.Errorf("blob %v of %v: found %v, seen %v", id, kind, ok, seen[id])
		}
		seen[id] = true
		return nil
	}))
}

func TestDatabasesComeBack(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		for pageSize := repo.MinPageSize; pageSize <= repo.MaxPageSize; pageSize *= 2 {
			t.Run(fmt.Sprint(pageSize), func(t *testing.T) {
				t.Parallel()
				inChunk := 64 << 10 / pageSize
				for _, pages := range []int{0, 1, inChunk - 1, inChunk, inChunk + 1, 5*inChunk + 1} {
					r := open(t, newMemory())
					data := noise(uint64(pages), pages*pageSize)
					b, _ := freeze(t, r, pageSize, data, nil)
					isDatabase(t, r, b.Ref, data)
					clean(t, r)
				}
			})
		}
	})
}

// TestEverySnapshotOfADatabaseComesBack changes a database at random, in every
// way a database changes, and reads all its snapshots at the end.
func TestEverySnapshotOfADatabaseComesBack(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		rnd := rand.New(rand.NewPCG(seed, 0))
		r := open(t, newMemory())
		pageSize, data := 512, noise(1, 512*700)
		var base *repo.Base
		type snapshot struct {
			ref  repo.DatabaseRef
			data []byte
		}
		var all []snapshot
		longest := 0
		for range 80 {
			switch rnd.IntN(12) {
			case 0: // grows
				data = append(data, noise(rnd.Uint64(), pageSize*rnd.IntN(200))...)
			case 1: // is vacuumed
				data = data[:len(data)/pageSize*(rnd.IntN(6)+5)/10*pageSize]
			case 2: // a page comes back that was there before
				copy(data, noise(1, 512))
			}
			if rnd.IntN(30) == 0 && len(data)%4096 == 0 {
				pageSize = 512 + 4096 - pageSize // another page size
			}
			for range rnd.IntN(8) {
				if n := len(data) / pageSize; n > 0 {
					copy(data[rnd.IntN(n)*pageSize:], noise(rnd.Uint64(), pageSize))
				}
			}
			base, _ = freeze(t, r, pageSize, data, base)
			all = append(all, snapshot{base.Ref, bytes.Clone(data)})
			longest = max(longest, len(base.Ref.Maps))
		}
		must.Hold(t, longest >= 2 && longest <= 17, "at most %d maps", longest)
		for _, s := range all {
			isDatabase(t, r, s.ref, s.data)
		}
		clean(t, r)
	})
}

func TestOnlyChangedPagesAreStored(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		r := open(t, newMemory())
		const size = 4096
		data := noise(1, 2000*size)
		base, _ := freeze(t, r, size, data, nil)
		same, report := freeze(t, r, size, data, base)
		if diff := cmp.Diff(base.Ref, same.Ref); diff != "" || report.New != 0 {
			t.Errorf("an unchanged database: %+v, %s", report, diff)
		}
		for _, page := range []int{0, 1, 999, 1999} {
			data[page*size]++
		}
		changed, report := freeze(t, r, size, data, base)
		if len(changed.Ref.Maps) != 2 || report.New != 2 || report.Plain > 4*size+200 {
			t.Errorf("4 pages: %+v, %d maps", report, len(changed.Ref.Maps))
		}
		isDatabase(t, r, changed.Ref, data)

		shrunk, report := freeze(t, r, size, data[:1500*size], changed)
		if len(shrunk.Ref.Maps) != 3 || report.New != 1 || report.Plain > 200 {
			t.Errorf("500 pages fewer: %+v, %d maps", report, len(shrunk.Ref.Maps))
		}
		isDatabase(t, r, shrunk.Ref, data[:1500*size])
		grown, report := freeze(t, r, size, data, shrunk)
		must.Hold(t, report.Plain <= 501*size, "500 pages more: %+v", report)
		isDatabase(t, r, grown.Ref, data)
		isDatabase(t, r, base.Ref, noise(1, 2000*size))
	})
}

func TestMapsAreFoldedBehindSixteenChanges(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		r := open(t, newMemory())
		data := noise(1, 4096*600)
		base, _ := freeze(t, r, 4096, data, nil)
		for i := range 40 {
			data[(i*17%600)*4096]++
			base, _ = freeze(t, r, 4096, data, base)
			if want := (i+1)%17 + 1; len(base.Ref.Maps) != want {
				t.Fatalf("after %d changes there are %d maps, want %d", i+1, len(base.Ref.Maps), want)
			}
		}
		isDatabase(t, r, base.Ref, data)
	})
}

// TestDatabaseOverOneGiB has the page at 1 GiB that SQLite never uses, and one
// behind it.
func TestDatabaseOverOneGiB(t *testing.T) {
	t.Parallel()
	const size, pages = 65536, 1<<14 + 2
	r := open(t, newMemory())
	w := writer(t, r)
	d := must.Get(w.NewDatabase(ctx, size, nil))(t)
	page := make([]byte, size)
	for i := range pages {
		page[0] = byte(min(1, i/(pages-1))) // the last one is another
		must.Do(t, d.Write(page))
	}
	ref, _, err := d.Finish(ctx)
	must.Do(t, err)
	must.Equal(t, "new blobs", must.Get(w.Flush(ctx))(t).New, 3)
	var read, last int64
	err = r.ReadDatabase(ctx, ref, func(offset int64, pages []byte) error {
		read += int64(len(pages))
		if i := bytes.IndexByte(pages, 1); i >= 0 {
			last = offset + int64(i)
		}
		return nil
	})
	must.Hold(t, err == nil && read == size*pages && last == 1<<30+size, "%v, %d bytes, the last page at %d", err, read, last)
}

func TestABaseThatCannotBeReliedOnIsNotUsed(t *testing.T) {
	t.Parallel()
	data := noise(1, 512*400)
	changed := bytes.Clone(data)
	changed[0]++
	tests := []struct {
		name   string
		pages  int // size of a page
		change func(*memory, *repo.Base) (avoid bool)
		stored int // blobs
	}{
		{"digests of another database", 512, func(_ *memory, b *repo.Base) bool {
			b.Digests = slices.Clone(b.Digests)
			b.Digests[200][0]++
			return false
		}, 2},
		{"too few digests", 512, func(_ *memory, b *repo.Base) bool {
			b.Digests = b.Digests[:300]
			return false
		}, 2},
		{"no maps", 512, func(_ *memory, b *repo.Base) bool { b.Ref.Maps = nil; return false }, 2},
		{"another page size", 1024, func(*memory, *repo.Base) bool { return false }, 5},
		{"a map that is a chunk", 512, func(m *memory, b *repo.Base) bool {
			r, _ := repo.Open(ctx, m, nil)
			_ = r.DatabaseBlobs(ctx, b.Ref, func(id repo.ID, _ repo.Kind) error { b.Ref.Maps = []repo.ID{id}; return nil })
			return false
		}, 3}, // and the chunk is not believed any more
		{"a map that is not there", 512, func(_ *memory, b *repo.Base) bool {
			b.Ref.Maps = []repo.ID{{1}}
			return false
		}, 2},
		{"packs are gone", 512, func(m *memory, _ *repo.Base) bool {
			drop(m.objects, "packs/")
			return false
		}, 5},
		{"packs to avoid", 512, func(*memory, *repo.Base) bool { return true }, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target := newMemory()
			base, _ := freeze(t, open(t, target), 512, data, nil)
			avoid := map[repo.ID]bool{}
			if tt.change(target, base) {
				l, _ := open(t, target).Find(base.Ref.Maps[0])
				avoid[l.Pack] = true
			}
			r := open(t, target)
			w := writer(t, r)
			w.Avoid(avoid)
			b := storeDatabase(t, w, tt.pages, changed, base)
			if report := must.Get(w.Flush(ctx))(t); report.New != tt.stored || len(b.Ref.Maps) != 1 {
				t.Errorf("%+v, %d maps", report, len(b.Ref.Maps))
			}
			for id := range avoid {
				delete(target.objects, "packs/"+id.String()[:2]+"/"+id.String()+".pack")
			}
			isDatabase(t, open(t, target), b.Ref, changed)
		})
	}
}

// TestADamagedMapIsStoredAgain stores a database whose only map is damaged on
// the target: the same map once more.
func TestADamagedMapIsStoredAgain(t *testing.T) {
	t.Parallel()
	target := newMemory()
	data := noise(1, 512*400)
	r := open(t, target)
	base, _ := freeze(t, r, 512, data, nil)
	l, _ := r.Find(base.Ref.Maps[0])
	name := "packs/" + l.Pack.String()[:2] + "/" + l.Pack.String() + ".pack"
	target.objects[name][l.Offset]++
	if _, err := thaw(r, base.Ref); amber.KindOf(err) != amber.KindDamaged {
		t.Fatalf("got %v", err)
	}
	again, report := freeze(t, r, 512, data, base)
	must.Hold(t, report.New == 1 && again.Ref.Maps[0] == base.Ref.Maps[0], "%+v", report)
	isDatabase(t, open(t, target), base.Ref, data)
}

// TestAPackIsNotStoredInThePlaceOfOneToAvoid stores the very blobs again that
// lie in a pack which will be deleted.
func TestAPackIsNotStoredInThePlaceOfOneToAvoid(t *testing.T) {
	t.Parallel()
	target, r := openOn(t, newMemory())
	avoid := map[repo.ID]bool{}
	for range 3 {
		w := r.NewWriter(ctx)
		w.Avoid(avoid)
		putAll(t, w, few()...)
		report, err := w.Flush(ctx)
		written := w.Written()
		if err != nil || report.New != len(few()) || len(written) != 1 || avoid[written[0]] {
			t.Fatalf("%v, %+v, %v", err, report, written)
		}
		_ = w.Close()
		for id := range avoid {
			delete(target.objects, "packs/"+id.String()[:2]+"/"+id.String()+".pack")
		}
		readAll(t, open(t, target), few())
		avoid[written[0]] = true
	}
	must.Equal(t, "packs", len(target.names("packs/")), 1)
}

func TestALostPackThatIsStoredAgainIsThere(t *testing.T) {
	t.Parallel()
	target := newMemory()
	fill(t, open(t, target), few()...)
	delete(target.objects, target.names("packs/")[0])
	r := open(t, target)
	fill(t, r, few()...)
	for _, id := range ids(few()) {
		must.Equal(t, fmt.Sprintf("%v is there", id), r.Has(id), true)
	}
}

func TestDatabaseWriterRefuses(t *testing.T) {
	t.Parallel()
	r := open(t, newMemory())
	w := writer(t, r)
	for _, size := range []int{0, -1, 256, 513, 1000, 131072} {
		must.Fail(w.NewDatabase(ctx, size, nil))(t, fmt.Sprintf("pages of %d", size), amber.KindInvalid)
	}
	d := must.Get(w.NewDatabase(ctx, 512, nil))(t)
	must.Kind(t, "part of a page", d.Write(make([]byte, 700)), amber.KindInvalid)
	must.NoError(t, finish(d))
	must.Kind(t, "behind the end", d.Write(make([]byte, 512)), amber.KindInvalid)
	must.Kind(t, "finish twice", finish(d), amber.KindInvalid)
	d.Abort()
	d.Abort()
}

func TestDatabaseWriterReportsThePackThatCannotBeStored(t *testing.T) {
	t.Parallel()
	target, r := openOn(t, newMemory())
	r.SetPackBytes(100_000)
	target.fail = func(int) error { return errCut }
	w := writer(t, r)
	d, err := w.NewDatabase(ctx, 512, nil)
	must.Do(t, err)
	defer d.Abort()
	for i := 0; err == nil && i < 1000; i++ {
		err = d.Write(noise(uint64(i), 64<<10))
	}
	must.Is(t, "write", err, errCut)
	must.Is(t, "finish", finish(d), errCut)
}

func TestACancelledDatabaseEnds(t *testing.T) {
	t.Parallel()
	r := open(t, newMemory())
	w := writer(t, r)
	during, cancel := context.WithCancel(ctx)
	d, err := w.NewDatabase(during, 512, nil)
	must.Do(t, err)
	cancel()
	for err == nil {
		err = d.Write(make([]byte, 512))
	}
	must.Is(t, "write", err, context.Canceled)
	must.Is(t, "finish", finish(d), context.Canceled)
	aborted := must.Get(w.NewDatabase(ctx, 512, nil))(t)
	_ = aborted.Write(make([]byte, 512*2000))
	aborted.Abort()
	must.Kind(t, "finish after abort", finish(aborted), amber.KindInvalid)
	// The writer itself goes on.
	storeDatabase(t, w, 512, noise(1, 512*10), nil)
	must.NoError(t, must.Err(w.Flush(ctx)))
}

func TestReadDatabaseStopsWithItsCaller(t *testing.T) {
	t.Parallel()
	r := open(t, newMemory())
	b, _ := freeze(t, r, 512, noise(1, 512*128*50), nil)
	calls := 0
	err := r.ReadDatabase(ctx, b.Ref, func(int64, []byte) error {
		if calls++; calls == 20 {
			return errCut
		}
		return nil
	})
	must.Hold(t, err == errCut && calls == 20, "%v after %d calls", err, calls)
	during, cancel := context.WithCancel(ctx)
	calls = 0
	err = r.ReadDatabase(during, b.Ref, func(int64, []byte) error {
		calls++
		cancel()
		return nil
	})
	must.Hold(t, errors.Is(err, context.Canceled) && calls <= 20, "%v after %d calls", err, calls)
}
