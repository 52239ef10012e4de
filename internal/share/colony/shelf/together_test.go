package shelf_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/internal/test/must"
)

// together runs fn in n goroutines at once.
func together(n int, fn func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { fn(i) })
	}
	wg.Wait()
}

// testOneWins lets two handles, as two processes have them, put one name under the
// same condition: one succeeds, and its content is there.
func testOneWins(t *testing.T, p place) {
	t.Parallel()
	dir := p.made(t)
	handles := []tester{p.open(t, dir), p.open(t, dir)}
	condition := absent
	for round := range 20 {
		errs := make([]error, 4)
		together(len(errs), func(i int) {
			_, errs[i] = handles[i%2].PutIf(t.Context(), "one name", fmt.Sprint(round, " by ", i), condition)
		})
		winner := -1
		for i, err := range errs {
			switch {
			case err == nil && winner >= 0:
				t.Fatalf("round %d: %d and %d won", round, winner, i)
			case err == nil:
				winner = i
			case !errors.Is(err, shelf.ErrChanged):
				t.Fatal(err)
			}
		}
		if winner < 0 {
			t.Fatalf("round %d: nobody won", round)
		}
		content := fmt.Sprint(round, " by ", winner)
		handles[0].holds("one name", content)
		condition = colony.Condition{Version: sha(content)}
	}
}

// testQuotaHoldsTogether lets many put at once what fits only half.
func testQuotaHoldsTogether(t *testing.T, p place) {
	t.Parallel()
	dir := p.made(t)
	limit := func(o *shelf.Options) { o.Limits = shelf.Limits{Quota: 40} }
	handles := []tester{p.open(t, dir, limit), p.open(t, dir, limit)}
	var done atomic.Int64
	together(8, func(i int) {
		_, err := handles[i%2].Put(t.Context(), fmt.Sprint(i), strings.Repeat("x", 10))
		if err == nil {
			done.Add(1)
		} else if amber.KindOf(err) != amber.KindQuota {
			t.Error(err)
		}
	})
	st, err := handles[0].Status(t.Context())
	want := colony.Status{QuotaBytes: 40, UsedBytes: 40, FileCount: 4}
	if diff := cmp.Diff(want, st); diff != "" || err != nil || done.Load() != 4 {
		t.Errorf("%d done, %v; status (-want +got):\n%s", done.Load(), err, diff)
	}
}

// hookFS calls hook after a folder was read.
type hookFS struct {
	fsx.FS
	hook func(dir string)
}

func (h hookFS) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := h.FS.ReadDir(name)
	h.hook(filepath.Base(name))
	return list, err
}

// twoShards returns two names whose files lie in different folders, in that order.
func twoShards() (low, high string) {
	low, high = "a.md", "b.md"
	if sha(low)[:2] > sha(high)[:2] {
		low, high = high, low
	}
	return low, high
}

// TestListingIsOneMoment moves a file while it is listed from where the listing has
// not looked yet to where it has looked: once, and so often that the listing has to
// make the writers wait. The file is never in neither place.
func TestListingIsOneMoment(t *testing.T) {
	t.Parallel()
	low, high := twoShards()
	for _, moves := range []int{1, 2, 3, 8} {
		t.Run(fmt.Sprint(moves), func(t *testing.T) {
			t.Parallel()
			dir := madeHome(t)
			mover := open(t, dir)
			at, other := high, low
			mover.put(low, "") // for its folder
			mover.put(high, "the text")
			must.Do(t, mover.Delete(t.Context(), low))
			moved := 0
			reader := open(t, dir, func(o *shelf.Options) {
				o.FS = hookFS{fsx.OS(), func(folder string) {
					if folder != sha(low)[:2] || moved == moves {
						return
					}
					moved++
					must.NoError(t, must.Err(mover.Move(t.Context(), at, other, false)))
					at, other = other, at
				}}
			})
			got := reader.names()
			must.Equal(t, "names", got, []string{at})
			must.Equal(t, "moved", moved, moves)
		})
	}
}

// TestReadersSeeWholeFiles lists and reads while a file is moved round and
// replaced: whatever is found is whole.
func TestReadersSeeWholeFiles(t *testing.T) {
	t.Parallel()
	dir := madeHome(t)
	mover, reader := open(t, dir), open(t, dir)
	texts := []string{big("one text"), big("and another"), ""}
	mover.put("0", texts[0])
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			_, err := mover.Move(ctx, fmt.Sprint(i%7), fmt.Sprint((i+1)%7), false)
			if err == nil {
				_, err = mover.Put(ctx, fmt.Sprint((i+1)%7), texts[i%3])
			}
			if err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	})
	for range 20 {
		list, err := reader.List(t.Context(), "")
		// Between the put and the removal of a move it is in both places.
		if err != nil || len(list) == 0 || len(list) > 2 {
			t.Fatalf("got %+v, %v", list, err)
		}
		f, err := reader.Get(t.Context(), list[0].Name)
		if err != nil && amber.KindOf(err) != amber.KindNotFound || err == nil && !slices.Contains(texts, f.Content) {
			t.Fatalf("got %d bytes, %v", len(f.Content), err)
		}
	}
	cancel()
	wg.Wait()
}

// TestEndedContext changes nothing and says so.
func TestEndedContext(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	s.put("a", "one")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for what, err := range map[string]error{
		"status": must.Err(s.Status(ctx)), "list": must.Err(s.List(ctx, "")), "get": must.Err(s.Get(ctx, "a")), "put": must.Err(s.Put(ctx, "a", "two")),
		"delete": s.Delete(ctx, "a"), "append": must.Err(s.Append(ctx, "a", "x")), "move": must.Err(s.Move(ctx, "a", "b", true)),
		"search": third(s.Search(ctx, "one", 1, 0)), "folders": must.Err(s.Folders(ctx)),
	} {
		must.Kind(t, what, err, amber.KindUnreachable)
	}
	s.holds("a", "one")
}
