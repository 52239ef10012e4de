package shelf_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// seeds is how many ways a power cut can go are tried after each call.
const seeds = 4

// big is longer than one block, so that a cut can tear it.
func big(s string) string { return strings.Repeat(s+"\n", 1500) }

// files is what a vault holds.
type files map[string]string

// begin is what a vault holds before a change.
var begin = files{"a": big("old a"), "b": big("old b")}

// change is something done to a vault, and what it holds afterwards. In between it
// may hold nothing but what it held before, or what halfway says.
type change struct {
	name    string
	do      func(ctx context.Context, s *shelf.Shelf) error
	after   files
	halfway files
}

// changes are all that can be done to a vault that holds what begin says.
var changes = []change{
	{name: "put", after: files{"a": big("old a"), "b": big("old b"), "c": big("new c")}, do: func(ctx context.Context, s *shelf.Shelf) error {
		return must.Err(s.Put(ctx, "c", big("new c")))
	}},
	{name: "replace", after: files{"a": big("new a"), "b": big("old b")}, do: func(ctx context.Context, s *shelf.Shelf) error {
		return must.Err(s.PutIf(ctx, "a", big("new a"), colony.Condition{Version: sha(big("old a"))}))
	}},
	{name: "append", after: files{"a": big("old a") + "more", "b": big("old b")}, do: func(ctx context.Context, s *shelf.Shelf) error {
		return must.Err(s.Append(ctx, "a", "more"))
	}},
	{name: "delete", after: files{"b": big("old b")}, do: func(ctx context.Context, s *shelf.Shelf) error {
		return s.Delete(ctx, "a")
	}},
	{
		name: "move", after: files{"b": big("old b"), "c": big("old a")}, halfway: files{"a": big("old a"), "b": big("old b"), "c": big("old a")},
		do: func(ctx context.Context, s *shelf.Shelf) error { return must.Err(s.Move(ctx, "a", "c", false)) },
	},
	{
		name: "move over", after: files{"b": big("old a")}, halfway: files{"a": big("old a"), "b": big("old a")},
		do: func(ctx context.Context, s *shelf.Shelf) error { return must.Err(s.Move(ctx, "a", "b", true)) },
	},
	{name: "copy", after: files{"a": big("old a"), "b": big("old a")}, do: func(ctx context.Context, s *shelf.Shelf) error {
		return must.Err(s.Copy(ctx, "a", "b", true))
	}},
}

// disk returns a home on a simulated disk whose agent has the given files. The
// folder of the agent is on the real disk too: kernel locks know no other.
func disk(t *testing.T, dir string, content files) *crashfs.FS {
	t.Helper()
	fsys := crashfs.New()
	must.Do(t, fsx.MkdirAll(fsys, filepath.Dir(dir), 0o700))
	a := must.Get(openAgent(dir, fsys))(t)
	create(t, a)
	s := open(t, dir, func(o *shelf.Options) { o.FS = fsys })
	for name, text := range content {
		s.put(name, text)
	}
	return fsys
}

func lockedHome(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	must.Do(t, os.MkdirAll(filepath.Join(dir, "tenants", "default", "agents", "default"), 0o700))
	return dir
}

// held reads everything a vault holds.
func held(t *testing.T, dir string, fsys fsx.FS) files {
	t.Helper()
	s := open(t, dir, func(o *shelf.Options) { o.FS = fsys })
	all := files{}
	for _, name := range s.names() {
		f := must.Get(s.Get(t.Context(), name))(t)
		all[name] = f.Content
	}
	return all
}

// TestPowerCut kills every change at every call. A change that was acknowledged is
// whole afterwards; one that was not is there as a whole or not at all. The vault
// goes on.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cutAtEveryCall(t, begin, c)
		})
	}
}

func cutAtEveryCall(t *testing.T, before files, c change) {
	t.Helper()
	dir := lockedHome(t)
	for n := 1; ; n++ {
		fsys := disk(t, dir, before)
		s := open(t, dir, func(o *shelf.Options) { o.FS = fsys })
		calls := fsys.Calls()
		fsys.StopAt(calls + n)
		err := c.do(t.Context(), s.Shelf)
		if err != nil && !errors.Is(err, crashfs.ErrCrashed) {
			t.Fatalf("cut at call %d: %v", n, err)
		}
		for seed := range uint64(seeds) {
			after := fsys.CrashClone(rand.New(rand.NewPCG(seed, uint64(n))))
			got := held(t, dir, after)
			if !c.leaves(got, before, err) {
				t.Fatalf("cut at call %d (%v), seed %d: got %s", n, err, seed, brief(got))
			}
			goesOn(t, dir, after, got, uint64(n))
		}
		if fsys.Calls() < calls+n {
			t.Logf("%d calls", n-1)
			return
		}
	}
}

