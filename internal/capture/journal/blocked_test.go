package journal_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestAnEntryKnowsThatItWaits for another process, and when that is over.
func TestAnEntryKnowsThatItWaits(t *testing.T) {
	t.Parallel()
	dir, j := newSpool(t, journal.Options{})
	var told []bool
	blocked := make(chan struct{}, 2)
	e := entry(1)
	e.Blocked = func(b bool) {
		told = append(told, b)
		blocked <- struct{}{}
	}
	mustAppend(t, j, one, e)
	must.Equal(t, "told although nobody was there", len(told), 0)
	lock := must.Get(fsx.TryLock(filepath.Join(dir, string(one.Key()), "lock"), fsx.Exclusive))(t)
	done := make(chan error)
	go func() {
		_, err := j.Append(context.Background(), one, e)
		done <- err
	}()
	<-blocked
	must.Do(t, lock.Unlock())
	must.Do(t, <-done)
	must.Equal(t, "told", told, []bool{true, false})
}
