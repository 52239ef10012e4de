package snapshot_test

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

var (
	tamperStride  = flag.Int("tamper.stride", 401, "every how many bytes of a repository one is changed; 1: each")
	tamperRestore = flag.Int("tamper.restore", 20, "at every how many of these restores are tried, too")
)

// maxTampered is how large the repository may be whose every byte is changed.
const maxTampered = 256 << 10

// small is a home whose repository has an object of every kind, and what its
// snapshots hold.
type small struct {
	dir       string
	snapshots map[amber.SnapshotID]everything
}

func newSmall(t *testing.T) *small {
	t.Helper()
	w := newWorld(t)
	s := &small{dir: w.dir, snapshots: map[amber.SnapshotID]everything{}}
	w.remember("the build needs Go 1.26")
	w.note("decisions/database", "SQLite, because it is one file.\n")
	w.state("extract_cursor", `{"at":7}`)
	first := w.snapshot()
	s.snapshots[first.ID] = w.all()
	w.state("last_consolidation", fmt.Sprintf(`{"seen":"%x"}`, noise(4096)))
	deleted := w.snapshot()
	w.state("last_consolidation", `{"seen":""}`)
	w.remember("something newer")
	w.note("later", "added later\n")
	w.say(1, "captured and not drained")
	second := w.snapshot()
	s.snapshots[second.ID] = w.all()
	must.Do(t, w.engine.PinSnapshot(t.Context(), ref(second.ID), true))
	must.Do(t, w.engine.DeleteSnapshot(t.Context(), ref(deleted.ID)))
	must.Get(w.engine.CollectGarbage(t.Context(), wire.GCRequest{Tenant: "default"}))(t)
	w.mustCheck()
	must.Do(t, w.store.Close())
	return s
}

// noise returns bytes that cannot be compressed, the same every time.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{})
	_, _ = r.Read(b)
	return b
}

// object is a file of a repository.
type object struct {
	path string // below the repository
	size int64
}

// objects lists the files of a repository but for its lock.
func objects(t *testing.T, dir string) (all []object) {
	t.Helper()
	root := repoDir(dir)
	must.Do(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ".lock" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		all = append(all, object{rel, info.Size()})
		return err
	}))
	return all
}

func repoDir(dir string) string { return filepath.Join(dir, "tenants", "default", "repo") }

// bench is a copy of a small home to try things on.
type bench struct {
	t     *testing.T
	small *small
	dir   string
	a     *actor
	forks int
}

func (s *small) bench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, small: s, dir: filepath.Join(t.TempDir(), "home")}
	copyTree(t, s.dir, b.dir)
	b.a = newActor(t.Context(), t, b.dir, newMortal(0, nil))
	return b
}

// damage returns what a check of everything finds.
func (b *bench) damage(what string) []wire.Damage {
	b.t.Helper()
	r, err := b.a.engine.CheckRepository(b.a.ctx, wire.CheckRequest{Tenant: "default", ReadData: true})
	if err != nil {
		b.t.Fatalf("%s: check: %v", what, err)
	}
	return r.Damaged
}

// mustNotice checks that a change is found, and where restores are tried that
// each refuses or gives exactly the right agent.
func (b *bench) mustNotice(what string, restores bool) (refused, right int) {
	b.t.Helper()
	damaged := b.damage(what)
	must.Hold(b.t, len(damaged) > 0, "%s: nothing was found", what)
	if !restores {
		return 0, 0
	}
	for id, want := range b.small.snapshots {
		wrong := slices.DeleteFunc(slices.Clone(damaged), func(d wire.Damage) bool { return !slices.Contains(d.Snapshots, id) })
		r := b.restoreRefused(what, id, want)
		if r && len(wrong) == 0 && !slices.ContainsFunc(damaged, ofChain) {
			b.t.Errorf("%s: the restore of %s was refused, and the check does not say that it is damaged: %v", what, id, damaged)
		}
		if !r && !slices.ContainsFunc(wrong, dispensable) && len(wrong) > 0 {
			b.t.Errorf("%s: the check says that %s is damaged, and it was restored: %v", what, id, wrong)
		}
		if r {
			refused++
			continue
		}
		right++
	}
	return refused, right
}

// dispensable reports whether a restore can do without what is damaged: all
// that the frame of a pack says is in an index, too, a pin is no part of a
// snapshot, and neither are the others of its chain.
func dispensable(d wire.Damage) bool {
	return ofChain(d) || strings.HasPrefix(d.Object, "pins/") || strings.Contains(d.Reason, "header") || strings.Contains(d.Reason, "footer") ||
		strings.Contains(d.Reason, "directory")
}

