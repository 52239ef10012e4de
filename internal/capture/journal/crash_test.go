package journal_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// seeds is how many ways a power cut can go are tried after each call.
var seeds int

func init() {
	flag.IntVar(&seeds, "journal.seeds", 8, "how many ways a power cut can go are tried after each call")
}

// ledger is what a session was told and what it promised.
type ledger struct {
	tried   map[string]bool  // payloads that the test tried to append
	acked   map[int64]string // acknowledged
	drained int64            // what the store has; up to it entries may be cleared
}

func newLedger() *ledger { return &ledger{tried: map[string]bool{}, acked: map[int64]string{}} }

// append appends one entry and writes down the answer.
func (l *ledger) append(j *journal.Journal, e journal.Entry) error {
	l.tried[string(e.Payload)] = true
	seq, err := j.Append(context.Background(), one, e)
	if err != nil {
		return err
	}
	if old, ok := l.acked[seq]; ok {
		return fmt.Errorf("sequence %d was given to %.20q and to %.20q", seq, old, e.Payload)
	}
	if seq <= l.drained {
		return fmt.Errorf("sequence %d was given again, the store is at %d", seq, l.drained)
	}
	l.acked[seq] = string(e.Payload)
	return nil
}

func (l *ledger) clear(j *journal.Journal, drained int64) error {
	l.drained = drained
	return must.Err(j.Clear(context.Background(), one.Key(), drained))
}

func (l *ledger) clone() *ledger {
	return &ledger{tried: maps.Clone(l.tried), acked: maps.Clone(l.acked), drained: l.drained}
}

// scenarios are the ways a session can be written to. Prepare runs in peace; act is cut at every call.
var scenarios = []struct {
	name    string
	options journal.Options
	prepare func(t *testing.T, disk *crashfs.FS, dir string, j *journal.Journal, l *ledger)
	act     func(j *journal.Journal, l *ledger) error
}{
	{name: "first append", act: appends(1)},
	{name: "start and append", act: func(j *journal.Journal, l *ledger) error {
		return errors.Join(j.Start(context.Background(), one), appends(1)(j, l))
	}},
	{name: "later appends", prepare: filled(3), act: appends(3)},
	{name: "appends of several blocks", prepare: filled(1), act: func(j *journal.Journal, l *ledger) error {
		return errors.Join(l.append(j, long(101)), l.append(j, long(102)), l.append(j, entry(103)))
	}},
	{name: "rotation", options: journal.Options{SegmentBytes: 200}, prepare: filled(2), act: appends(6)},
	{name: "append behind a torn tail", prepare: torn, act: appends(2)},
	{name: "append behind a torn tail of several blocks", prepare: tornLong, act: func(j *journal.Journal, l *ledger) error {
		return errors.Join(l.append(j, long(101)), l.append(j, entry(102)))
	}},
	{name: "clear some", options: journal.Options{SegmentBytes: 200}, prepare: filled(9), act: func(j *journal.Journal, l *ledger) error {
		return errors.Join(l.clear(j, 5), appends(2)(j, l))
	}},
	{name: "clear all", options: journal.Options{SegmentBytes: 200}, prepare: filled(9), act: func(j *journal.Journal, l *ledger) error {
		return errors.Join(l.clear(j, 9), appends(2)(j, l))
	}},
	{name: "clear twice", prepare: filled(3), act: func(j *journal.Journal, l *ledger) error {
		return errors.Join(l.clear(j, 2), l.clear(j, 3), appends(1)(j, l), l.clear(j, 3))
	}},
	{name: "read and quarantine", prepare: torn, act: func(j *journal.Journal, l *ledger) error {
		_, err := j.Read(context.Background(), one.Key(), 0, func(f journal.Frame) error {
			return j.Quarantine(context.Background(), one.Key(), f.Seq, f.Payload, "no use")
		})
		return errors.Join(err, appends(1)(j, l))
	}},
}

func appends(n int) func(*journal.Journal, *ledger) error {
	return func(j *journal.Journal, l *ledger) error {
		for i := range n {
			if err := l.append(j, entry(101+i)); err != nil {
				return err
			}
		}
		return nil
	}
}

