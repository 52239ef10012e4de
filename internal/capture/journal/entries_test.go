package journal_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// Each test of this file protects against a mistake that crash buffers make.

func TestTheFirstEntriesAreWritten(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 10; n++ {
		s := newSession(t, journal.Options{}, n)
		for seed := range uint64(5) {
			j := on(t, s.disk.CrashClone(newRand(seed)), s.dir)
			checkTexts(t, mustRead(t, j, one.Key(), 0), numbered(1, n)...)
		}
	}
}

func TestAnAppendWaitsForTheFlushInterval(t *testing.T) {
	t.Parallel()
	for _, interval := range []time.Duration{10 * time.Millisecond, time.Hour} {
		dir := spoolDir(t)
		synctest.Test(t, func(t *testing.T) {
			gate := newGate(fsx.OS())
			j := open(t, dir, journal.Options{FS: gate, FlushInterval: interval})
			start(t, j, one, entry(1))
			synctest.Wait()
			start(t, j, one, entry(2))
			start(t, j, one, entry(3))
			synctest.Wait()
			gate.open()
			journal.Settle(j)
			begin := time.Now()
			mustAppend(t, j, one, entry(4)) // there was company a moment ago
			must.Equal(t, "wait", time.Since(begin), interval)
		})
	}
}

func TestAnAppendWritesOnlyItsEntry(t *testing.T) {
	t.Parallel()
	const n, size = 300, 2000
	written := 0
	dir := lockedSpool(t)
	j := on(t, errfs.Trace(newDisk(t, dir), func(line string) {
		if f := strings.Fields(line); f[0] == "write" {
			var bytes int
			must.NoError(t, must.Err(fmt.Sscan(f[2], &bytes)))
			written += bytes
		}
	}), dir)
	for range n {
		mustAppend(t, j, one, journal.Entry{Payload: make([]byte, size)})
	}
	if most := n*(size+40) + 1000 + 16<<10; written > most { // with the reserve
		t.Errorf("%d bytes were written for %d of payload", written, n*size)
	}
}

func TestACutOffAppendLeavesEarlierEntries(t *testing.T) {
	t.Parallel()
	s := newSession(t, journal.Options{}, 9)
	rec := &recorder{}
	mustAppend(t, on(t, errfs.TraceRel(s.disk, filepath.Join(s.dir, string(one.Key())), rec.add), s.dir), one, entry(10))
	must.Equal(t, "calls of an append", rec.lines, []string{"write 000001.seg 48", "sync 000001.seg"})
	for n := 1; n <= 2; n++ {
		s := newSession(t, journal.Options{}, 9)
		s.disk.StopAt(s.disk.Calls() + n)
		must.Error(t, "an append that is cut off", must.Err(s.journal().Append(t.Context(), one, long(10))))
		for seed := range uint64(seeds) {
			frames := mustReadTorn(t, on(t, s.disk.CrashClone(newRand(seed)), s.dir))
			if len(frames) < 9 || !slices.Equal(texts(frames[:9]), numbered(1, 9)) {
				t.Fatalf("cut at call %d: read %v", n, texts(frames))
			}
		}
	}
}

// mustReadTorn reads a session that may end torn.
func mustReadTorn(t *testing.T, j *journal.Journal) []journal.Frame {
	t.Helper()
	frames, d, err := readAll(j, one.Key(), 0)
	if err != nil || d.Any() {
		t.Fatalf("read: %+v, %v", d, err)
	}
	return frames
}

func TestAcknowledgedEntriesAreSynced(t *testing.T) {
	t.Parallel()
	gate := newGate(fsx.OS())
	a := start(t, on(t, gate, spoolDir(t)), one, entry(1))
	gate.waitForSync()
	select {
	case <-a.done:
		t.Error("acknowledged before the sync")
	default:
	}
	gate.open()
	must.Get(a.result())(t)
	for _, rule := range []errfs.Rule{
		{Op: errfs.OpWrite, Err: syscall.ENOSPC}, {Op: errfs.OpWrite, Err: syscall.ENOSPC, Written: 20}, {Op: errfs.OpSync, Err: syscall.EIO},
	} {
		s := newSession(t, journal.Options{}, 2)
		_, err := on(t, errfs.Wrap(s.disk, rule), s.dir).Append(t.Context(), one, entry(3))
		must.Kind(t, fmt.Sprint(rule.Op, " fails"), err, amber.KindInternal)
		checkTexts(t, mustReadTorn(t, s.journal()), numbered(1, 2)...)
	}
}

