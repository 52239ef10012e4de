package repo_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"

	"filippo.io/age"

	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/dir"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// crashSeeds is how many ways a power cut can go are tried after each call.
func crashSeeds() uint64 {
	if raceEnabled {
		return 1
	}
	return 3
}

// deed is something that is done to a repository which holds snapshots.
type deed struct {
	name string
	// before prepares the repository and returns the snapshots that have to
	// stay, and the one the deed is about.
	before func(t *testing.T, s *store) (kept []repo.Manifest, about repo.Manifest)
	do     func(s *store, about repo.Manifest) error
	// done reports what is true once the deed was acknowledged.
	done func(s *store, about repo.Manifest) bool
}

// deedOn is a deed and whether the repository is encrypted.
type deedOn struct {
	deed
	encrypted bool
}

// allDeeds are the deeds, some of them also in an encrypted repository.
func allDeeds() (all []deedOn) {
	for _, d := range deeds {
		all = append(all, deedOn{d, false})
		if d.name == "publish" || d.name == "gc that condemns and rewrites" {
			d.name += ", encrypted"
			all = append(all, deedOn{d, true})
		}
	}
	return append(all, deedOn{encrypted: true, deed: deed{
		name: "recipients",
		before: func(t *testing.T, s *store) ([]repo.Manifest, repo.Manifest) {
			return []repo.Manifest{s.take(t, ada, "a")}, repo.Manifest{}
		},
		do: func(s *store, _ repo.Manifest) error {
			one, err := agekey.ParseRecipients([]string{s.recipient})
			if err != nil {
				return err
			}
			return s.repo.SetRecipients(ctx, one, true, rand.NewChaCha8([32]byte{31: byte(s.repo.KeySerial())}), s.at())
		},
		done: func(s *store, _ repo.Manifest) bool { return s.repo.KeySerial() > 1 && !s.repo.Locked() },
	}})
}

func exists(s *store, m repo.Manifest) bool { return s.same(m) == nil }

func swept(s *store, _ repo.Manifest) bool {
	r, err := s.repo.Check(ctx, true)
	return err == nil && r.OK()
}

func collects(s *store, _ repo.Manifest) error {
	return must.Err(s.repo.CollectGarbage(ctx, may(), s.options()))
}

// garbage leaves packs that no snapshot needs, one that is half needed, and an index object that names packs that are
// needed and one that is not.
func garbage(t *testing.T, s *store) []repo.Manifest {
	a := s.take(t, ada, "a")
	mixed := s.takeWithNoise(t, "mixed")
	s.repo.SetPackBytes(300)
	split := s.takeWithNoise(t, "split")
	s.delete(t, s.take(t, ada, "b"))
	return []repo.Manifest{a, mixed, split}
}

// takeWithNoise takes a snapshot and stores beside it a blob that no snapshot needs.
func (s *store) takeWithNoise(t *testing.T, word string) repo.Manifest {
	t.Helper()
	w := s.repo.NewWriter(ctx)
	defer w.Close()
	in := must.Get(s.inner(w, content{word, 0}))(t)
	id, err := w.PutInner(ctx, in)
	if err == nil {
		_, err = w.Put(ctx, repo.KindFile, noise(uint64(word[0]), 9000))
	}
	if err == nil {
		_, err = w.Flush(ctx)
	}
	must.Do(t, err)
	m := s.sealed(w, repo.Manifest{
		ID: s.newID(t), Tenant: tenant, Agent: bob, Device: word, Counter: 1, CreatedAt: s.at(), Label: word, Inner: id,
	})
	must.Do(t, s.publish(m))
	return m
}