func filled(n int) func(*testing.T, *crashfs.FS, string, *journal.Journal, *ledger) {
	return func(t *testing.T, _ *crashfs.FS, _ string, j *journal.Journal, l *ledger) {
		for i := range n {
			must.Do(t, l.append(j, entry(i+1)))
		}
	}
}

// torn leaves three entries and half of a fourth.
func torn(t *testing.T, disk *crashfs.FS, dir string, j *journal.Journal, l *ledger) {
	filled(3)(t, disk, dir, j, l)
	b := slurp(t, disk, segment(dir, 1))
	put(t, disk, segment(dir, 1), append(b, b[len(b)-30:]...))
}

func tornLong(t *testing.T, disk *crashfs.FS, dir string, j *journal.Journal, l *ledger) {
	filled(1)(t, disk, dir, j, l)
	whole := slurp(t, disk, segment(dir, 1))
	must.Do(t, newLedger().append(j, long(2)))
	put(t, disk, segment(dir, 1), slurp(t, disk, segment(dir, 1))[:len(whole)+9000])
}

// eachCut kills every scenario at every call and hands over the disk as the dead process left it, and what was
// acknowledged by then.
func eachCut(t *testing.T, check func(t *testing.T, n int, dir string, o journal.Options, disk *crashfs.FS, l *ledger)) {
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			dir := lockedSpool(t)
			for n := 1; ; n++ {
				disk, l, o := newDisk(t, dir), newLedger(), sc.options
				o.FS = disk
				if sc.prepare != nil {
					sc.prepare(t, disk, dir, open(t, dir, o), l)
				}
				before := disk.Calls()
				disk.StopAt(before + n)
				err := sc.act(open(t, dir, o), l)
				over := disk.Calls() < before+n
				if err != nil && (over || !errors.Is(err, crashfs.ErrCrashed)) {
					t.Fatalf("cut at call %d: %v", n, err)
				}
				check(t, n, dir, sc.options, disk, l)
				if t.Failed() {
					t.Fatalf("cut at call %d", n)
				}
				if over {
					t.Logf("%d calls", n-1)
					return
				}
			}
		})
	}
}

// TestAcknowledgedEntriesSurviveAPowerCut cuts the power at every call. Afterwards every acknowledged entry is
// there once and in order, nothing is reported as damaged, and appending goes on.
func TestAcknowledgedEntriesSurviveAPowerCut(t *testing.T) {
	t.Parallel()
	eachCut(t, func(t *testing.T, n int, dir string, o journal.Options, disk *crashfs.FS, l *ledger) {
		for seed, after := range powerCuts(disk, dir, n, seeds) {
			l := l.clone()
			checkSession(t, after, dir, o, l)
			// And once more, for what the second process did.
			checkSession(t, after.CrashClone(newRand(seed)), dir, o, l)
			if t.Failed() {
				t.Fatalf("power cut with seed %d", seed)
			}
		}
	})
}

// TestEntriesAfterAKilledProcessSurvive kills a process at every call, lets another go on with the same disk,
// and cuts the power only then.
func TestEntriesAfterAKilledProcessSurvive(t *testing.T) {
	t.Parallel()
	eachCut(t, func(t *testing.T, n int, dir string, o journal.Options, disk *crashfs.FS, l *ledger) {
		disk.StopAt(0)
		for _, e := range []journal.Entry{entry(201), long(202)} {
			b := o
			b.FS = disk
			must.Do(t, l.append(open(t, dir, b), e))
		}
		for seed, after := range powerCuts(disk, dir, n, seeds) {
			checkSession(t, after, dir, o, l.clone())
			if t.Failed() {
				t.Fatalf("power cut with seed %d", seed)
			}
		}
	})
}

// powerCuts returns what different power cuts leave, by seed. Many leave the same: each state comes once.
func powerCuts(disk *crashfs.FS, dir string, n, seeds int) iter.Seq2[uint64, *crashfs.FS] {
	return func(yield func(uint64, *crashfs.FS) bool) {
		seen := map[string]bool{}
		for seed := range uint64(seeds) {
			after := disk.CrashClone(rand.New(rand.NewPCG(seed, uint64(n))))
			if state := listing(after, filepath.Dir(dir)); !seen[state] {
				seen[state] = true
				if !yield(seed, after) {
					return
				}
			}
		}
	}
}

