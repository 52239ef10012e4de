package targettest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

func objectChecks() []check {
	return []check{
		{"put/comes-back", putComesBack},
		{"put/empty", putEmpty},
		{"put/large", putLarge},
		{"put/twice", putTwice},
		{"put/wrong-size-leaves-nothing", putWrongSize},
		{"put/reader-error-leaves-nothing", putReaderError},
		{"put/one-of-many-creates", putTogether},
		{"get/ranges", getRanges},
		{"get/missing", getMissing},
		{"list/order", listOrder},
		{"list/prefix", listPrefix},
		{"list/what-it-tells", listTells},
		{"list/ends-with-the-callers-error", listEnds},
		{"delete/removes", deleteRemoves},
		{"delete/missing-is-no-error", deleteMissing},
		{"names/bad-ones-are-refused", badNames},
		{"context/ended-before", contextEnded},
		{"context/ends-during-put", contextEndsDuringPut},
		{"durable/objects-are-there-after-opening-again", objectsLast},
	}
}

func putComesBack(w *world) {
	hold(w.put("a", "one"), "put of a new object says that it was there")
	hold(w.put("b/c/d-1.x_y", "two"), "put of a new object says that it was there")
	w.holds("a", "one")
	w.holds("b/c/d-1.x_y", "two")
}

func putEmpty(w *world) {
	hold(w.put("empty", ""), "put of a new object says that it was there")
	w.holds("empty", "")
	equal(w.list(""), []string{"empty"}, "list")
	_, err := w.target.Put(w.ctx, w.base+"more", 0, reader("x"))
	refused(err, amber.KindInvalid, "put of one byte as an empty object")
	w.missing("more")
}

// putLarge streams: neither side ever holds the object.
func putLarge(w *world) {
	const size = 5 << 20
	sent, got := sha256.New(), sha256.New()
	source := io.TeeReader(io.LimitReader(&noise{}, size), sent)
	created := must(w.target.Put(w.ctx, w.base+"large", size, source))
	hold(created, "put of a new object says that it was there")
	r := must(w.target.Get(w.ctx, w.base+"large", 0, -1))
	n, err := io.Copy(got, r)
	must0(errors.Join(err, r.Close()))
	hold(n == size && string(got.Sum(nil)) == string(sent.Sum(nil)), "%d bytes come back for %d, or others", n, size)
}

// noise is an endless reader of bytes that do not repeat early.
type noise struct{ state uint32 }

func (s *noise) Read(p []byte) (int, error) {
	for i := range p {
		s.state = s.state*1664525 + 1013904223
		p[i] = byte(s.state >> 24)
	}
	return len(p), nil
}

func putTwice(w *world) {
	hold(w.put("a", "one"), "the first put says that it was there")
	hold(!w.put("a", "one"), "the second put says that it is new")
	// An object that is there keeps its bytes, also when a later put has other bytes.
	if created, err := w.target.Put(w.ctx, w.base+"a", 3, reader("two")); err == nil {
		hold(!created, "a put of other bytes says that it is new")
	}
	w.holds("a", "one")
	must0(w.target.Delete(w.ctx, w.base+"a"))
	hold(w.put("a", "three"), "the put after a delete says that it was there")
	w.holds("a", "three")
}

func putWrongSize(w *world) {
	for i, size := range []int64{-1, 0, 1, 1999, 2001, 1 << 40} {
		name := fmt.Sprint("wrong-", i)
		created, err := w.target.Put(w.ctx, w.base+name, size, reader(strings.Repeat("x", 2000)))
		refused(err, amber.KindInvalid, "put of 2000 bytes as %d", size)
		hold(!created, "a refused put says that it is new")
		w.missing(name)
		hold(w.put(name, "right"), "the put after a refused one says that it was there")
		w.holds(name, "right")
	}
}

var errReader = errors.New("the reader's own error")

func putReaderError(w *world) {
	for i, given := range []int{0, 1, 1999, 2000} {
		name := fmt.Sprint("broken-", i)
		r := io.MultiReader(reader(strings.Repeat("x", given)), broken{})
		created, err := w.target.Put(w.ctx, w.base+name, 2000, r)
		hold(errors.Is(err, errReader) && !created, "put with a reader that fails after %d bytes: got %v, %v", given, created, err)
		w.missing(name)
	}
}

// broken is a reader that fails.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errReader }

func putTogether(w *world) {
	for round := range 20 {
		name := fmt.Sprint("race-", round)
		data := strings.Repeat(name, 500)
		var created atomic.Int32
		together(6, func(int) {
			if w.put(name, data) {
				created.Add(1)
			}
			w.holds(name, data)
		})
		hold(created.Load() == 1, "%d of 6 writers made the object, want 1", created.Load())
	}
}

func getRanges(w *world) {
	w.put("a", "0123456789")
	w.put("empty", "")
	for _, tt := range []struct {
		offset, length int64
		want           string
	}{
		{0, -1, "0123456789"},
		{0, 10, "0123456789"},
		{0, 0, ""},
		{3, 4, "3456"},
		{3, -1, "3456789"},
		{3, -7, "3456789"},
		{9, 1, "9"},
		{10, 0, ""},
		{10, -1, ""},
	} {
		got := w.get("a", tt.offset, tt.length)
		hold(got == tt.want, "%d bytes from %d: got %q, want %q", tt.length, tt.offset, got, tt.want)
	}
	hold(w.get("empty", 0, 0) == "", "an empty object has bytes")
	for _, bad := range [][2]int64{{-1, 1}, {-1, -1}, {0, 11}, {10, 1}, {11, 0}, {11, -1}, {1, math.MaxInt64}, {math.MaxInt64, math.MaxInt64}} {
		r, err := w.target.Get(w.ctx, w.base+"a", bad[0], bad[1])
		if err == nil {
			_ = r.Close()
		}
		refused(err, amber.KindInvalid, "%d bytes from %d of 10", bad[1], bad[0])
	}
}

