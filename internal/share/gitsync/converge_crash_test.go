package gitsync_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/golden"
	"github.com/amber-memory/amber/internal/test/must"
)

var (
	update     = flag.Bool("update", false, "rewrite the golden files")
	callStride = flag.Int("calls.stride", 4, "every how many calls are cut or fail; 1: each")
)

// cutSeeds is how many ways a power cut can go are tried after each call.
const cutSeeds = 6

// work is something that writes to the folder, from one state.
type work struct {
	name   string
	before func(c *clone)
	do     func(ctx context.Context, s *gitsync.Sync) error
	// erased says that versions may leave the folder.
	erased bool
	short  bool // every error is tried
	stride int  // of the calls that are tried; 0: one
}

func exportWork(ctx context.Context, s *gitsync.Sync) error {
	return must.Err(s.Export(ctx, gitsync.ExportOptions{}))
}

func compactWork(ctx context.Context, s *gitsync.Sync) error {
	return must.Err(s.Compact(ctx))
}

// fiveChunks exports five chunks.
func fiveChunks(c *clone) (ids []amber.MemoryID) {
	for i := range 5 {
		ids = append(ids, c.save(fmt.Sprintf("thought %d %s", i, strings.Repeat("on and on ", i))))
		c.export(gitsync.ExportOptions{})
	}
	return ids
}

var works = []work{
	{name: "first export", before: func(c *clone) { c.save("one") }, do: exportWork, short: true},
	{name: "export", before: func(c *clone) {
		c.edit(fiveChunks(c)[2], "another thought")
	}, do: exportWork},
	{name: "export of two chunks", before: func(c *clone) {
		for i := range 3 {
			c.save(fmt.Sprint(i) + strings.Repeat("zzz ", 220_000))
		}
	}, do: exportWork, stride: 5},
	{name: "compact", before: func(c *clone) { fiveChunks(c) }, do: compactWork, short: true},
	{name: "compact what was erased", before: func(c *clone) {
		ids := fiveChunks(c)
		must.Get(c.Erase(c.t.Context(), ids[1]))(c.t)
		c.export(gitsync.ExportOptions{})
	}, do: compactWork, erased: true},
	{name: "compact a pack of which something was erased", before: func(c *clone) {
		ids := fiveChunks(c)
		must.Get(c.sync.Compact(c.t.Context()))(c.t)
		must.Get(c.Erase(c.t.Context(), ids[1]))(c.t)
		c.export(gitsync.ExportOptions{})
	}, do: compactWork, erased: true},
}

// bench is a clone as a work finds it, from which copies are made.
type bench struct {
	w    work
	made *clone
	disk *crashfs.FS
	n    int
}

// newBench prepares a clone whose folder is on a simulated disk. The folder of
// the lock is on the real one too: kernel locks know no other.
func newBench(t *testing.T, w work) *bench {
	t.Helper()
	disk := crashfs.New()
	c := cloneAt(t, fastDir(t), gitsync.Options{Prompts: true})
	must.Do(t, os.MkdirAll(filepath.Join(c.folder, "local"), 0o755))
	must.Do(t, fsx.MkdirAll(disk, filepath.Dir(c.folder), 0o755))
	c.sync = syncOn(t, c, disk)
	w.before(c)
	must.Do(t, c.Close())
	return &bench{w: w, made: c, disk: disk}
}

// copy returns the clone and its disk as they were prepared, where everything
// was synced.
func (b *bench) copy(t *testing.T) (*clone, *crashfs.FS) {
	t.Helper()
	b.n++
	disk := b.disk.CrashClone(rand.New(rand.NewPCG(0, 0)))
	c := &clone{t: t, clock: newWrist(), home: fmt.Sprint(b.made.home, b.n), folder: b.made.folder}
	must.Do(t, os.CopyFS(c.home, os.DirFS(b.made.home)))
	c.open(gitsync.Options{FS: disk, Prompts: true})
	return c, disk
}

func (b *bench) close(t *testing.T, c *clone) {
	t.Helper()
	must.Do(t, c.Close())
	must.Do(t, os.RemoveAll(c.home))
}

func syncOn(t *testing.T, c *clone, fsys fsx.FS) *gitsync.Sync {
	t.Helper()
	return must.Get(gitsync.Options{FS: fsys, Prompts: true, Redact: rules}.Open(c.Store, c.folder))(t)
}

