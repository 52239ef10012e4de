package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// split is a home on two disks: the repository and the agent's notes about its
// generations lie on one that loses what was not synced when the power is cut;
// everything else, which SQLite and git must be able to open, on that of the
// operating system. Both are dead from the cut on.
type split struct {
	fsx.FS
	disk *crashfs.FS
	home string
	die  func()
	once *sync.Once
}

func newSplit(home string, disk *crashfs.FS, die func()) split {
	return split{newMortal(0, nil), disk, home, die, new(sync.Once)}
}

const agentPath = "tenants/default/agents/default"

// onDisk tells the path of something on the disk that is cut.
func (s split) onDisk(name string) (string, bool) {
	rel, err := filepath.Rel(s.home, name)
	if err != nil {
		return "", false
	}
	rel = filepath.ToSlash(rel)
	if rel == "tenants/default/repo" || strings.HasPrefix(rel, "tenants/default/repo/") {
		return "/" + rel, true
	}
	note, ok := strings.CutPrefix(rel, agentPath+"/")
	ok = ok && (note == "CURRENT" || note == "RESTORING" || strings.HasPrefix(note, fsx.TempPrefix))
	return "/" + rel, ok
}

// told passes an error of the disk on, and ends everything when it is that of
// the cut.
func (s split) told(err error) error {
	if errors.Is(err, crashfs.ErrCrashed) {
		s.once.Do(s.die)
	}
	return err
}

// alive reports whether the power is still on: any call finds out.
func (s split) alive() error {
	_, err := s.disk.Lstat("/")
	return s.told(err)
}

// on runs one of two functions, by where a name lies.
func (s split) on(name string, cut func(path string) error, safe func() error) error {
	if err := s.alive(); err != nil {
		return err
	}
	if path, ok := s.onDisk(name); ok {
		return s.told(cut(path))
	}
	return safe()
}

func (s split) OpenFile(name string, flag int, perm fs.FileMode) (f fsx.File, err error) {
	err = s.on(name, func(path string) (err error) {
		f, err = s.disk.OpenFile(path, flag, perm)
		return err
	}, func() (err error) {
		f, err = s.FS.OpenFile(name, flag, perm)
		return err
	})
	return f, err
}

func (s split) Mkdir(name string, perm fs.FileMode) error {
	return s.on(name, func(path string) error { return s.disk.Mkdir(path, perm) }, func() error { return s.FS.Mkdir(name, perm) })
}

func (s split) Link(oldname, newname string) error {
	to, _ := s.onDisk(newname)
	return s.on(oldname, func(path string) error { return s.disk.Link(path, to) }, func() error { return s.FS.Link(oldname, newname) })
}

func (s split) Rename(oldname, newname string) error {
	to, _ := s.onDisk(newname)
	return s.on(oldname, func(path string) error { return s.disk.Rename(path, to) }, func() error { return s.FS.Rename(oldname, newname) })
}

func (s split) Remove(name string) error {
	return s.on(name, s.disk.Remove, func() error { return s.FS.Remove(name) })
}

func (s split) Lstat(name string) (info fs.FileInfo, err error) {
	err = s.on(name, func(path string) (err error) {
		info, err = s.disk.Lstat(path)
		return err
	}, func() (err error) {
		info, err = s.FS.Lstat(name)
		return err
	})
	return info, err
}

// agentDir reports whether a name is the folder that lies on both disks.
func (s split) agentDir(name string) bool {
	return filepath.Clean(name) == filepath.Join(s.home, filepath.FromSlash(agentPath))
}

func (s split) ReadDir(name string) (list []fs.DirEntry, err error) {
	err = s.on(name, func(path string) (err error) {
		list, err = s.disk.ReadDir(path)
		return err
	}, func() (err error) {
		list, err = s.FS.ReadDir(name)
		return err
	})
	if err != nil || !s.agentDir(name) {
		return list, err
	}
	more, err := s.disk.ReadDir("/" + agentPath)
	list = append(list, more...)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, s.told(err)
}

