package journal_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// segmentsOf returns the names of the segments of the session.
func (s *session) segments() []string {
	names := files(s.t, s.disk, s.dir, string(one.Key()))
	return slices.DeleteFunc(names, func(name string) bool { return filepath.Ext(name) != ".seg" })
}

// TestClearRemovesWhatIsDrained clears nine entries in three segments up to every sequence.
func TestClearRemovesWhatIsDrained(t *testing.T) {
	t.Parallel()
	for drained := range int64(10) {
		s := three(t)
		removed, err := s.journal().Clear(t.Context(), one.Key(), drained)
		gone := drained / 3 // segments
		if want := gone * (headerSize + 3*frameSize); err != nil || removed != want {
			t.Errorf("up to %d: removed %d, %v, want %d", drained, removed, err, want)
		}
		var want []string
		for n := gone + 1; n <= 3; n++ {
			want = append(want, fmt.Sprintf("%06d.seg", n))
		}
		if drained == 9 {
			want = []string{"000004.seg"}
		}
		must.Equal(t, fmt.Sprintf("up to %d: segments", drained), s.segments(), want)
		frames := mustRead(t, s.journal(), one.Key(), drained)
		must.Equal(t, fmt.Sprintf("up to %d: frames", drained), texts(frames), numbered(int(drained)+1, 9))
		again, err := s.journal().Clear(t.Context(), one.Key(), drained)
		if again != 0 || err != nil {
			t.Errorf("up to %d: removed %d the second time, %v", drained, again, err)
		}
		must.Equal(t, fmt.Sprintf("up to %d: next sequence", drained), mustAppend(t, s.journal(), one, entry(1)), 10)
	}
}

// TestClearSparesWhatCameMeanwhile appends an entry between reading and clearing.
func TestClearSparesWhatCameMeanwhile(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 4} { // in the middle of a segment, at its end, in the next
		s := newSession(t, journal.Options{SegmentBytes: headerSize + 3*frameSize}, n)
		j := s.journal()
		mustRead(t, j, one.Key(), 0)
		mustAppend(t, j, one, entry(7))
		must.Get(j.Clear(t.Context(), one.Key(), int64(n)))(t)
		got := texts(mustRead(t, s.journal(), one.Key(), int64(n)))
		must.Equal(t, fmt.Sprintf("after %d: frames", n), got, []string{fmt.Sprintf("%d entry 7", n+1)})
	}
}

// TestSequencesGoOnForever drains and clears after every entry, each time as another process.
func TestSequencesGoOnForever(t *testing.T) {
	t.Parallel()
	s := newSession(t, journal.Options{}, 1)
	for n := int64(1); n < 40; n++ {
		must.Get(s.journal().Clear(t.Context(), one.Key(), n))(t)
		if got := s.segments(); len(got) != 1 || len(slurp(t, s.disk, filepath.Join(s.dir, string(one.Key()), got[0]))) != headerSize {
			t.Fatalf("after clearing up to %d there are %v", n, got)
		}
		must.Equal(t, "sequence", mustAppend(t, s.journal(), one, entry(1)), n+1)
	}
}

// TestClearAfterAKilledClear kills a clear of everything at every call, another at every call after that, and
// cuts the power: the sequence never starts again.
func TestClearAfterAKilledClear(t *testing.T) {
	t.Parallel()
	dir := lockedSpool(t)
	attempt := func(disk *crashfs.FS, n int) (over bool) {
		before := disk.Calls()
		disk.StopAt(before + n)
		_, err := on(t, disk, dir).Clear(t.Context(), one.Key(), 3)
		over = disk.Calls() < before+n
		disk.StopAt(0)
		if over && err != nil {
			t.Fatal(err)
		}
		return over
	}
	for n, over := 1, false; !over; n++ {
		for m, over2 := 1, false; !over2; m++ {
			disk, l := newDisk(t, dir), newLedger()
			filled(3)(t, disk, dir, on(t, disk, dir), l)
			l.drained = 3
			over = attempt(disk, n)
			over2 = attempt(disk, m)
			for seed, after := range powerCuts(disk, dir, n*m, seeds) {
				checkSession(t, after, dir, journal.Options{}, l.clone())
				if t.Failed() {
					t.Fatalf("killed at call %d, then at call %d, seed %d", n, m, seed)
				}
			}
		}
	}
}

// TestStoreAheadOfTheJournal drains further than the journal goes, as after the loss of a disk: later entries do not hide
// behind the store's cursor.
func TestStoreAheadOfTheJournal(t *testing.T) {
	t.Parallel()
	calls := map[string]func(j *journal.Journal) error{
		"clear": func(j *journal.Journal) error { _, err := j.Clear(t.Context(), one.Key(), 20); return err },
		"read": func(j *journal.Journal) error {
			_, err := j.Read(t.Context(), one.Key(), 20, func(f journal.Frame) error { return fmt.Errorf("read %d", f.Seq) })
			return err
		},
	}
	for name, call := range calls {
		for _, n := range []int{0, 3} {
			t.Run(fmt.Sprintf("%s with %d entries", name, n), func(t *testing.T) {
				s := newSession(t, journal.Options{}, n)
				if n == 0 {
					must.Do(t, s.journal().Start(t.Context(), one))
					s.remove(1)
				}
				for range 2 {
					must.Do(t, call(s.journal()))
				}
				must.Equal(t, "next sequence", mustAppend(t, s.journal(), one, entry(7)), 21)
				must.Equal(t, "read", texts(mustRead(t, s.journal(), one.Key(), 20)), []string{"21 entry 7"})
				if st, err := s.journal().Status(t.Context(), one.Key(), 20); err != nil || st.Damaged != 0 || st.Undrained != 1 {
					t.Errorf("status: %+v, %v", st, err)
				}
			})
		}
	}
}