var deeds = []deed{
	{"publish", func(t *testing.T, s *store) ([]repo.Manifest, repo.Manifest) {
		a := s.take(t, ada, "a")
		return []repo.Manifest{a}, must.Get(s.prepare(t, ada, laptop, content{"b", 1}))(t)
	}, func(s *store, m repo.Manifest) error { return s.publish(m) }, exists},
	{
		"delete", func(t *testing.T, s *store) ([]repo.Manifest, repo.Manifest) {
			a, b := s.take(t, ada, "a"), s.take(t, ada, "b")
			must.Do(t, s.catalog.SetPin(ctx, may(), ada, b.ID, true, s.at()))
			return []repo.Manifest{a}, b
		}, func(s *store, m repo.Manifest) error {
			return s.catalog.Delete(ctx, may(), ada, m.ID, "deleted", s.at())
		},
		func(s *store, m repo.Manifest) bool { return !exists(s, m) },
	},
	{
		"pin", func(t *testing.T, s *store) ([]repo.Manifest, repo.Manifest) {
			a := s.take(t, ada, "a")
			return []repo.Manifest{a}, a
		}, func(s *store, m repo.Manifest) error { return s.catalog.SetPin(ctx, may(), ada, m.ID, true, s.at()) },
		func(s *store, m repo.Manifest) bool {
			e, err := s.catalog.Get(ctx, ada, m.ID)
			return err == nil && e.Pinned
		},
	},
	{
		"unpin", func(t *testing.T, s *store) ([]repo.Manifest, repo.Manifest) {
			a := s.take(t, ada, "a")
			must.Do(t, s.catalog.SetPin(ctx, may(), ada, a.ID, true, s.at()))
			return []repo.Manifest{a}, a
		}, func(s *store, m repo.Manifest) error { return s.catalog.SetPin(ctx, may(), ada, m.ID, false, s.at()) },
		func(s *store, m repo.Manifest) bool {
			e, err := s.catalog.Get(ctx, ada, m.ID)
			return err == nil && !e.Pinned
		},
	},
	{"gc that condemns and rewrites", func(t *testing.T, s *store) ([]repo.Manifest, repo.Manifest) {
		return garbage(t, s), repo.Manifest{}
	}, collects, swept},
	{"gc that deletes", func(t *testing.T, s *store) ([]repo.Manifest, repo.Manifest) {
		kept := garbage(t, s)
		s.gc(t)
		return kept, repo.Manifest{}
	}, func(s *store, _ repo.Manifest) error {
		o := s.options()
		o.Grace = 0
		return must.Err(s.repo.CollectGarbage(ctx, may(), o))
	}, func(s *store, m repo.Manifest) bool {
		r, err := s.repo.Audit(ctx, tenant, true, nil)
		return swept(s, m) && err == nil && r.Unused == 0
	}},
	{"gc that finishes a deletion", func(t *testing.T, s *store) ([]repo.Manifest, repo.Manifest) {
		a, b := s.take(t, ada, "a"), s.take(t, ada, "b")
		half := open(t, &before{Target: s.target, call: "delete snapshots/", do: func() { panic("killed") }})
		func() {
			defer func() { _ = recover() }()
			_ = half.Catalog(tenant).Delete(ctx, may(), ada, b.ID, "deleted", s.at())
		}()
		return []repo.Manifest{a}, b
	}, collects, func(s *store, m repo.Manifest) bool {
		ids := 0
		err := s.target.List(ctx, "snapshots/", func(target.Object) error { ids++; return nil })
		return !exists(s, m) && err == nil && ids == 1
	}},
}

func openDisk(t *testing.T, root string, fsys fsx.FS) *store {
	t.Helper()
	d := must.Get(dir.Open(root, dir.Options{FS: fsys}))(t)
	s := newStore(t, d)
	s.recipient = recipients(t, alice)[0].Text
	return s
}

// prepared returns a disk on which everything is durable.
func prepared(t *testing.T, d deedOn) (disk *crashfs.FS, root string, kept []repo.Manifest, about repo.Manifest) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "repo")
	disk = crashfs.New()
	must.Do(t, fsx.MkdirAll(disk, root, 0o700))
	s := openDisk(t, root, disk)
	if d.encrypted {
		encrypt(t, s.target)
		s = openDisk(t, root, disk)
	}
	kept, about = d.before(t, s)
	return disk, root, kept, about
}