func (s split) SyncDir(name string) error {
	if s.agentDir(name) {
		return s.told(s.disk.SyncDir("/" + agentPath))
	}
	return s.on(name, s.disk.SyncDir, func() error { return s.FS.SyncDir(name) })
}

func (s split) SyncAll(name string) error {
	return s.on(name, s.disk.SyncAll, func() error { return s.FS.SyncAll(name) })
}

// divided puts what lies on the disk that is cut there, durably, and removes it
// from the home.
func (p *prepared) divided(t *testing.T) *crashfs.FS {
	t.Helper()
	disk := crashfs.New()
	s := newSplit(p.dir, disk, func() {})
	for _, dir := range []string{"/tenants/default/repo", "/" + agentPath} {
		must.Do(t, fsx.MkdirAll(disk, dir, 0o700))
	}
	must.Do(t, filepath.WalkDir(p.dir, func(name string, d fs.DirEntry, err error) error {
		path, ok := s.onDisk(name)
		if err != nil || !ok || d.Name() == ".lock" {
			return err
		}
		if d.IsDir() {
			return fsx.MkdirAll(disk, path, 0o700)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.Remove(name); err != nil {
			return err
		}
		return fsx.CreateNew(disk, path, 0o600, b)
	}))
	return disk
}

// powerSeeds is in how many ways each cut of the power goes: few, unless it is
// cut at every call.
func powerSeeds(few, all uint64) uint64 {
	if *cuts > 0 {
		return few
	}
	return all
}

// TestAPowerCutLeavesTheOldAgentOrTheNewOne cuts the power at the calls that go to the repository,
// to CURRENT and to RESTORING. Data that was not synced there is lost, torn, or kept without the
// data before it.
func TestAPowerCutLeavesTheOldAgentOrTheNewOne(t *testing.T) {
	t.Parallel()
	about := newPrepared(t)
	base := about.divided(t)
	fresh := func() *crashfs.FS { return base.CrashClone(rand.New(rand.NewPCG(0, 0))) }
	for _, d := range deeds {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			whole, dir := fresh(), about.copied(t)
			before := whole.Calls()
			if _, _, err := d.do(newActor(t.Context(), t, dir, newSplit(dir, whole, func() {})), about); err != nil {
				t.Fatalf("not cut: %v", err)
			}
			for at := range cutsOf(t, whole.Calls()-before+1) {
				t.Run(fmt.Sprint(at), func(t *testing.T) {
					t.Parallel()
					cutPower(t, d, about, fresh(), at)
				})
			}
		})
	}
}

func cutPower(t *testing.T, d deed, about *prepared, disk *crashfs.FS, at int) {
	dir := about.copied(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := newActor(ctx, t, dir, newSplit(dir, disk, cancel))
	disk.StopAt(disk.Calls() + at)
	made, gone, err := d.do(a, about)
	if err != nil && ctx.Err() == nil {
		t.Fatalf("it failed before the cut: %v", err)
	}
	for seed := range powerSeeds(1, 3) {
		after := disk.CrashClone(rand.New(rand.NewPCG(seed, uint64(at))))
		left := filepath.Join(t.TempDir(), "home")
		copyTree(t, dir, left)
		aftermath(t, left, newSplit(left, after, func() {}), d, about, made, gone, err)
	}
}

// Acknowledged writes are there after a power cut, whatever unsynced data the cut loses.
func TestAcknowledgedWritesOutliveAPowerCut(t *testing.T) {
	t.Parallel()
	about := newPrepared(t)
	disk, dir := about.divided(t), about.copied(t)
	a := newActor(t.Context(), t, dir, newSplit(dir, disk, func() {}))
	meta := must.Get(a.engine.Snapshot(t.Context(), wire.SnapshotRequest{Tenant: "default", Agent: "default"}))(t)
	report := must.Get(a.engine.Restore(t.Context(), wire.RestoreRequest{SnapshotRef: ref(about.snapshots[0])}))(t)
	for seed := range powerSeeds(3, 8) {
		after := disk.CrashClone(rand.New(rand.NewPCG(seed, 24)))
		checkAcknowledged(t, dir, after, about, meta.ID, report.SafetySnapshot)
	}
}
