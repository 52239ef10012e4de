package drain_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// story is what happens in a crash test: appends, drains and clears in turn,
// an end, and a host that comes back.
type story struct {
	t     *testing.T
	dir   string
	store drain.Store
	acked []string // prompts
	// poison is the number of the event that cannot be stored; 0: none, and then the
	// session is removed when it ends.
	poison int
}

// step appends one prompt and writes down whether it was acknowledged.
func (s *story) step(j *journal.Journal, n int) error {
	payload := marshal(s.t, prompt(n, fmt.Sprint("prompt ", n)))
	switch n {
	case s.poison:
		payload = []byte("poison")
	case 6:
		payload = marshal(s.t, event(n, journal.HostSessionEnd))
	}
	_, err := j.Append(context.Background(), one, journal.Entry{Payload: payload})
	if err == nil && n != s.poison && n != 6 {
		s.acked = append(s.acked, fmt.Sprint("user: prompt ", n))
	}
	return err
}

// tell runs the whole story on a disk, until something fails.
func (s *story) tell(fsys fsx.FS) error {
	o := journal.Options{Clock: clock, FS: fsys, SegmentBytes: 600}
	j, err := journal.Open(s.dir, o)
	if err != nil {
		return err
	}
	for n := 1; n <= 8; n++ {
		if err := s.step(j, n); err != nil {
			return err
		}
		if n%3 == 0 {
			if err := s.drain(fsys); err != nil {
				return err
			}
		}
	}
	return s.drain(fsys)
}

// drain drains once, as a process of its own.
func (s *story) drain(fsys fsx.FS) error {
	j, err := journal.Open(s.dir, journal.Options{Clock: clock, FS: fsys, SegmentBytes: 600})
	if err != nil {
		return err
	}
	d, err := drain.New(drain.Options{
		Journal: j, Store: s.store, Clock: clock, ClearEvery: 1, Wait: func(context.Context, time.Duration) error { return nil },
	})
	if err != nil {
		return err
	}
	report, err := d.Once(context.Background())
	if err == nil && len(report.Failed) > 0 {
		for _, why := range report.Failed {
			err = errors.Join(err, errors.New(why))
		}
	}
	return err
}

// check drains what is left and compares: every acknowledged prompt is there,
// once and in order; one that was not acknowledged may be there too.
func (s *story) check(fsys fsx.FS) {
	s.t.Helper()
	for range 2 {
		must.NoError(s.t, s.drain(fsys))
	}
	got := said(s.t, s.store)
	seen := map[string]int{}
	for _, g := range got {
		seen[g]++
	}
	for g, n := range seen {
		if n > 1 {
			s.t.Errorf("%s is there %d times", g, n)
		}
	}
	var acked []string
	for _, g := range got {
		for _, a := range s.acked {
			if a == g {
				acked = append(acked, g)
			}
		}
	}
	must.Equal(s.t, "acknowledged", acked, s.acked)
}

// TestDrainedOnceWhateverIsCut cuts the power at every call of a story that
// appends, rotates, drains, sets aside, clears and removes. A store keeps what
// it said it has: its transactions are one step here.
func TestDrainedOnceWhateverIsCut(t *testing.T) {
	t.Parallel()
	for _, poison := range []int{0, 3} {
		t.Run(fmt.Sprint("poison ", poison), func(t *testing.T) {
			t.Parallel()
			cutEverywhere(t, poison)
		})
	}
}

func cutEverywhere(t *testing.T, poison int) {
	for n := 1; ; n++ {
		over := false
		for seed := range uint64(*seeds) {
			dir := filepath.Join(t.TempDir(), "spool")
			disk := newDisk(t, dir)
			s := &story{t: t, dir: dir, store: newStore(t), poison: poison}
			before := disk.Calls()
			disk.StopAt(before + n)
			err := s.tell(disk)
			over = disk.Calls() < before+n
			if err != nil && (over || !strings.Contains(err.Error(), crashfs.ErrCrashed.Error())) {
				t.Fatalf("cut at call %d: %v", n, err)
			}
			s.check(disk.CrashClone(rand.New(rand.NewPCG(seed, uint64(n)))))
			if t.Failed() {
				t.Fatalf("cut at call %d, seed %d", n, seed)
			}
		}
		if over {
			t.Logf("%d calls, %d ways each", n-1, *seeds)
			return
		}
	}
}

// TestDrainedOnceWhateverFails fails calls in turn, every one at full size;
// afterwards the disk works again.
func TestDrainedOnceWhateverFails(t *testing.T) {
	t.Parallel()
	for _, fault := range []errfs.Rule{
		{Err: syscall.EIO},
		{Err: syscall.ENOSPC},
		{Op: errfs.OpWrite, Err: syscall.ENOSPC, Written: 20},
		{Op: errfs.OpSync, Err: syscall.EIO},
		{Op: errfs.OpSyncDir, Err: syscall.EIO},
	} {
		failEverywhere(t, fault, 0)
		failEverywhere(t, fault, 3)
	}
}

func failEverywhere(t *testing.T, fault errfs.Rule, poison int) {
	for n := 1; ; n += *stride {
		dir := filepath.Join(t.TempDir(), "spool")
		disk := newDisk(t, dir)
		s := &story{t: t, dir: dir, store: newStore(t), poison: poison}
		fault.Nth = n
		bad := errfs.Wrap(disk, fault)
		err := s.tell(bad)
		if len(bad.Injected()) == 0 {
			if err != nil || n == 1 {
				t.Fatalf("%+v without a fault: %v", fault, err)
			}
			return
		}
		s.check(disk)
		if t.Failed() {
			t.Fatalf("%+v at call %d: %v", fault, n, err)
		}
	}
}

// traced writes down what the store is asked for.
type traced struct {
	drain.Store
	emit func(string)
}

func (s traced) Ingest(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error) {
	s.emit(fmt.Sprintf("store ingests %d steps, cursor %d to %d", len(in.Steps), in.After, in.Through))
	return s.Store.Ingest(ctx, in)
}

// TestDrainOrder pins in which order a drain reads, stores and clears.
func TestDrainOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"))
	must.Get(w.journal.Append(context.Background(), one, journal.Entry{Payload: []byte("poison")}))(t)
	w.keep(event(3, journal.HostSessionEnd))
	var lines []string
	emit := func(line string) { lines = append(lines, strings.ReplaceAll(line, string(one.Key()), "K")) }
	j := openJournal(t, w.dir, errfs.TraceRel(fsx.OS(), w.dir, emit))
	w.once(drain.Options{Journal: j, Store: traced{w.store, emit}})
	checkGolden(t, "io_drain", strings.Join(lines, "\n")+"\n")
}
