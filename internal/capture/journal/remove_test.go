package journal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

func mustRemove(t *testing.T, j *journal.Journal, drained int64, want bool) {
	t.Helper()
	must.Get(j.Clear(context.Background(), one.Key(), drained))(t)
	must.Equal(t, "removed", must.Get(j.Remove(context.Background(), one.Key(), drained))(t), want)
}

func TestRemoveLeavesWhatIsNotDrained(t *testing.T) {
	t.Parallel()
	dir, j := newSpool(t, journal.Options{})
	fill(t, j, one, 3)
	mustRemove(t, j, 2, false)
	if frames, _, err := readAll(j, one.Key(), 2); err != nil || len(frames) != 1 {
		t.Errorf("%d frames, %v", len(frames), err)
	}
	must.Do(t, j.Quarantine(t.Context(), one.Key(), 3, []byte("x"), "no use"))
	mustRemove(t, j, 3, false)
	must.Do(t, j.Discard(t.Context(), one.Key(), "00000000000000000003.entry"))
	must.Kind(t, "discarded twice", j.Discard(t.Context(), one.Key(), "00000000000000000003.entry"), amber.KindNotFound)
	must.Kind(t, "discarded a path", j.Discard(t.Context(), one.Key(), "../meta"), amber.KindNotFound)
	put(t, fsx.OS(), filepath.Join(dir, string(one.Key()), "notes.txt"), []byte("mine"))
	mustRemove(t, j, 3, false)
	must.Do(t, os.Remove(filepath.Join(dir, string(one.Key()), "notes.txt")))
	mustRemove(t, j, 3, true)
	mustRemove(t, j, 3, false)
	must.Is(t, "the folder", must.Err(os.Stat(filepath.Join(dir, string(one.Key())))), os.ErrNotExist)
}

// TestAFolderMadeAgainHasAnotherOrigin, and sequences that begin again.
func TestAFolderMadeAgainHasAnotherOrigin(t *testing.T) {
	t.Parallel()
	j := open(t, spoolDir(t), journal.Options{})
	fill(t, j, one, 3)
	before := must.Get(j.Origin(one.Key()))(t)
	must.Equal(t, "session of the origin", before.Session, one)
	fill(t, j, one, 1)
	must.Equal(t, "origin", must.Get(j.Origin(one.Key()))(t), before)
	mustRemove(t, j, 4, true)
	must.Fail(j.Origin(one.Key()))(t, "of a folder that is gone", amber.KindNotFound)
	must.Equal(t, "sequence", mustAppend(t, j, one, entry(1)), 1)
	if again, err := j.Origin(one.Key()); err != nil || again.Cursor == before.Cursor {
		t.Errorf("%+v again, %v", again, err)
	}
}

// TestRemovedUnderAppends removes the session as often as it can while others
// append. Each incarnation is read by the one who removes it, so every
// acknowledged entry must be seen once.
func TestRemovedUnderAppends(t *testing.T) {
	t.Parallel()
	dir := spoolDir(t)
	const writers, each = 4, 150
	var wg sync.WaitGroup
	for w := range writers {
		j := open(t, dir, journal.Options{}) // as another process would have it
		wg.Go(func() {
			for i := range each {
				must.NoError(t, must.Err(j.Append(context.Background(), one, journal.Entry{Payload: fmt.Appendf(nil, "%d %d", w, i)})))
			}
		})
	}
	over := make(chan struct{})
	go func() { wg.Wait(); close(over) }()
	seen, removals := map[string]int{}, 0
	j := open(t, dir, journal.Options{})
	cursors := map[string]int64{}
	drain := func() {
		o, err := j.Origin(one.Key())
		if amber.KindOf(err) == amber.KindNotFound {
			return // it is just being made
		}
		must.Do(t, err)
		if _, err := j.Read(context.Background(), one.Key(), cursors[o.Cursor], func(f journal.Frame) error {
			seen[string(f.Payload)]++
			cursors[o.Cursor] = f.Seq
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		must.Get(j.Clear(context.Background(), one.Key(), cursors[o.Cursor]))(t)
		removed := must.Get(j.Remove(context.Background(), one.Key(), cursors[o.Cursor]))(t)
		if removed {
			removals++
		}
	}
	for running := true; running; {
		select {
		case <-over:
			running = false
		default:
		}
		drain()
	}
	drain()
	for payload, n := range seen {
		must.Equal(t, fmt.Sprintf("times %q was seen", payload), n, 1)
	}
	if len(seen) != writers*each || removals == 0 {
		t.Errorf("%d entries, %d removals", len(seen), removals)
	}
	t.Logf("%d removals", removals)
}