// checkDisk fails unless the repository is clean and has all snapshots.
func checkDisk(t *testing.T, root string, disk fsx.FS, kept []repo.Manifest) *store {
	t.Helper()
	s := openDisk(t, root, disk)
	r, err := s.repo.Audit(ctx, tenant, true, nil)
	if err != nil || !r.OK() {
		t.Fatalf("audit: %v, %+v", err, r)
	}
	for _, m := range kept {
		if err := s.same(m); err != nil {
			t.Fatalf("snapshot %s: %v", m.Label, err)
		}
	}
	return s
}

// TestRepositoriesSurviveAPowerCut cuts the power at every call. Every snapshot
// that was there is whole, nothing is damaged, what was acknowledged is true, and
// the deed can be done again.
func TestRepositoriesSurviveAPowerCut(t *testing.T) {
	t.Parallel()
	for _, d := range allDeeds() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			base, root, kept, about := prepared(t, d)
			for n := 1; ; n += callStride() {
				disk := base.CrashClone(rand.New(rand.NewPCG(0, 0)))
				s := openDisk(t, root, disk)
				cut := disk.Calls() + n
				disk.StopAt(cut)
				err := d.do(s, about)
				if err != nil && !errors.Is(err, crashfs.ErrCrashed) {
					t.Fatalf("cut at call %d: %v", n, err)
				}
				for seed := range crashSeeds() {
					after := disk.CrashClone(rand.New(rand.NewPCG(seed, uint64(n))))
					s := checkDisk(t, root, after, kept)
					if err == nil && !d.done(s, about) {
						t.Fatalf("cut at call %d, seed %d: acknowledged, and not so", n, seed)
					}
					if err := d.do(s, about); err != nil {
						t.Fatalf("cut at call %d, seed %d, again: %v", n, seed, err)
					}
					if s = checkDisk(t, root, after, kept); !d.done(s, about) {
						t.Fatalf("cut at call %d, seed %d: done again, and not so", n, seed)
					}
				}
				if disk.Calls() < cut {
					t.Logf("%d calls", n-1)
					return
				}
			}
		})
	}
}

// TestRepositoriesSurviveEveryError fails every call of each kind once.
func TestRepositoriesSurviveEveryError(t *testing.T) {
	t.Parallel()
	ops := []errfs.Op{
		errfs.OpCreate, errfs.OpWrite, errfs.OpSync, errfs.OpSyncDir, errfs.OpLink, errfs.OpRemove, errfs.OpOpen, errfs.OpRead, errfs.OpReadDir,
	}
	for _, d := range allDeeds() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			base, root, kept, about := prepared(t, d)
			for _, op := range ops {
				n, step := 1, callStride()
				if raceEnabled {
					step = 7
				}
				for failOnce(t, d, base.CrashClone(rand.New(rand.NewPCG(0, 0))), root, kept, about, errfs.Rule{Op: op, Nth: n, Err: syscall.ENOSPC}) {
					n += step
				}
			}
		})
	}
}

// failOnce reports whether there was a call that failed.
func failOnce(t *testing.T, d deedOn, disk *crashfs.FS, root string, kept []repo.Manifest, about repo.Manifest, rule errfs.Rule) bool {
	t.Helper()
	broken := errfs.Wrap(disk, rule)
	target, err := dir.Open(root, dir.Options{FS: broken})
	if err != nil {
		return true
	}
	r, err := repo.Open(ctx, target, &repo.Options{Identities: []age.Identity{identity(t, alice)}})
	if err != nil {
		return true
	}
	s := &store{
		target: target, repo: r, catalog: r.Catalog(tenant), now: epoch, ids: new(uint64), recipient: recipients(t, alice)[0].Text,
	}
	err = d.do(s, about)
	injected := len(broken.Injected()) > 0
	if !injected && err != nil {
		t.Fatalf("without a fault: %v", err)
	}
	s = checkDisk(t, root, disk, kept)
	if err == nil && !d.done(s, about) {
		t.Fatalf("%s, call %d: acknowledged, and not so", rule.Op, rule.Nth)
	}
	if err := d.do(s, about); err != nil {
		t.Fatalf("%s, call %d, again: %v", rule.Op, rule.Nth, err)
	}
	if s = checkDisk(t, root, disk, kept); !d.done(s, about) {
		t.Fatalf("%s, call %d: done again, and not so", rule.Op, rule.Nth)
	}
	return injected
}