// TestClearKeepsWhatCouldNotBeRead clears segments with damage, a torn tail and no header.
func TestClearKeepsWhatCouldNotBeRead(t *testing.T) {
	t.Parallel()
	damaged := map[string]func(b []byte) []byte{
		"a frame":   func(b []byte) []byte { b[headerSize+frameSize+35] ^= 1; return b },
		"the last":  func(b []byte) []byte { b[len(b)-12] ^= 1; return b },
		"a header":  func(b []byte) []byte { b[20] ^= 1; return b },
		"torn tail": func(b []byte) []byte { return append(b, "half a frame"...) },
	}
	for name, damage := range damaged {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := three(t)
			b := damage(s.bytes(2))
			put(t, s.disk, segment(s.dir, 2), b)
			must.Get(s.journal().Clear(t.Context(), one.Key(), 9))(t)
			must.Equal(t, "kept", string(s.kept()), string(b))
			must.Equal(t, "segments", s.segments(), []string{"000004.seg"})
		})
	}
}

// TestClearWithAFullQuarantine leaves a damaged segment where it is.
func TestClearWithAFullQuarantine(t *testing.T) {
	t.Parallel()
	s := three(t)
	b := s.bytes(2)
	b[70] ^= 1
	put(t, s.disk, segment(s.dir, 2), b)
	j := open(t, s.dir, journal.Options{FS: s.disk, MaxSessionBytes: 100})
	must.Fail(j.Clear(t.Context(), one.Key(), 9))(t, "clear", amber.KindQuota)
	must.Equal(t, "segments", s.segments(), []string{"000002.seg", "000003.seg", "000004.seg"})
}

// TestClearArguments checks what comes from outside.
func TestClearArguments(t *testing.T) {
	t.Parallel()
	s := three(t)
	j := s.journal()
	for _, drained := range []int64{-1, math.MinInt64, math.MaxInt64} {
		must.Fail(j.Clear(t.Context(), one.Key(), drained))(t, fmt.Sprint("clear up to ", drained), amber.KindInvalid)
		_, _, err := readAll(j, one.Key(), drained)
		must.Kind(t, fmt.Sprint("read from ", drained), err, amber.KindInvalid)
	}
	for _, key := range []journal.Key{"", "..", "../" + one.Key(), one.Key()[:31], "B549BFAF0C93DD5885A7C2B6E290AB24"} {
		must.Fail(j.Clear(t.Context(), key, 9))(t, "clear", amber.KindInvalid)
		_, _, err := readAll(j, key, 0)
		must.Kind(t, "read", err, amber.KindInvalid)
		must.Fail(j.Status(t.Context(), key, 0))(t, "status", amber.KindInvalid)
		must.Kind(t, "quarantine", j.Quarantine(t.Context(), key, 1, nil, ""), amber.KindInvalid)
		must.Kind(t, "list quarantine", j.Quarantined(t.Context(), key, nil), amber.KindInvalid)
	}
	never := journal.Session{Host: "test", ID: "never"}.Key()
	must.Equal(t, "clearing a session that is not there", must.Get(j.Clear(t.Context(), never, 3))(t), 0)
	if frames, d, err := readAll(j, never, 0); len(frames) > 0 || d.Any() || err != nil {
		t.Errorf("reading a session that is not there: %v, %+v, %v", frames, d, err)
	}
	must.Fail(j.Status(t.Context(), never, 0))(t, "status of a session that is not there", amber.KindNotFound)
	must.Equal(t, "segments", len(s.segments()), 3)
}

// TestClearIsToldOfErrors fails the removal.
func TestClearIsToldOfErrors(t *testing.T) {
	t.Parallel()
	for _, op := range []errfs.Op{errfs.OpRemove, errfs.OpSyncDir} {
		s := three(t)
		j := on(t, errfs.Wrap(s.disk, errfs.Rule{Op: op, Nth: 2, Err: syscall.EIO}), s.dir)
		removed, err := j.Clear(t.Context(), one.Key(), 6)
		must.Kind(t, "clear", err, amber.KindInternal)
		if again, err := j.Clear(t.Context(), one.Key(), 6); err != nil || removed+again > 2*(headerSize+3*frameSize) {
			t.Errorf("%s: removed %d, then %d, %v", op, removed, again, err)
		}
		must.Equal(t, string(op)+": read", texts(mustRead(t, s.journal(), one.Key(), 6)), numbered(7, 9))
	}
}