func TestTheStatusNamesTheLastSync(t *testing.T) {
	t.Parallel()
	now := today()
	j := open(t, spoolDir(t), journal.Options{Clock: func() time.Time { return now }})
	for i := range 3 {
		now = now.Add(time.Minute)
		mustAppend(t, j, one, entry(i))
		if st, err := j.Status(t.Context(), one.Key(), 0); err != nil || st.LastSync != amber.At(now) {
			t.Errorf("after entry %d: %v, %v, want %v", i, st.LastSync, err, amber.At(now))
		}
	}
}

func TestAProcessPerEventKeepsEveryEvent(t *testing.T) {
	t.Parallel()
	dir := spoolDir(t)
	for i := range 12 {
		mustAppend(t, on(t, nil, dir), one, entry(i+1))
	}
	checkTexts(t, mustRead(t, on(t, nil, dir), one.Key(), 0), numbered(1, 12)...)
}

func TestConcurrentAppendsKeepEveryEntry(t *testing.T) {
	t.Parallel()
	dir := spoolDir(t)
	a, b := on(t, nil, dir), on(t, nil, dir)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for _, j := range []*journal.Journal{a, a, b} {
		wg.Go(func() {
			for {
				journal.Settle(j)
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	acked := crowd(t, 8, 10, one, a, b)
	close(done)
	wg.Wait()
	checkCrowd(t, on(t, nil, dir), one, acked)
}

func TestSessionsOfOneAgentAreApart(t *testing.T) {
	t.Parallel()
	dir := spoolDir(t)
	two := journal.Session{Host: one.Host, ID: "two"}
	var wg sync.WaitGroup
	for _, s := range []journal.Session{one, two} {
		wg.Go(func() { checkCrowd(t, on(t, nil, dir), s, crowd(t, 4, 10, s, on(t, nil, dir))) })
	}
	wg.Wait()
}

func TestAFreshProcessAppendsAfterACrash(t *testing.T) {
	t.Parallel()
	s := newSession(t, journal.Options{}, 3)
	s.disk.StopAt(s.disk.Calls() + 2) // killed between its write and its sync
	must.Error(t, "the append of a killed process", must.Err(s.journal().Append(t.Context(), one, entry(4))))
	s.disk.StopAt(0)
	mustAppend(t, s.journal(), one, entry(5)) // without any recovery
	checkTexts(t, mustRead(t, s.journal(), one.Key(), 0), append(numbered(1, 4), "5 entry 5")...)
}

func TestClearLeavesWhatWasNotStored(t *testing.T) {
	t.Parallel()
	s := newSession(t, journal.Options{}, 3)
	mustAppend(t, s.journal(), one, entry(4)) // after 1 to 3 were read and stored
	for range 2 {
		must.Get(s.journal().Clear(t.Context(), one.Key(), 3))(t)
		checkTexts(t, mustRead(t, s.journal(), one.Key(), 3), "4 entry 4")
	}
	bad := on(t, errfs.Wrap(s.disk, errfs.Rule{Op: errfs.OpRemove, Glob: "*.seg", Err: syscall.EIO}), s.dir)
	must.Fail(bad.Clear(t.Context(), one.Key(), 4))(t, "clear", amber.KindInternal)
	// A read behind the cursor does not return the entries that could not be removed.
	checkTexts(t, mustRead(t, s.journal(), one.Key(), 4))
}

func TestRecoveryCanBeRepeatedAndResumed(t *testing.T) {
	t.Parallel()
	s := newSession(t, journal.Options{SegmentBytes: 200}, 9)
	var stored []string
	var cursor int64
	for cursor < 9 { // three at a time, each time by a process that dies
		for _, f := range mustRead(t, s.journal(), one.Key(), cursor)[:3] {
			stored = append(stored, texts([]journal.Frame{f})...)
			cursor = f.Seq
		}
		must.Get(s.journal().Clear(t.Context(), one.Key(), cursor))(t)
	}
	must.Equal(t, "stored", stored, numbered(1, 9))
}

func TestABadByteCostsItsEntryAlone(t *testing.T) {
	t.Parallel()
	dir, j := newSpool(t, journal.Options{})
	two := journal.Session{Host: "test", ID: "two"}
	fill(t, j, one, 5)
	fill(t, j, two, 5)
	b := slurp(t, fsx.OS(), segment(dir, 1))
	b[headerSize+2*frameSize+34] ^= 1
	put(t, fsx.OS(), segment(dir, 1), b)
	frames, d, err := readAll(j, one.Key(), 0)
	if err != nil || d.Missing != 1 {
		t.Errorf("read: %+v, %v", d, err)
	}
	checkTexts(t, frames, append(numbered(1, 2), numbered(4, 5)...)...)
	checkTexts(t, mustRead(t, j, two.Key(), 0), numbered(1, 5)...)
}

func TestAMetaFileWithOtherFieldsIsRead(t *testing.T) {
	t.Parallel()
	s := newSession(t, journal.Options{}, 2)
	for _, content := range []string{
		`{"format":1,"host":"test","session_id":"one","started_at":"2026-01-02T03:04:05.678Z","later":{"added":[1]}}`,
		`{"format":1,"host":"test","session_id":"one"}`,
	} {
		put(t, s.disk, filepath.Join(s.dir, string(one.Key()), "meta"), []byte(content))
		if st, err := s.journal().Status(t.Context(), one.Key(), 0); err != nil || st.LastError != "" || st.SessionID != "one" || st.Entries != 2 {
			t.Errorf("%s: %+v, %v", content, st, err)
		}
	}
}

func TestEntriesAreOrderedBySequence(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]time.Duration{"clock stands still": 0, "clock goes back": -time.Second} {
		now := today()
		j := open(t, spoolDir(t), journal.Options{Clock: func() time.Time { now = now.Add(step); return now }})
		fill(t, j, one, 5)
		must.Equal(t, name+": read", texts(mustRead(t, j, one.Key(), 0)), numbered(1, 5))
	}
}

func TestANameNeverBecomesAPath(t *testing.T) {
	t.Parallel()
	dir, j := newSpool(t, journal.Options{})
	for _, host := range []string{"../../escaped", "/escaped", "a:b", "NUL", "host.", strings.Repeat("n", 200)} {
		s := journal.Session{Host: host, ID: "one"}
		fill(t, j, s, 1)
		if got, want := files(t, fsx.OS(), dir, string(s.Key())), []string{"000001.seg", "lock", "meta"}; !slices.Equal(got, want) {
			t.Errorf("%.20q: the folder holds %v", host, got)
		}
	}
	must.Equal(t, "beside the spool", files(t, fsx.OS(), filepath.Dir(dir)), []string{"spool"})
}

func TestSizesAreBounded(t *testing.T) {
	t.Parallel()
	j := open(t, spoolDir(t), journal.Options{MaxSessionBytes: 3000, MaxBytes: 5000, SegmentBytes: 500})
	_, err := j.Append(t.Context(), one, journal.Entry{Payload: make([]byte, journal.MaxPayload+1)})
	must.Kind(t, "one entry", err, amber.KindInvalid)
	for i := range 10 {
		s := journal.Session{Host: "test", ID: amber.SessionID(fmt.Sprint("session ", i))}
		for err = nil; err == nil; {
			_, err = j.Append(t.Context(), s, journal.Entry{Payload: make([]byte, 200)})
		}
		must.Kind(t, "the last entry", err, amber.KindQuota)
	}
	list, err := j.List(t.Context(), func(journal.Key) (int64, error) { return 0, nil })
	var total int64
	for _, st := range list {
		if total += st.Bytes; st.Bytes > 3000+headerSize {
			t.Errorf("a session has %d bytes", st.Bytes)
		}
	}
	if err != nil || len(list) == 0 || total > 5000+500+240 {
		t.Errorf("%d sessions have %d bytes, %v", len(list), total, err)
	}
}
