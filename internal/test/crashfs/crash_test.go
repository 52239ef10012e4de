package crashfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	block = 4096
	seeds = 400
)

// disk is a crashfs with calls that end the test when they fail.
type disk struct {
	*crashfs.FS
	t *testing.T
}

func newDisk(t *testing.T) disk { return disk{crashfs.New(), t} }

func (d disk) must(err error) {
	d.t.Helper()
	must.Do(d.t, err)
}

func (d disk) open(name string, flag int) fsx.File {
	d.t.Helper()
	f, err := d.OpenFile(name, flag, 0o600)
	d.must(err)
	return f
}

func (d disk) write(f fsx.File, s string) {
	d.t.Helper()
	d.must(must.Err(f.Write([]byte(s))))
}

// durable makes a file whose content and name survive.
func (d disk) durable(name, content string) {
	d.t.Helper()
	d.must(fsx.CreateNew(d, name, 0o600, []byte(content)))
}

// outcomes returns every state that power cuts leave, as show describes it, sorted.
func (d disk) outcomes(show func(after *crashfs.FS) string) []string {
	d.t.Helper()
	var all []string
	for seed := range uint64(seeds) {
		s := show(d.CrashClone(rand.New(rand.NewPCG(seed, 1))))
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	slices.Sort(all)
	return all
}

func (d disk) wantOutcomes(show func(*crashfs.FS) string, want ...string) {
	d.t.Helper()
	slices.Sort(want)
	must.Equal(d.t, "outcomes", d.outcomes(show), want)
}

// names shows the given paths that exist.
func names(paths ...string) func(*crashfs.FS) string {
	return func(after *crashfs.FS) string {
		var there []string
		for _, p := range paths {
			if _, err := after.Lstat(p); err == nil {
				there = append(there, p)
			}
		}
		return strings.Join(there, " ")
	}
}

// content shows a file, with runs of the same byte shortened: "a4096 b10", or "none".
func content(path string) func(*crashfs.FS) string {
	return func(after *crashfs.FS) string {
		data, err := fsx.ReadFile(after, path, 1<<20)
		if errors.Is(err, fs.ErrNotExist) {
			return "none"
		}
		if err != nil {
			return err.Error()
		}
		var runs []string
		for len(data) > 0 {
			rest := bytes.TrimLeft(data, string(data[:1]))
			sign := string(data[:1])
			if data[0] == 0 {
				sign = "0x"
			}
			runs = append(runs, fmt.Sprintf("%s%d", sign, len(data)-len(rest)))
			data = rest
		}
		return strings.Join(runs, " ")
	}
}

func fill(sign string, n int) string { return strings.Repeat(sign, n) }

func TestContentAfterCrash(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(d disk)
		want []string
	}{
		{"synced content survives", func(d disk) {}, []string{"a8192"}},
		{"overwritten blocks are old or new", func(d disk) {
			d.write(d.open("f", os.O_WRONLY), fill("b", 2*block))
		}, []string{"a8192", "b8192", "a4096 b4096", "b4096 a4096"}},
		{"synced overwrite survives", func(d disk) {
			f := d.open("f", os.O_WRONLY)
			d.write(f, fill("b", 2*block))
			d.must(f.Sync())
		}, []string{"b8192"}},
		{"a sync covers only what came before it", func(d disk) {
			f := d.open("f", os.O_WRONLY)
			d.write(f, fill("b", block))
			d.must(f.Sync())
			d.write(f, fill("c", block))
		}, []string{"b4096 a4096", "b4096 c4096"}},
		{"a sync through another open file counts", func(d disk) {
			d.write(d.open("f", os.O_WRONLY), fill("b", block))
			d.must(d.open("f", os.O_RDONLY).Sync())
		}, []string{"b4096 a4096"}},
		{"appended byte is there, zero or missing", func(d disk) {
			d.write(d.open("f", os.O_WRONLY|os.O_APPEND), "b")
		}, []string{"a8192", "a8192 0x1", "a8192 b1"}},
		{"unsynced truncation", func(d disk) {
			d.must(d.open("f", os.O_WRONLY).Truncate(2*block - 1))
		}, []string{"a8191", "a8192"}},
		{"synced truncation survives", func(d disk) {
			f := d.open("f", os.O_WRONLY)
			d.must(f.Truncate(3))
			d.must(f.Sync())
		}, []string{"a3"}},
		{"cut and grown again, synced", func(d disk) {
			f := d.open("f", os.O_WRONLY)
			d.must(f.Truncate(3))
			d.must(f.Truncate(5))
			d.must(f.Sync())
		}, []string{"a3 0x2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			d.durable("f", fill("a", 2*block))
			tt.do(d)
			d.wantOutcomes(content("f"), tt.want...)
		})
	}
}