// goal returns how much the folder holds when the work is done.
func (b *bench) goal(t *testing.T) int {
	t.Helper()
	c, disk := b.copy(t)
	defer b.close(t, c)
	must.Do(t, b.w.do(t.Context(), c.sync))
	return len(holds(t, disk, c.folder))
}

// mustHoldNoted checks that every chunk the store counts as exported is there,
// as a file, in a pack, or rewritten.
func mustHoldNoted(t *testing.T, c *clone, disk fsx.FS) {
	t.Helper()
	place := must.Get(c.SyncPlace(t.Context(), c.sync.Dir(), ""))(t)
	if place.Chunk == "" {
		return
	}
	for _, p := range partsIn(t, disk, c.folder, false) {
		d := must.Get(chunk.Decode(p.ID, p.Bytes))(t)
		if string(p.ID) == place.Chunk {
			return
		}
		for _, old := range d.Header.Rewrites {
			if string(old) == place.Chunk {
				return
			}
		}
	}
	t.Errorf("chunk %s is noted as exported, and the folder does not have it", place.Chunk)
}

// mustFinish repeats the work on what is left, and checks that nothing is
// missing then.
func mustFinish(t *testing.T, w work, c *clone, disk fsx.FS, want int) {
	t.Helper()
	s := syncOn(t, c, disk)
	must.Do(t, w.do(t.Context(), s))
	held := holds(t, disk, c.folder)
	must.Equal(t, "versions in the folder", len(held), want)
	// Compaction removes temporary files too, also where there is nothing else to do.
	must.Do(t, compactWork(t.Context(), s))
	if after := holds(t, disk, c.folder); len(after) != want && !w.erased {
		t.Errorf("compacted, the folder holds %d versions, want %d", len(after), want)
	}
	if left := temps(t, disk, filepath.Dir(c.folder)); left != nil {
		t.Errorf("%v are left", left)
	}
}

// temps returns the temporary files below a folder.
func temps(t *testing.T, fsys fsx.FS, root string) (found []string) {
	t.Helper()
	for _, e := range must.Get(fsys.ReadDir(root))(t) {
		path := filepath.Join(root, e.Name())
		switch {
		case e.IsDir():
			found = append(found, temps(t, fsys, path)...)
		case strings.HasPrefix(e.Name(), fsx.TempPrefix):
			found = append(found, path)
		}
	}
	return found
}

// TestWorkSurvivesAPowerCut cuts the power at every call. Files under names of
// chunks are whole, what the store counts as exported is there, and the work
// can be done again.
func TestWorkSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	for _, w := range works {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, w)
			want := b.goal(t)
			for n := 1; ; n += max(1, w.stride) * *callStride {
				c, disk := b.copy(t)
				had := holds(t, disk, c.folder)
				cut := disk.Calls() + n
				disk.StopAt(cut)
				err := w.do(t.Context(), c.sync)
				if err != nil && !errors.Is(err, crashfs.ErrCrashed) {
					t.Fatalf("cut at call %d: %v", n, err)
				}
				for s := range uint64(cutSeeds) {
					after := disk.CrashClone(rand.New(rand.NewPCG(s, uint64(n))))
					mustHoldNoted(t, c, after)
					mustStillHold(t, w, c, after, had)
					if s == cutSeeds-1 { // the store is that of one future only
						mustFinish(t, w, c, after, want)
					}
					if t.Failed() {
						t.Fatalf("cut at call %d, seed %d", n, s)
					}
				}
				b.close(t, c)
				if disk.Calls() < cut {
					t.Logf("%d calls", n)
					return
				}
			}
		})
	}
}

// mustStillHold checks that nothing left the folder that was in it before.
func mustStillHold(t *testing.T, w work, c *clone, disk fsx.FS, had map[string]int) {
	t.Helper()
	held := map[string]int{}
	for _, p := range partsIn(t, disk, c.folder, false) {
		d := must.Get(chunk.Decode(p.ID, p.Bytes))(t)
		for _, r := range d.Records {
			held[fmt.Sprint(r.Ref(), r.Origin(), r.Erased != nil)]++
		}
	}
	lost := 0
	for what := range had {
		if held[what] == 0 {
			lost++
		}
	}
	if lost > 1 || lost == 1 && !w.erased {
		t.Errorf("%d versions left the folder", lost)
	}
}

