package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

var two = journal.Session{Host: "test", ID: "two"}

// drainedTo returns cursors: those of a session by its id, 0 otherwise.
func drainedTo(seqs map[amber.SessionID]int64) func(journal.Origin) (int64, error) {
	return func(o journal.Origin) (int64, error) { return seqs[o.ID], nil }
}

func TestParkCopiesWhatWasNotDrained(t *testing.T) {
	t.Parallel()
	dir := spoolDir(t)
	dest := filepath.Join(t.TempDir(), "parked", "3")
	j := open(t, dir, journal.Options{SegmentBytes: 200, MaxSessionBytes: 1 << 20})
	fill(t, j, one, 9)
	fill(t, j, two, 2)
	must.Do(t, j.Start(t.Context(), journal.Session{Host: "test", ID: "empty"}))
	mustAppend(t, j, one, journal.Entry{Payload: bytes.Repeat([]byte("x"), 1<<20-100), Droppable: true, About: "tool output"}) // a gap
	before := mustRead(t, j, one.Key(), 0)
	source := must.Get(j.Origin(one.Key()))(t)

	report := must.Get(j.Park(t.Context(), dest, drainedTo(map[amber.SessionID]int64{"one": 3, "two": 2})))(t)
	if report.Sessions != 1 || report.Frames != 7 || len(report.Failed) != 0 || report.Floors[source.Cursor] != 10 || len(report.Floors) != 1 {
		t.Errorf("got %+v", report)
	}
	// It is an ordinary journal, with an origin of its own.
	p := open(t, dest, journal.Options{})
	must.Equal(t, "sessions", must.Get(p.Keys())(t), []journal.Key{one.Key()})
	origin, err := p.Origin(one.Key())
	if err != nil || origin.Session != one || origin.Cursor == source.Cursor {
		t.Errorf("got origin %+v, %v beside %+v", origin, err, source)
	}
	copies := mustRead(t, p, one.Key(), 0)
	for i, f := range before[3:] {
		f.Seq = int64(i + 1)
		must.Equal(t, fmt.Sprintf("entry %d", i+4), copies[i], f, sameTimes)
	}
	if len(copies) != 7 || copies[6].Type != journal.TypeGap {
		t.Errorf("got %d copies, the last of type %d", len(copies), copies[len(copies)-1].Type)
	}
	reports, err := p.Verify(t.Context())
	if err != nil || len(reports) != 1 || reports[0].Damage.Any() || reports[0].Frames != 7 {
		t.Errorf("verify: %+v, %v", reports, err)
	}
	must.Equal(t, "next sequence", mustAppend(t, p, one, entry(8)), 8)
	// The journal is as it was, and a later entry is above the floor.
	must.Equal(t, "the journal", mustRead(t, j, one.Key(), 0), before, sameTimes)
	if seq := mustAppend(t, j, one, entry(11)); seq <= report.Floors[source.Cursor] {
		t.Errorf("a later entry gets sequence %d, the floor is %d", seq, report.Floors[source.Cursor])
	}
	// Parking again begins again; with everything drained nothing is left.
	report, err = j.Park(t.Context(), dest, drainedTo(map[amber.SessionID]int64{"one": 9, "two": 0}))
	if err != nil || report.Sessions != 2 || report.Frames != 4 {
		t.Errorf("again: %+v, %v", report, err)
	}
	must.Get(j.Park(t.Context(), dest, drainedTo(map[amber.SessionID]int64{"one": 11, "two": 2})))(t)
	must.Is(t, "the folder", must.Err(os.Lstat(dest)), os.ErrNotExist)
}