func TestRewrittenFileAfterCrash(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	d.durable("f", fill("a", 2*block))
	d.write(d.open("f", os.O_WRONLY|os.O_TRUNC), fill("b", 2*block))
	got := d.outcomes(content("f"))
	// Rewriting in place is dangerous because all of these happen.
	for _, want := range []string{"", "a8192", "b8192", "a4096 b4096", "b4096 0x4096", "0x8192"} {
		must.Hold(t, slices.Contains(got, want), "%q never happened in %d crashes", want, seeds)
	}
}

func TestNeverSyncedFileAfterCrash(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	d.write(d.open("f", os.O_WRONLY|os.O_CREATE), fill("b", block))
	d.must(d.SyncDir("/"))
	got := d.outcomes(content("f"))
	for _, want := range []string{"", "b4096", "0x4096"} {
		must.Hold(t, slices.Contains(got, want), "%q never happened in %d crashes", want, seeds)
	}
	must.Hold(t, !slices.Contains(got, "none"), "the synced name was lost")
}

// TestBuiltTreeAfterCrash checks that a file which was only built may be lost, empty, torn or whole, and that
// SyncAll leaves one outcome.
func TestBuiltTreeAfterCrash(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	d.must(fsx.MkdirAll(d, "/d", 0o700))
	d.must(d.Mkdir("/d/e", 0o700))
	f, err := fsx.Build(d, "/d/e/a", 0o600)
	d.must(err)
	for _, at := range []int64{block, 0} { // any order
		d.must(must.Err(f.WriteAt([]byte(fill("a", block)), at)))
	}
	got := d.outcomes(content("/d/e/a"))
	for _, want := range []string{"none", "", "a8192", "0x4096 a4096", "a4096 0x4096"} {
		must.Hold(t, slices.Contains(got, want), "no power cut leaves %q, only %q", want, got)
	}
	d.must(d.SyncAll("/d"))
	d.wantOutcomes(content("/d/e/a"), "a8192")
	// SyncAll does not cover later changes.
	d.must(d.Rename("/d/e/a", "/d/a"))
	d.wantOutcomes(names("/d/a", "/d/e/a"), "/d/e/a", "/d/a")
	d.must(d.SyncAll("/d"))
	d.wantOutcomes(names("/d/a", "/d/e/a"), "/d/a")
}

