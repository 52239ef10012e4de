package journal_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

var faults = []struct {
	name string
	rule errfs.Rule
	want amber.Kind
}{
	{"broken disk", errfs.Rule{Err: syscall.EIO}, amber.KindInternal},
	{"full disk", errfs.Rule{Err: syscall.ENOSPC}, amber.KindInternal},
	{"no permission", errfs.Rule{Err: syscall.EACCES}, amber.KindRefused},
	{"short write", errfs.Rule{Op: errfs.OpWrite, Err: syscall.ENOSPC, Written: 33}, amber.KindInternal},
	{"failed sync of a file", errfs.Rule{Op: errfs.OpSync, Err: syscall.EIO}, amber.KindInternal},
	{"failed sync of a folder", errfs.Rule{Op: errfs.OpSyncDir, Err: syscall.EIO}, amber.KindInternal},
}

// TestEveryErrorIsToldOrHarmless fails every call of every scenario in turn. An append says so or has kept its
// entry; the same process goes on afterwards; and a power cut then takes nothing that was acknowledged.
func TestEveryErrorIsToldOrHarmless(t *testing.T) {
	t.Parallel()
	for _, fault := range faults {
		for _, sc := range scenarios {
			t.Run(fault.name+", "+sc.name, func(t *testing.T) {
				t.Parallel()
				dir := lockedSpool(t)
				for n := 1; ; n++ {
					disk, l, o := newDisk(t, dir), newLedger(), sc.options
					o.FS = disk
					if sc.prepare != nil {
						sc.prepare(t, disk, dir, open(t, dir, o), l)
					}
					rule := fault.rule
					rule.Nth = n
					bad := errfs.Wrap(disk, rule)
					o.FS = bad
					j := open(t, dir, o)
					err := sc.act(j, l)
					if len(bad.Injected()) == 0 {
						if err != nil || n == 1 && fault.rule.Op == "" {
							t.Fatalf("without a fault, call %d: %v", n, err)
						}
						return
					}
					if err != nil && sc.name != "recover" {
						checkFault(t, err, fault.rule.Err, fault.want)
					}
					for i := range 2 {
						must.NoError(t, l.append(j, entry(401+i)))
					}
					for _, after := range powerCuts(disk, dir, n, seeds/4) {
						checkSession(t, after, dir, sc.options, l.clone())
					}
					if t.Failed() {
						t.Fatalf("fault at call %d, %v", n, bad.Injected())
					}
				}
			})
		}
	}
}

func checkFault(t *testing.T, err, cause error, want amber.Kind) {
	t.Helper()
	must.Is(t, "", err, cause)
	must.Kind(t, "with a fault", err, want)
	if (want == amber.KindRefused || errors.Is(cause, syscall.ENOSPC)) && amber.HintOf(err) == "" {
		t.Errorf("%v comes without a hint", err)
	}
}

// TestFailedSyncPoisonsTheSegment fails the sync of an append, and then more. The entry is never acknowledged
// by a second sync of the same file.
func TestFailedSyncPoisonsTheSegment(t *testing.T) {
	t.Parallel()
	failing := func(op errfs.Op, glob string, nth int) errfs.Rule {
		return errfs.Rule{Op: op, Glob: glob, Nth: nth, Err: syscall.EIO}
	}
	tests := []struct {
		name  string
		rules []errfs.Rule
		fails bool // the append that meets the fault
		want  []string
		files []string
	}{
		{
			"once",
			[]errfs.Rule{failing(errfs.OpSync, "000001.seg", 1)},
			false,
			[]string{"1 entry 1", "2 entry 2", "3 entry 3"},
			[]string{"000001.seg", "000002.seg"},
		}, {
			"every time on that file, and it cannot be cut",
			[]errfs.Rule{failing(errfs.OpSync, "000001.seg", 0), failing(errfs.OpTruncate, "", 0)},
			false,
			[]string{"1 entry 1", "2 entry 2", "3 entry 3"},
			[]string{"000001.seg", "000002.seg"},
		}, {
			"on both files",
			[]errfs.Rule{failing(errfs.OpSync, "*.seg", 1), failing(errfs.OpSync, "000002.seg", 1)},
			true,
			[]string{"1 entry 1", "2 entry 3"},
			[]string{"000001.seg", "000002.seg", "000003.seg"},
		}, {
			"on both files, and neither can be cut",
			[]errfs.Rule{failing(errfs.OpSync, "*.seg", 1), failing(errfs.OpSync, "000002.seg", 1), failing(errfs.OpTruncate, "", 0)},
			true,
			[]string{"1 entry 1", "2 entry 3"},
			[]string{"000001.seg", "000002.seg", "000003.seg"},
		}, {
			"and no new one can be made",
			[]errfs.Rule{failing(errfs.OpSync, "000001.seg", 1), failing(errfs.OpLink, "", 1), failing(errfs.OpTruncate, "", 0)},
			true,
			[]string{"1 entry 1", "2 entry 3"},
			[]string{"000001.seg", "000002.seg"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := lockedSpool(t)
			disk := newDisk(t, dir)
			fill(t, on(t, disk, dir), one, 1)
			bad := errfs.Wrap(disk, tt.rules...)
			j := on(t, bad, dir)
			if _, err := j.Append(t.Context(), one, entry(2)); (err != nil) != tt.fails {
				t.Errorf("append: %v", err)
			}
			mustAppend(t, j, one, entry(3))
			for seed := range uint64(seeds) {
				after := disk.CrashClone(rand.New(rand.NewPCG(seed, 0)))
				frames, d, err := readAll(on(t, after, dir), one.Key(), 0)
				if diff := cmp.Diff(texts(frames), tt.want); diff != "" || err != nil || d.Any() {
					t.Fatalf("seed %d: %+v, %v, frames (-got +want):\n%s", seed, d, err, diff)
				}
			}
			got := slices.DeleteFunc(files(t, disk, dir, string(one.Key())), func(name string) bool { return name == "meta" })
			must.Equal(t, "files", got, tt.files)
		})
	}
}

// TestNothingIsAcknowledgedWithoutASync fails every sync of every file.
func TestNothingIsAcknowledgedWithoutASync(t *testing.T) {
	t.Parallel()
	dir := lockedSpool(t)
	disk := newDisk(t, dir)
	fill(t, on(t, disk, dir), one, 2)
	j := on(t, errfs.Wrap(disk, errfs.Rule{Op: errfs.OpSync, Err: syscall.EIO}), dir)
	for i := range 5 {
		must.Fail(j.Append(t.Context(), one, entry(3+i)))(t, "append", amber.KindInternal)
	}
	must.Fail(j.Read(t.Context(), one.Key(), 0, func(journal.Frame) error { return nil }))(t, "read", amber.KindInternal)
	frames, d, err := readAll(on(t, disk, dir), one.Key(), 0)
	if diff := cmp.Diff(texts(frames), numbered(1, 2)); diff != "" || d.Any() || err != nil {
		t.Errorf("%+v, %v, frames (-got +want):\n%s", d, err, diff)
	}
}