// listing describes every file and folder below dir.
func listing(fsys fsx.FS, dir string) string {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		name := e.Name()
		if strings.HasPrefix(name, fsx.TempPrefix) {
			name = fsx.TempPrefix
		}
		if e.IsDir() {
			fmt.Fprintf(&b, "%s{%s}", name, listing(fsys, path))
			continue
		}
		content, err := fsx.ReadFile(fsys, path, 1<<30)
		fmt.Fprintf(&b, "%s %x %v;", name, sha256.Sum256(content), err)
	}
	return b.String()
}

// checkSession checks what is on a disk against what was promised, and appends one entry more.
func checkSession(t *testing.T, disk fsx.FS, dir string, o journal.Options, l *ledger) {
	t.Helper()
	o.FS = disk
	j := open(t, dir, o)
	checkVerify(t, j, l)
	last := checkFrames(t, j, l)
	if len(l.acked) > 0 {
		st, err := j.Status(t.Context(), one.Key(), l.drained)
		if err != nil || st.SessionID != one.ID || st.Host != one.Host || st.LastError != "" || st.Damaged != 0 {
			t.Errorf("status: %+v, %v", st, err)
		}
	}
	must.Do(t, l.append(j, entry(900+len(l.tried))))
	if _, ok := l.acked[last+1]; !ok {
		t.Errorf("the next entry does not have the sequence %d", last+1)
	}
	must.Get(j.Remove(t.Context(), one.Key(), last))(t) // it sweeps, and leaves what is not drained
	checkNoTemp(t, disk, filepath.Join(dir, string(one.Key())))
}

func checkVerify(t *testing.T, j *journal.Journal, l *ledger) {
	t.Helper()
	reports, err := j.Verify(t.Context())
	if err != nil {
		t.Errorf("verify: %v", err)
	}
	for _, r := range reports {
		if r.Error != "" || r.Damage.Any() {
			t.Errorf("verify: %+v", r)
		}
	}
	if len(reports) == 0 && len(l.acked) > 0 {
		t.Error("verify found no session")
	}
}

// checkFrames checks that every acknowledged entry that is not drained is read once, in order, and
// that every entry that is read was written. It returns the last sequence.
func checkFrames(t *testing.T, j *journal.Journal, l *ledger) int64 {
	t.Helper()
	frames, d, err := readAll(j, one.Key(), l.drained)
	if err != nil || d.Any() {
		t.Errorf("read: %+v, %v", d, err)
	}
	last := l.drained
	seen := map[string]bool{}
	for _, f := range frames {
		must.Equal(t, "sequence", f.Seq, last+1)
		last = f.Seq
		text := string(f.Payload)
		if want, ok := l.acked[f.Seq]; ok && text != want {
			t.Errorf("entry %d is %.20q, acknowledged was %.20q", f.Seq, text, want)
		}
		if !l.tried[text] || seen[text] {
			t.Errorf("entry %d, %.20q, was read twice or never written", f.Seq, text)
		}
		seen[text] = true
	}
	if got, want := last, slices.Max(append(slices.Collect(maps.Keys(l.acked)), l.drained)); got < want {
		t.Errorf("the last entry read is %d, acknowledged was %d", got, want)
	}
	return last
}

func checkNoTemp(t *testing.T, fsys fsx.FS, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		entries, err := fsys.ReadDir(dir)
		if err != nil {
			continue // there is no session
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), fsx.TempPrefix) {
				t.Errorf("%s was left behind", e.Name())
			}
		}
	}
}