func TestParkOfNothing(t *testing.T) {
	t.Parallel()
	j := open(t, spoolDir(t), journal.Options{})
	must.Equal(t, "parked frames", must.Get(j.Park(t.Context(), filepath.Join(t.TempDir(), "parked", "1"), drainedTo(nil)))(t).Frames, 0)
	must.Fail(j.Park(t.Context(), "relative", drainedTo(nil)))(t, "a relative path", amber.KindInvalid)
	fill(t, j, one, 1)
	stop := errors.New("stop")
	if _, err := j.Park(t.Context(), filepath.Join(t.TempDir(), "p"), func(journal.Origin) (int64, error) { return 0, stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want that of the cursors", err)
	}
}

// TestParkLeavesOutWhatNobodyCanRead checks that a session of a newer Amber stays where it is, and is told.
func TestParkLeavesOutWhatNobodyCanRead(t *testing.T) {
	t.Parallel()
	dir := spoolDir(t)
	dest := filepath.Join(t.TempDir(), "parked")
	j := open(t, dir, journal.Options{})
	fill(t, j, one, 2)
	fill(t, j, two, 2)
	must.Do(t, j.Quarantine(t.Context(), two.Key(), 1, []byte("held"), "no use"))
	put(t, fsx.OS(), filepath.Join(dir, string(one.Key()), "meta"), []byte(`{"format":2}`+"\n"))
	report, err := j.Park(t.Context(), dest, drainedTo(nil))
	if err != nil || report.Sessions != 1 || report.Frames != 2 || report.Failed[one.Key()] == "" {
		t.Errorf("got %+v, %v", report, err)
	}
	must.Equal(t, "parked", len(files(t, fsx.OS(), dest)), 1)
	must.Equal(t, "the quarantine", len(files(t, fsx.OS(), dir, string(two.Key()), "quarantine")), 1)
	must.Equal(t, "the copy", len(files(t, fsx.OS(), dest, string(two.Key()))), 2)
}

// TestParkedEntriesSurviveAPowerCut cuts the power at every call: what was acknowledged as parked is there, and
// nothing is lost from the journal itself.
func TestParkedEntriesSurviveAPowerCut(t *testing.T) {
	t.Parallel()
	dir := lockedSpool(t, two)
	dest := filepath.Join(filepath.Dir(dir), "parked", "1")
	for n := 1; ; n++ {
		disk := newDisk(t, dir)
		j := on(t, disk, dir)
		fill(t, j, one, 3)
		fill(t, j, two, 2)
		before := disk.Calls()
		disk.StopAt(before + n)
		report, err := j.Park(context.Background(), dest, drainedTo(map[amber.SessionID]int64{"one": 1}))
		over := disk.Calls() < before+n
		if over && err != nil || err == nil && report.Frames != 4 && len(report.Failed) == 0 {
			t.Fatalf("cut at call %d: %+v, %v", n, report, err)
		}
		for seed := range uint64(seeds) {
			after := disk.CrashClone(rand.New(rand.NewPCG(seed, uint64(n))))
			checkParked(t, after, dir, dest, over)
			if t.Failed() {
				t.Fatalf("cut at call %d, seed %d", n, seed)
			}
		}
		if over {
			return
		}
	}
}

func checkParked(t *testing.T, disk *crashfs.FS, dir, dest string, acked bool) {
	t.Helper()
	must.Equal(t, "the journal", texts(mustRead(t, on(t, disk, dir), one.Key(), 0)), numbered(1, 3))
	if !acked {
		return
	}
	var got []string
	for _, s := range []journal.Session{one, two} {
		// Looked at without locks, for which there are no folders on the real disk.
		reports, err := on(t, disk, dest).Verify(t.Context())
		if err != nil || len(reports) != 2 || reports[0].Damage.Any() || reports[1].Damage.Any() {
			t.Errorf("verify: %+v, %v", reports, err)
		}
		st, err := on(t, disk, dest).Status(t.Context(), s.Key(), 0)
		if err != nil || st.Undrained != 2 || st.SessionID != s.ID || st.LastError != "" {
			t.Errorf("status: %+v, %v", st, err)
		}
		got = append(got, string(st.SessionID))
	}
	must.Equal(t, "parked", len(got), 2)
}

// TestParkReportsEveryErrorOfItsDestination fails every call below the destination in turn.
func TestParkReportsEveryErrorOfItsDestination(t *testing.T) {
	t.Parallel()
	for _, rule := range []errfs.Rule{
		{Op: errfs.OpCreate, Err: syscall.EIO},
		{Op: errfs.OpWrite, Err: syscall.ENOSPC, Written: 5},
		{Op: errfs.OpMkdir, Err: syscall.EACCES},
		{Op: errfs.OpSyncAll, Err: syscall.EIO},
		{Op: errfs.OpRemove, Err: syscall.EIO, Glob: "parked"},
	} {
		dir := spoolDir(t)
		fill(t, open(t, dir, journal.Options{}), one, 3)
		dest := filepath.Join(t.TempDir(), "parked")
		for n := 1; ; n++ {
			rule.Nth = n
			bad := errfs.Wrap(fsx.OS(), rule)
			j := open(t, dir, journal.Options{FS: bad})
			_, err := j.Park(t.Context(), dest, drainedTo(nil))
			if len(bad.Injected()) == 0 {
				must.Do(t, err)
				break
			}
			must.Is(t, fmt.Sprintf("%s %d", rule.Op, n), err, rule.Err)
		}
	}
}