// TestWorkReportsEveryError fails every call once. Then there is an error, or
// all is done; either way the folder is whole and the work can be done again.
func TestWorkReportsEveryError(t *testing.T) {
	t.Parallel()
	for _, w := range works {
		faults := []error{syscall.EIO}
		if w.short {
			faults = append(faults, syscall.ENOSPC, syscall.EACCES)
		}
		for _, fault := range faults {
			t.Run(fmt.Sprintf("%s, %v", w.name, fault), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, w)
				want := b.goal(t)
				for n := 1; ; n += max(1, w.stride) * *callStride {
					c, disk := b.copy(t)
					had := holds(t, disk, c.folder)
					e := errfs.Wrap(disk, errfs.Rule{Nth: n, Err: fault})
					s := must.Get(gitsync.Options{FS: e, Prompts: true, Redact: rules}.Open(c.Store, c.folder))(t)
					err := w.do(t.Context(), s)
					fired := e.Injected()
					if len(fired) == 0 {
						must.Do(t, err)
						b.close(t, c)
						t.Logf("%d calls", n)
						return
					}
					if err == nil && len(holds(t, disk, c.folder)) < want && !w.erased {
						t.Errorf("nothing was reported, and something is missing")
					}
					if err != nil && !errors.Is(err, fault) {
						t.Errorf("the error is %v and not %v", err, fault)
					}
					mustHoldNoted(t, c, disk)
					mustStillHold(t, w, c, disk, had)
					mustFinish(t, w, c, disk, want)
					if t.Failed() {
						t.Fatalf("%s, call %d: %v", fired[0], n, err)
					}
					b.close(t, c)
				}
			})
		}
	}
}

// TestIOOrder pins the order of writes, syncs and links of an export and of a
// compaction.
func TestIOOrder(t *testing.T) {
	t.Parallel()
	names := regexp.MustCompile(`[0-9a-f]{64}\.jsonl\.zst`)
	sizes := regexp.MustCompile(`(?m)^(write \S+) \d+$`)
	for file, w := range map[string]work{"io_first_export": works[0], "io_export": works[1], "io_compact": works[3]} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			w.before(c)
			var lines []string
			s := syncOn(t, c, errfs.TraceRel(fsx.OS(), c.folder, func(line string) { lines = append(lines, line) }))
			must.Do(t, w.do(t.Context(), s))
			text := names.ReplaceAllString(strings.Join(lines, "\n")+"\n", "ID")
			golden.Check(t, *update, file, sizes.ReplaceAllString(text, "$1 N"))
		})
	}
}

// TestFoldersBegunAtOnceAreTheSame: every clone that makes the folder writes the same
// files, which git then adds on both sides.
func TestFoldersBegunAtOnceAreTheSame(t *testing.T) {
	t.Parallel()
	a, b := newClone(t), newClone(t)
	a.save("one")
	b.save("two")
	a.export(gitsync.ExportOptions{})
	b.export(gitsync.ExportOptions{})
	for _, name := range []string{".gitattributes", ".gitignore"} {
		one := must.Get(os.ReadFile(filepath.Join(a.folder, name)))(t)
		two := must.Get(os.ReadFile(filepath.Join(b.folder, name)))(t)
		must.Equal(t, name, string(two), string(one))
	}
}

// TestConcurrentUse lets goroutines save, export, import and look at one folder
// at the same time: every version is written once.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	const each, writers = 6, 3
	var wg sync.WaitGroup
	errs := make([]error, 2*writers)
	for n := range writers {
		wg.Go(func() {
			for i := range each {
				_, err := c.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprintf("thought %d of %d", i, n)})
				_, eerr := c.sync.Export(t.Context(), gitsync.ExportOptions{})
				errs[n] = errors.Join(errs[n], err, eerr)
			}
		})
		wg.Go(func() {
			for range each {
				_, err := c.sync.Import(t.Context())
				_, serr := c.sync.Status(t.Context(), "")
				errs[writers+n] = errors.Join(errs[writers+n], err, serr)
			}
		})
	}
	wg.Wait()
	must.Do(t, errors.Join(errs...))
	held := holds(t, fsx.OS(), c.folder)
	must.Equal(t, "versions in the chunks", len(held), each*writers)
	for what, n := range held {
		must.Equal(t, fmt.Sprintf("chunks with %s", what), n, 1)
	}
}