// leaves reports whether a vault may hold got after a change that ended with err.
func (c change) leaves(got, before files, err error) bool {
	return cmp.Equal(got, c.after) || err != nil && (cmp.Equal(got, before) || c.halfway != nil && cmp.Equal(got, c.halfway))
}

// goesOn puts a file after a power cut, and cuts again.
func goesOn(t *testing.T, dir string, fsys *crashfs.FS, had files, seed uint64) {
	t.Helper()
	open(t, dir, func(o *shelf.Options) { o.FS = fsys }).put("later", "life goes on")
	want := maps.Clone(had)
	want["later"] = "life goes on"
	if got := held(t, dir, fsys.CrashClone(rand.New(rand.NewPCG(seed, 1)))); !cmp.Equal(got, want) {
		t.Fatalf("after the next put: got %s, want %s", brief(got), brief(want))
	}
}

// TestFirstPutSurvivesAPowerCut cuts while the folders of the vault are made.
func TestFirstPutSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	cutAtEveryCall(t, files{}, change{after: files{"a": "first"}, do: func(ctx context.Context, s *shelf.Shelf) error {
		return must.Err(s.PutIf(ctx, "a", "first", absent))
	}})
}

// TestEveryCallFails lets each call of each change fail, as a full or a broken disk
// does. The change says so and is made or not; the next one is made.
func TestEveryCallFails(t *testing.T) {
	t.Parallel()
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := lockedHome(t)
			for n := 1; ; n++ {
				base := disk(t, dir, begin)
				a := must.Get(openAgent(dir, base))(t)
				fsys := errfs.Wrap(base, errfs.Rule{Nth: n, Err: syscall.ENOSPC, Written: 5})
				s := must.Get(shelf.Open(a, shelf.Options{Clock: today, FS: fsys}))(t)
				err := c.do(t.Context(), s)
				if len(fsys.Injected()) == 0 {
					t.Logf("%d calls", n-1)
					return
				}
				got := held(t, dir, base)
				if !c.leaves(got, begin, err) {
					t.Fatalf("call %d, %s (%v): got %s", n, fsys.Injected(), err, brief(got))
				}
				if err != nil && amber.KindOf(err) != amber.KindInternal {
					t.Fatalf("call %d, %s: got kind %s: %v", n, fsys.Injected(), amber.KindOf(err), err)
				}
				if err == nil {
					goesOn(t, dir, base, got, uint64(n))
				}
				again := open(t, dir, func(o *shelf.Options) { o.FS = base })
				again.put("a", "life goes on")
				again.holds("a", "life goes on")
			}
		})
	}
}

// TestConflictIsDurable lets the last sync of a put fail: the file is there, and
// the caller was not told. A writer that finds it by a conflict may build on it.
func TestConflictIsDurable(t *testing.T) {
	t.Parallel()
	dir := lockedHome(t)
	base := disk(t, dir, begin)
	sum := sha("c")
	// The shard may or may not be there; only the sync after the rename is of interest.
	must.Do(t, fsx.MkdirAll(base, filepath.Join(dir, "tenants/default/agents/default/gen/1/state/vault", sum[:2]), 0o700))
	broken := open(t, dir, func(o *shelf.Options) {
		o.FS = errfs.Wrap(base, errfs.Rule{Op: errfs.OpSyncDir, Glob: sum[:2], Err: syscall.EIO})
	})
	_, err := broken.PutIf(t.Context(), "c", "new", absent)
	must.Is(t, "", err, fsx.ErrInPlace)
	must.Fail(broken.PutIf(t.Context(), "c", "new", absent))(t, "while it cannot be synced", amber.KindInternal)
	s := open(t, dir, func(o *shelf.Options) { o.FS = base })
	must.Fail(s.PutIf(t.Context(), "c", "new", absent))(t, "a second put", amber.KindConflict)
	for seed := range uint64(20) {
		if got := held(t, dir, base.CrashClone(rand.New(rand.NewPCG(seed, 0)))); got["c"] != "new" {
			t.Fatalf("seed %d: got %s", seed, brief(got))
		}
	}
}

// brief describes what a vault holds.
func brief(all files) string {
	var b strings.Builder
	for _, name := range sorted(keys(all)) {
		fmt.Fprintf(&b, "%s=%d:%.5s ", name, len(all[name]), all[name])
	}
	return b.String()
}

func keys(all files) []string {
	var list []string
	for name := range all {
		list = append(list, name)
	}
	return list
}