func TestNamesAfterCrash(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(d disk)
		want []string // of the paths a, b, x/a, x/b and y, those that are left
	}{
		{"nothing done", func(d disk) {}, []string{"a"}},
		{"created", func(d disk) { d.open("b", os.O_CREATE|os.O_WRONLY) }, []string{"a", "a b"}},
		{"created, file synced", func(d disk) {
			d.must(d.open("b", os.O_CREATE|os.O_WRONLY).Sync())
		}, []string{"a", "a b"}},
		{"created, directory synced", func(d disk) {
			d.open("b", os.O_CREATE|os.O_WRONLY)
			d.must(d.SyncDir("/"))
		}, []string{"a b"}},
		{"created, other directory synced", func(d disk) {
			d.open("b", os.O_CREATE|os.O_WRONLY)
			d.must(d.SyncDir("/x"))
		}, []string{"a", "a b"}},
		{"linked", func(d disk) { d.must(d.Link("a", "b")) }, []string{"a", "a b"}},
		{"removed", func(d disk) { d.must(d.Remove("a")) }, []string{"", "a"}},
		{"removed, directory synced through a handle", func(d disk) {
			d.must(d.Remove("a"))
			d.must(d.open("/", os.O_RDONLY).Sync())
		}, []string{""}},
		{"renamed", func(d disk) { d.must(d.Rename("a", "b")) }, []string{"a", "b"}},
		{"renamed across directories", func(d disk) { d.must(d.Rename("a", "x/a")) }, []string{"a", "x/a"}},
		{"renamed across directories, new one synced", func(d disk) {
			d.must(d.Rename("a", "x/a"))
			d.must(d.SyncDir("x"))
		}, []string{"a x/a", "x/a"}},
		{"renamed across directories, old one synced", func(d disk) {
			d.must(d.Rename("a", "x/a"))
			d.must(d.SyncDir("/"))
		}, []string{"", "x/a"}},
		{"renamed across directories, both synced", func(d disk) {
			d.must(d.Rename("a", "x/a"))
			d.must(d.SyncDir("x"))
			d.must(d.SyncDir("/"))
		}, []string{"x/a"}},
		{"independent operations", func(d disk) {
			d.open("b", os.O_CREATE|os.O_WRONLY)
			d.must(d.Remove("a"))
		}, []string{"", "a", "b", "a b"}},
		{"file in a new directory", func(d disk) {
			d.must(d.Mkdir("y", 0o700))
			d.open("y/f", os.O_CREATE|os.O_WRONLY)
			d.must(d.SyncDir("y"))
		}, []string{"a", "a y"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			d.must(fsx.MkdirAll(d, "x", 0o700))
			d.durable("a", "one")
			tt.do(d)
			d.wantOutcomes(names("a", "b", "x/a", "x/b", "y"), tt.want...)
		})
	}
}

func TestRenameIsAtomic(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	d.durable("current", "a")
	d.durable("next", "b")
	d.must(d.Rename("next", "current"))
	d.wantOutcomes(func(after *crashfs.FS) string {
		return content("current")(after) + " " + names("next")(after)
	}, "a1 next", "b1 ")
}

func TestMovedDirectoryHasOneName(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	d.must(fsx.MkdirAll(d, "x/d", 0o700))
	d.must(fsx.MkdirAll(d, "y", 0o700))
	d.durable("x/d/f", "a")
	d.must(d.Rename("x/d", "y/d"))
	d.must(d.Rename("y/d", "d"))
	d.must(d.Rename("x", "d/x"))
	where := names("x/d/f", "y/d/f", "d/f")
	d.wantOutcomes(where, "x/d/f", "y/d/f", "d/f")
	d.must(d.SyncDir("d"))
	d.wantOutcomes(where, "d/f")
}

func TestLinkedFileIsOneFileAfterCrash(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	d.durable("a", "one")
	d.must(d.Link("a", "b"))
	d.must(d.SyncDir("/"))
	after := disk{d.CrashClone(rand.New(rand.NewPCG(1, 1))), t}
	after.write(after.open("a", os.O_WRONLY|os.O_APPEND), "!")
	must.Equal(t, "b", content("b")(after.FS), content("a")(after.FS))
}

func TestCrashCloneIsDeterministicAndApart(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	for i := range 20 {
		d.write(d.open(fmt.Sprintf("f%d", i), os.O_WRONLY|os.O_CREATE), fill("b", 10*block))
	}
	show := func(after *crashfs.FS) string {
		var all strings.Builder
		for i := range 20 {
			fmt.Fprintln(&all, content(fmt.Sprintf("f%d", i))(after))
		}
		return all.String()
	}
	first := d.CrashClone(rand.New(rand.NewPCG(7, 7)))
	before := show(first)
	must.Equal(t, "the same seed", show(d.CrashClone(rand.New(rand.NewPCG(7, 7)))), before)
	must.Hold(t, len(d.outcomes(show)) >= seeds/2, "seeds hardly make a difference")
	for i := range 20 {
		d.write(d.open(fmt.Sprintf("f%d", i), os.O_WRONLY), "changed")
	}
	must.Equal(t, "the clone after a write to the original", show(first), before)
	// The state after a crash is on disk: another crash takes nothing away.
	must.Equal(t, "after a second crash", show(first.CrashClone(rand.New(rand.NewPCG(8, 8)))), before)
}