// ofChain reports whether a link of a chain is gone. The check reports that about the next link.
func ofChain(d wire.Damage) bool { return strings.HasPrefix(d.Object, "chain ") }

// restoreRefused restores a snapshot to a new agent and reports whether the engine refused that. A
// restored agent must be the right one.
func (b *bench) restoreRefused(what string, id amber.SnapshotID, want everything) bool {
	b.t.Helper()
	b.forks++
	to := amber.AgentID(fmt.Sprintf("fork-%d", b.forks))
	_, err := b.a.engine.Restore(b.a.ctx, wire.RestoreRequest{SnapshotRef: ref(id), To: to, WithControl: true})
	agent := must.Get(b.a.home.Agent("default", to))(b.t)
	defer os.RemoveAll(filepath.Join(b.dir, "tenants", "default", "agents", string(to)))
	if err != nil {
		if _, cerr := agent.Current(); amber.KindOf(cerr) != amber.KindNotFound {
			b.t.Errorf("%s: the restore was refused, and there is an agent: %v", what, cerr)
		}
		switch amber.KindOf(err) {
		case amber.KindDamaged, amber.KindNotFound, amber.KindTooNew, amber.KindRefused, amber.KindUntrusted:
		default:
			b.t.Errorf("%s: the restore was refused with %s: %v", what, amber.KindOf(err), err)
		}
		return true
	}
	w := openFork(b.t, b.a, agent)
	defer w.store.Close()
	must.Equal(b.t, what+": the restore went through and is wrong", w.all(), want)
	return false
}

// openFork opens an agent that was made by a restore.
func openFork(t *testing.T, a *actor, agent *home.Agent) *world {
	t.Helper()
	w := &world{t: t, dir: a.home.Dir(), home: a.home, agent: agent, engine: a.engine}
	w.openStore()
	w.notes = must.Get(notes.New(notes.Options{Guard: snapshot.NotesGuard(agent), Clock: time.Now}))(t)
	return w
}

// altered changes a file for the time of fn.
func (b *bench) altered(path string, change func([]byte) []byte, fn func()) {
	b.t.Helper()
	path = filepath.Join(repoDir(b.dir), path)
	was := must.Get(os.ReadFile(path))(b.t)
	write := func(data []byte) {
		must.Do(b.t, os.WriteFile(path, data, 0o600))
	}
	write(change(slices.Clone(was)))
	fn()
	write(was)
}

// TestEveryChangedByteIsNoticed changes bytes of a whole repository, one at a
// time and in two ways each.
func TestEveryChangedByteIsNoticed(t *testing.T) {
	t.Parallel()
	s := newSmall(t)
	all := objects(t, s.dir)
	var total int64
	kinds := map[string]bool{}
	for _, o := range all {
		total += o.size
		kinds[strings.Split(filepath.ToSlash(o.path), "/")[0]] = true
	}
	if total > maxTampered {
		t.Fatalf("the repository has %d bytes, more than %d", total, maxTampered)
	}
	t.Logf("%d objects of %v, %d bytes", len(all), slices.Sorted(maps.Keys(kinds)), total)
	var tried, refused, right atomic.Int64
	const workers = 4
	for worker := range workers {
		t.Run(fmt.Sprint("part", worker+1), func(t *testing.T) {
			t.Parallel()
			b := s.bench(t)
			n := 0
			for _, o := range all {
				for at := int64(0); at < o.size; at++ {
					if n++; n%*tamperStride != 0 || n / *tamperStride % workers != worker {
						continue
					}
					restores := n / *tamperStride / workers % *tamperRestore == 0
					for _, to := range []func(byte) byte{
						func(c byte) byte { return c ^ 1<<(n%8) },
						func(c byte) byte {
							if c == 0 {
								return 0xff
							}
							return 0
						},
					} {
						what := fmt.Sprintf("byte %d of %s", at, o.path)
						b.altered(o.path, func(data []byte) []byte {
							data[at] = to(data[at])
							return data
						}, func() {
							no, yes := b.mustNotice(what, restores)
							tried.Add(1)
							refused.Add(int64(no))
							right.Add(int64(yes))
						})
					}
				}
			}
			if d := b.damage("put back"); len(d) > 0 {
				t.Errorf("everything was put back, and damaged is %v", d)
			}
		})
	}
	t.Cleanup(func() {
		t.Logf("%d changes; of the restores tried %d were refused, %d gave exactly the right agent", tried.Load(), refused.Load(), right.Load())
		must.Hold(t, refused.Load() != 0, "no restore was refused")
	})
}
