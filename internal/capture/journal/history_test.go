package journal_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// store is the other end of the journal: what it has taken, and its cursor, change together and are never lost.
type store struct {
	cursor int64
	taken  map[string]int
}

// history is one session's life: processes that append, drain and clear, killed and cut off at random.
type history struct {
	t     *testing.T
	rand  *rand.Rand
	dir   string
	disk  *crashfs.FS
	store store
	acked map[string]bool
	tried int
	log   []string
}

// TestHistories runs random histories. Whatever happens, every acknowledged entry reaches the store, each once.
func TestHistories(t *testing.T) {
	t.Parallel()
	for i := range uint64(*histories) {
		seed := *firstSeed + i
		h := &history{
			t: t, rand: rand.New(rand.NewPCG(seed, 0)), dir: lockedSpool(t),
			store: store{taken: map[string]int{}}, acked: map[string]bool{},
		}
		h.disk = newDisk(t, h.dir)
		for range 40 {
			h.process()
		}
		h.log = append(h.log, "peace")
		h.disk.StopAt(0)
		must.Do(t, h.drain(h.journal(h.disk), 1<<30))
		h.check()
		if t.Failed() {
			t.Fatalf("seed %d: %q", seed, h.log)
		}
	}
}

func (h *history) journal(fsys fsx.FS) *journal.Journal {
	return open(h.t, h.dir, journal.Options{FS: fsys, SegmentBytes: 600, MaxSessionBytes: 1 << 20})
}

// process is the life of one process: a few steps, perhaps with a fault, perhaps killed, perhaps by a power
// cut.
func (h *history) process() {
	var fsys fsx.FS = h.disk
	fate := h.rand.IntN(6)
	switch fate {
	case 0, 1: // killed or cut off
		h.disk.StopAt(h.disk.Calls() + 1 + h.rand.IntN(25))
	case 2:
		ops := []errfs.Op{"", errfs.OpWrite, errfs.OpSync, errfs.OpSyncDir, errfs.OpLink, errfs.OpTruncate, errfs.OpRemove}
		fsys = errfs.Wrap(h.disk, errfs.Rule{Op: ops[h.rand.IntN(len(ops))], Nth: 1 + h.rand.IntN(20), Err: syscall.EIO, Written: h.rand.IntN(60)})
	}
	j := h.journal(fsys)
	for range 1 + h.rand.IntN(6) {
		h.step(j)
	}
	if fate == 1 || fate == 3 {
		h.log = append(h.log, "power cut")
		h.disk = h.disk.CrashClone(h.rand)
	}
	h.disk.StopAt(0)
}

// step is one call. A call that fails does not fail the test: its error is for its caller.
func (h *history) step(j *journal.Journal) {
	var err error
	what := "append"
	switch h.rand.IntN(10) {
	case 0:
		what, err = "start", j.Start(h.t.Context(), one)
	case 1:
		_, err = j.Clear(h.t.Context(), one.Key(), 0)
		what = "clear nothing"
	case 2, 3:
		what, err = "drain", h.drain(j, 1+h.rand.IntN(8))
	default:
		err = h.append(j)
	}
	if err != nil {
		what += " failed"
	}
	h.log = append(h.log, what)
	if err != nil && !errors.Is(err, crashfs.ErrCrashed) && !errors.Is(err, syscall.EIO) {
		h.t.Errorf("%s: %v (kind %s)", what, err, amber.KindOf(err))
	}
}

func (h *history) append(j *journal.Journal) error {
	e := entry(h.tried)
	if h.rand.IntN(4) == 0 {
		e = long(h.tried)
	}
	h.tried++
	_, err := j.Append(h.t.Context(), one, e)
	if err == nil {
		h.acked[string(e.Payload)] = true
	}
	return err
}

// drain takes up to n entries into the store, then clears.
func (h *history) drain(j *journal.Journal, n int) error {
	enough := errors.New("enough")
	damage, err := j.Read(h.t.Context(), one.Key(), h.store.cursor, func(f journal.Frame) error {
		if n--; n < 0 {
			return enough
		}
		h.store.taken[string(f.Payload)]++
		h.store.cursor = f.Seq
		return nil
	})
	if damage.Any() {
		h.t.Errorf("damage without any: %+v", damage)
	}
	if err != nil && !errors.Is(err, enough) {
		return err
	}
	if h.rand.IntN(3) == 0 { // the process ends between draining and clearing
		return nil
	}
	return must.Err(j.Clear(h.t.Context(), one.Key(), h.store.cursor))
}

func (h *history) check() {
	for payload := range h.acked {
		must.Equal(h.t, fmt.Sprintf("times %.16q was taken", payload), h.store.taken[payload], 1)
	}
	for payload, n := range h.store.taken {
		if n > 1 {
			h.t.Errorf("%.16q was taken %d times", payload, n)
		}
	}
	if len(h.acked) == 0 || h.tried < 20 {
		h.t.Errorf("%d of %d entries acknowledged: this history shows nothing", len(h.acked), h.tried)
	}
}