// TestDrainedSequencesAreNotGivenAgain kills an append at every call, drains what can be seen, and cuts the
// power. The store keeps what it has taken, so nothing later may hide behind its cursor.
func TestDrainedSequencesAreNotGivenAgain(t *testing.T) {
	t.Parallel()
	eachCut(t, func(t *testing.T, n int, dir string, o journal.Options, disk *crashfs.FS, l *ledger) {
		disk.StopAt(0)
		b := o
		b.FS = disk
		drained := l.drained
		if _, err := open(t, dir, b).Read(t.Context(), one.Key(), l.drained, func(f journal.Frame) error {
			drained = f.Seq
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for seed, after := range powerCuts(disk, dir, n, seeds) {
			l := l.clone()
			l.drained = drained
			b.FS = after
			if err := l.append(open(t, dir, b), entry(301)); err != nil {
				t.Fatalf("power cut with seed %d: %v", seed, err)
			}
		}
	})
}

// TestTornBytesAreKept checks that what is cut off is in quarantine.
func TestTornBytesAreKept(t *testing.T) {
	t.Parallel()
	dir := lockedSpool(t)
	disk := newDisk(t, dir)
	j := on(t, disk, dir)
	fill(t, j, one, 2)
	half := slurp(t, disk, segment(dir, 1))[70:100]
	for range 2 { // twice at the same place, with other bytes
		half = append(half, '!')
		put(t, disk, segment(dir, 1), append(slurp(t, disk, segment(dir, 1)), half...))
		must.Equal(t, "frames", texts(mustRead(t, j, one.Key(), 0)), numbered(1, 2)) // reading cuts
		var kept int
		if err := j.Quarantined(t.Context(), one.Key(), func(h journal.Held) error {
			if bytes.Equal(slurp(t, disk, filepath.Join(dir, string(one.Key()), "quarantine", h.Name)), half) {
				kept++
			}
			return nil
		}); err != nil || kept != 1 {
			t.Errorf("kept %d times, %v", kept, err)
		}
	}
	must.Equal(t, "quarantine", len(files(t, disk, dir, string(one.Key()), "quarantine")), 2)
	must.Equal(t, "frames", texts(mustRead(t, j, one.Key(), 0)), numbered(1, 2))
}

// TestAFailedSyncBehindAKilledWriter is about an entry that was never acknowledged, since its writer was killed
// before the sync. When the sync of the next entry fails, too, and the power goes, the acknowledged entry is
// there, and nothing is reported as missing.
func TestAFailedSyncBehindAKilledWriter(t *testing.T) {
	t.Parallel()
	ways := map[string]func(j *journal.Journal, l *ledger) error{
		"append": appends(2),
		"start": func(j *journal.Journal, l *ledger) error {
			return errors.Join(j.Start(t.Context(), one), appends(1)(j, l))
		},
		"read": func(j *journal.Journal, l *ledger) error {
			_, _ = j.Read(t.Context(), one.Key(), 0, func(journal.Frame) error { return nil })
			return appends(1)(j, l)
		},
	}
	for name, act := range ways {
		for _, size := range []int64{100, 1 << 20} { // the killed writer makes a segment, or it does not
			killed := true
			for cut := 1; killed; cut++ {
				killed = failSyncBehindKill(t, name, size, cut, act)
			}
		}
	}
}

// failSyncBehindKill is one such history, with the writer killed at a call. It reports whether there is one.
func failSyncBehindKill(t *testing.T, name string, size int64, cut int, act func(*journal.Journal, *ledger) error) (killed bool) {
	dir := lockedSpool(t)
	disk, l := newDisk(t, dir), newLedger()
	options := journal.Options{SegmentBytes: size, FS: disk}
	must.Do(t, appends(1)(open(t, dir, options), l))
	disk.StopAt(disk.Calls() + cut)
	err := l.append(open(t, dir, options), entry(50))
	disk.StopAt(0)
	if err != nil && !errors.Is(err, crashfs.ErrCrashed) {
		t.Fatal(err)
	}
	options.FS = errfs.Wrap(disk, errfs.Rule{Op: errfs.OpSync, Nth: 1, Err: syscall.EIO})
	again := act(open(t, dir, options), l)
	if again != nil && !errors.Is(again, syscall.EIO) {
		t.Fatal(again)
	}
	for seed := range uint64(seeds) {
		options.FS = disk.CrashClone(rand.New(rand.NewPCG(seed, 0)))
		got := map[int64]string{}
		damage := must.Get(open(t, dir, options).Read(t.Context(), one.Key(), 0, func(f journal.Frame) error {
			got[f.Seq] = string(f.Payload)
			return nil
		}))(t)
		if damage.Any() {
			t.Errorf("%s, segments of %d bytes, killed at call %d, seed %d: %s", name, size, cut, seed, damage)
		}
		for seq, payload := range l.acked {
			must.Equal(t, name, got[seq], payload)
		}
	}
	return err != nil
}
