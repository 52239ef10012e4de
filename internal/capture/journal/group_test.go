package journal_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// crowd appends from many goroutines and returns the payload of every sequence.
func crowd(t *testing.T, writers, each int, s journal.Session, journals ...*journal.Journal) map[int64]string {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	acked := map[int64]string{}
	for w := range writers {
		j := journals[w%len(journals)]
		wg.Go(func() {
			for i := range each {
				text := fmt.Sprintf("%s: writer %d, entry %d", s.ID, w, i)
				seq, err := j.Append(context.Background(), s, journal.Entry{Payload: []byte(text)})
				mu.Lock()
				if err != nil || acked[seq] != "" {
					t.Errorf("%s: sequence %d, had by %q, %v", text, seq, acked[seq], err)
				}
				acked[seq] = text
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return acked
}

// checkCrowd checks that exactly these entries are there, each in its place.
func checkCrowd(t *testing.T, j *journal.Journal, s journal.Session, acked map[int64]string) {
	t.Helper()
	frames := mustRead(t, j, s.Key(), 0)
	must.Equal(t, "frames", len(frames), len(acked))
	for i, f := range frames {
		if f.Seq != int64(i+1) || acked[f.Seq] != string(f.Payload) {
			t.Errorf("frame %d has sequence %d and %q, acknowledged was %q", i, f.Seq, f.Payload, acked[f.Seq])
		}
	}
}

// TestCrowdSharesSyncs has 64 goroutines append to one session.
func TestCrowdSharesSyncs(t *testing.T) {
	t.Parallel()
	const writers, each = 64, 10
	dir := spoolDir(t)
	rec := &recorder{}
	j := open(t, dir, journal.Options{FS: errfs.Trace(fsx.OS(), rec.add), SegmentBytes: 20_000})
	checkCrowd(t, on(t, nil, dir), one, crowd(t, writers, each, one, j))
	syncs := rec.count("sync")
	t.Logf("%d syncs for %d entries", syncs, writers*each)
	if syncs >= writers*each/2 {
		t.Errorf("%d syncs for %d entries", syncs, writers*each)
	}
}

// TestCrowdsInManySessions has several sessions written to through two journals at once, as by two processes.
func TestCrowdsInManySessions(t *testing.T) {
	t.Parallel()
	dir := spoolDir(t)
	o := journal.Options{SegmentBytes: 4096}
	a, b := open(t, dir, o), open(t, dir, o)
	var wg sync.WaitGroup
	for i := range 4 {
		s := journal.Session{Host: "test", ID: amber.SessionID(fmt.Sprint("session ", i))}
		wg.Go(func() { checkCrowd(t, open(t, dir, o), s, crowd(t, 8, 8, s, a, b)) })
	}
	wg.Wait()
	reports, err := a.Verify(t.Context())
	if err != nil || len(reports) != 4 {
		t.Fatalf("verify: %+v, %v", reports, err)
	}
	for _, r := range reports {
		must.Equal(t, "verify: frames", r.Frames, 64)
		must.Equal(t, "verify: damage", r.Damage, journal.Damage{})
	}
}

// TestBatchIsBounded lets a known number of appends gather behind a sync.
func TestBatchIsBounded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		max, behind int
		size, syncs int
	}{
		{"one at a time", 1, 5, 10, 1 + 5},
		{"by number", 8, 20, 10, 1 + 3},
		{"all at once", 64, 20, 10, 1 + 1},
		{"by bytes", 64, 6, 600 << 10, 1 + 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gate := newGate(fsx.OS())
			j := open(t, spoolDir(t), journal.Options{FS: gate, MaxEntries: tt.max, SegmentBytes: 1 << 30})
			all := []*appending{start(t, j, one, entry(1))}
			gate.waitForSync()
			for range tt.behind {
				all = append(all, start(t, j, one, journal.Entry{Payload: make([]byte, tt.size)}))
			}
			waitFor(t, func() bool { return journal.Waiting(j, one.Key()) == tt.behind })
			gate.open()
			for _, a := range all {
				must.Get(a.result())(t)
			}
			must.Equal(t, "syncs", gate.syncs(), tt.syncs)
		})
	}
}

// TestFlushIntervalBoundsTheWait lets a crowd gather, and then one append come alone.
func TestFlushIntervalBoundsTheWait(t *testing.T) {
	t.Parallel()
	dir := spoolDir(t)
	synctest.Test(t, func(t *testing.T) {
		const interval = time.Hour
		gate := newGate(fsx.OS())
		j := open(t, dir, journal.Options{FS: gate, FlushInterval: interval})
		took := func(n int) time.Duration {
			begin := time.Now()
			var all []*appending
			for range n {
				all = append(all, start(t, j, one, entry(1)))
			}
			for _, a := range all {
				must.NoError(t, must.Err(a.result()))
			}
			return time.Since(begin)
		}
		first := start(t, j, one, entry(1))
		synctest.Wait() // it waits for its sync
		for range 3 {
			start(t, j, one, entry(2))
		}
		synctest.Wait()
		gate.open()
		must.Get(first.result())(t)
		journal.Settle(j)
		// The last sync served three: three that come back do not wait, two wait for the third, and not for ever.
		must.Equal(t, "wait of three", took(3), 0)
		must.Equal(t, "wait of two", took(2), interval)
		must.Equal(t, "wait of two", took(2), 0)
		must.Equal(t, "wait of one", took(1), interval)
		must.Equal(t, "wait of one", took(1), 0)
		time.Sleep(2 * interval)
		must.Equal(t, "sessions that are remembered", journal.Groups(j), 0)
	})
}

// holdLock takes the lock of the session, as another process would.
func holdLock(t *testing.T, dir string) *fsx.Lock {
	t.Helper()
	l := must.Get(fsx.AcquireLock(t.Context(), filepath.Join(dir, string(one.Key()), "lock"), fsx.Exclusive))(t)
	t.Cleanup(func() { _ = l.Unlock() })
	return l
}

// TestWhoGivesUpHarmsNobody ends the contexts of appends that wait for another process, the first of all too.
func TestWhoGivesUpHarmsNobody(t *testing.T) {
	t.Parallel()
	dir, j := newSpool(t, journal.Options{})
	mustAppend(t, j, one, entry(1))
	lock := holdLock(t, dir)
	var all []*appending
	for n := 2; n <= 5; n++ {
		all = append(all, start(t, j, one, entry(n)))
		waitFor(t, func() bool { return journal.Waiting(j, one.Key()) == len(all) })
	}
	for _, i := range []int{0, 2} {
		all[i].cancel()
		_, err := all[i].result() // although the lock is still held
		must.Kind(t, "the one that gave up", err, amber.KindUnreachable)
		must.Is(t, "", err, context.Canceled)
	}
	must.Do(t, lock.Unlock())
	for i, want := range map[int]int64{1: 2, 3: 3} {
		must.Equal(t, fmt.Sprintf("append %d: sequence", i), must.Get(all[i].result())(t), want)
	}
	checkTexts(t, mustRead(t, j, one.Key(), 0), "1 entry 1", "2 entry 3", "3 entry 5")
}

// TestEverybodyGivesUp lets every append that waits give up, and then another one comes.
func TestEverybodyGivesUp(t *testing.T) {
	t.Parallel()
	dir, j := newSpool(t, journal.Options{})
	mustAppend(t, j, one, entry(1))
	lock := holdLock(t, dir)
	for range 3 {
		a := start(t, j, one, entry(2))
		waitFor(t, func() bool { return journal.Waiting(j, one.Key()) == 1 })
		a.cancel()
		must.Fail(a.result())(t, "the one that gave up", amber.KindUnreachable)
	}
	waitFor(t, func() bool { return journal.Groups(j) == 0 }) // although the lock is still held
	last := start(t, j, one, entry(3))
	must.Do(t, lock.Unlock())
	must.Equal(t, "sequence", must.Get(last.result())(t), 2)
	checkTexts(t, mustRead(t, j, one.Key(), 0), "1 entry 1", "2 entry 3")
}

// TestEntryBeingWrittenIsWaitedFor ends the context of an append whose sync is under way.
func TestEntryBeingWrittenIsWaitedFor(t *testing.T) {
	t.Parallel()
	gate := newGate(fsx.OS())
	j := on(t, gate, spoolDir(t))
	a := start(t, j, one, entry(1))
	gate.waitForSync()
	a.cancel()
	gate.open()
	must.Equal(t, "sequence", must.Get(a.result())(t), 1)
}

// TestEndedContext changes nothing.
func TestEndedContext(t *testing.T) {
	t.Parallel()
	j := open(t, spoolDir(t), journal.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(j.Append(ctx, one, entry(1)))(t, "append", amber.KindUnreachable)
	must.Equal(t, "keys", len(must.Get(j.Keys())(t)), 0)
	mustAppend(t, j, one, entry(1))
	must.Fail(j.Append(ctx, one, entry(2)))(t, "append", amber.KindUnreachable)
	must.Fail(j.Read(ctx, one.Key(), 0, func(journal.Frame) error { return errors.New("read") }))(t, "read", amber.KindUnreachable)
	must.Fail(j.Clear(ctx, one.Key(), 1))(t, "clear", amber.KindUnreachable)
	must.Fail(j.Verify(ctx))(t, "verify", amber.KindUnreachable)
	must.Fail(j.Status(ctx, one.Key(), 0))(t, "status", amber.KindUnreachable)
	must.Fail(j.List(ctx, func(journal.Key) (int64, error) { return 0, nil }))(t, "list", amber.KindUnreachable)
	must.Kind(t, "start", j.Start(ctx, one), amber.KindUnreachable)
	checkTexts(t, mustRead(t, j, one.Key(), 0), "1 entry 1")
}

// TestBusySession waits for another process for no longer than it may.
func TestBusySession(t *testing.T) {
	t.Parallel()
	dir, j := newSpool(t, journal.Options{Wait: time.Millisecond})
	mustAppend(t, j, one, entry(1))
	lock := holdLock(t, dir)
	a, b := start(t, j, one, entry(2)), start(t, j, one, entry(2))
	for _, p := range []*appending{a, b} {
		must.Fail(p.result())(t, "append", amber.KindBusy)
	}
	_, _, err := readAll(j, one.Key(), 0)
	must.Kind(t, "read", err, amber.KindBusy)
	must.Fail(j.Clear(t.Context(), one.Key(), 1))(t, "clear", amber.KindBusy)
	if st, err := j.Status(t.Context(), one.Key(), 0); err != nil || st.Entries != 1 || st.LastError != "" {
		t.Errorf("status: %+v, %v", st, err)
	}
	must.Do(t, lock.Unlock())
	mustAppend(t, on(t, nil, dir), one, entry(2))
}

func checkTexts(t *testing.T, frames []journal.Frame, want ...string) {
	t.Helper()
	must.Equal(t, "frames", texts(frames), want)
}