func getMissing(w *world) {
	w.put("a/b", "one")
	for _, name := range []string{"none", "none/none", "a/none", "a", "a/b/none"} {
		w.missing(name)
	}
}

// tricky are names in the order of their bytes, which is not the order of
// a walk through folders: the dash and the dot stand before the slash, digits
// after it.
var tricky = []string{"a-b", "a.b", "a/a", "a/b-c", "a/b/c", "a0", "ab/c", "b", "b_", "ba"}

func listOrder(w *world) {
	for _, i := range []int{5, 0, 9, 3, 7, 1, 8, 2, 6, 4} {
		w.put(tricky[i], "x")
	}
	equal(w.list(""), tricky, "list")
	var all []string
	must0(w.target.List(w.ctx, "", func(o target.Object) error {
		all = append(all, o.Name)
		return nil
	}))
	hold(slices.IsSorted(all), "the list of everything is not in the order of names")
	hold(len(all) >= len(tricky), "the list of everything has %d names", len(all))
}

func listPrefix(w *world) {
	for _, name := range tricky {
		w.put(name, "x")
	}
	for _, prefix := range []string{"a", "a/", "a/b", "a/b/", "a/b/c", "a/b/c/", "ab", "b", "c", "A", "/", "../", "a//", "a/../b"} {
		var want []string
		for _, name := range tricky {
			if strings.HasPrefix(name, prefix) {
				want = append(want, name)
			}
		}
		equal(w.list(prefix), want, "list of "+prefix)
	}
}

func listTells(w *world) {
	w.put("a", "one")
	w.put("b/c", "")
	var got []target.Object
	must0(w.target.List(w.ctx, w.base, func(o target.Object) error {
		got = append(got, o)
		return nil
	}))
	hold(len(got) == 2 && got[0].Size == 3 && got[1].Size == 0, "the list is %+v", got)
	for _, o := range got {
		hold(!o.Modified.IsZero(), "the list does not say when %s was modified", o.Name)
	}
}

func listEnds(w *world) {
	for _, name := range tricky {
		w.put(name, "x")
	}
	calls := 0
	stop := errors.New("stop")
	err := w.target.List(w.ctx, w.base, func(target.Object) error {
		if calls++; calls == 4 {
			return stop
		}
		return nil
	})
	hold(errors.Is(err, stop) && calls == 4, "after %d calls the list returned %v", calls, err)
}

func deleteRemoves(w *world) {
	w.put("a", "one")
	w.put("b/c", "two")
	w.put("b/d", "three")
	must0(w.target.Delete(w.ctx, w.base+"a"))
	must0(w.target.Delete(w.ctx, w.base+"b/c"))
	w.missing("a")
	w.missing("b/c")
	w.holds("b/d", "three")
	equal(w.list(""), []string{"b/d"}, "list")
	w.reopen()
	equal(w.list(""), []string{"b/d"}, "list after opening again")
}

func deleteMissing(w *world) {
	w.put("a/b", "one")
	for _, name := range []string{"none", "none/none", "a/none", "a", "a/b/none"} {
		must0(w.target.Delete(w.ctx, w.base+name))
	}
	w.holds("a/b", "one")
}

// wrong are names that no object may have.
var wrong = []string{
	"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/..", ".hidden", "a/.hidden",
	"A", "a b", "a\x00", "a\\b", "a:b", "ä", "a\n", "a\xff", "*", strings.Repeat("a", target.MaxObjectNameBytes+1),
}

func badNames(w *world) {
	for _, name := range wrong {
		_, err := w.target.Put(w.ctx, name, 1, reader("x"))
		refused(err, amber.KindInvalid, "put of %q", name)
		r, err := w.target.Get(w.ctx, name, 0, -1)
		if err == nil {
			_ = r.Close()
		}
		refused(err, amber.KindInvalid, "get of %q", name)
		refused(w.target.Delete(w.ctx, name), amber.KindInvalid, "delete of %q", name)
	}
	long := strings.Repeat("n", target.MaxObjectNameBytes-len(w.base))
	w.put(long, "x")
	w.holds(long, "x")
}

func contextEnded(w *world) {
	w.put("a", "one")
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	_, err := w.target.Put(ctx, w.base+"b", 1, reader("x"))
	refused(err, amber.KindUnreachable, "put")
	r, err := w.target.Get(ctx, w.base+"a", 0, -1)
	if err == nil {
		_ = r.Close()
	}
	refused(err, amber.KindUnreachable, "get")
	refused(w.target.Delete(ctx, w.base+"a"), amber.KindUnreachable, "delete")
	err = w.target.List(ctx, w.base, func(target.Object) error { return nil })
	refused(err, amber.KindUnreachable, "list")
	w.missing("b")
	w.holds("a", "one")
}

func contextEndsDuringPut(w *world) {
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	const size = 5 << 20
	r := io.MultiReader(io.LimitReader(&noise{}, size/2), trigger(cancel), io.LimitReader(&noise{}, size/2))
	created, err := w.target.Put(ctx, w.base+"a", size, r)
	refused(err, amber.KindUnreachable, "put")
	hold(!created, "a put that failed says that it is new")
	w.missing("a")
}

// trigger is an empty reader that calls a function when its turn comes.
type trigger func()

func (f trigger) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

func objectsLast(w *world) {
	for _, name := range tricky {
		w.put(name, "content of "+name)
	}
	w.reopen()
	equal(w.list(""), tricky, "list after opening again")
	for _, name := range tricky {
		w.holds(name, "content of "+name)
		hold(!w.put(name, "content of "+name), "put says that %s is new", name)
	}
}
