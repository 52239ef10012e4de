package gitobj

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

const (
	PinDir  = "refs/amber/snapshot"
	lockEnd = ".lock" // git takes no file of this ending for a ref
)

// Pin keeps the commit oid, and all it needs, from being collected by a git gc that runs on the repository of
// the folder dir: it makes the ref refs/amber/snapshot/NAME. The function it returns removes that ref, and may be
// called more than once. Nothing else in the repository is changed.
//
// Beside the ref lies a lock that the kernel drops when the process ends, however it ends: pins whose lock is not
// held were left by processes that died, and are removed by the next Pin. Errors: invalid for a name that is not a
// plain word or an oid that is not an object id; busy when another process has a pin of that name; damaged when the
// folders of the refs are not what they should be. The locks work on the real file system.
func Pin(fsys fsx.FS, dir, name, oid string) (unpin func() error, err error) {
	const op = "pin commit"
	if !IsPinName(name) || !isOID(oid) {
		return nil, amber.Errorf(amber.KindInvalid, op, "", "the name of the pin or the object id is not valid")
	}
	p := pins{fsys: fsys, dir: filepath.Join(dir, ".git", filepath.FromSlash(PinDir))}
	lock, err := p.claim(filepath.Join(dir, ".git"), name)
	if errors.Is(err, fsx.ErrLocked) {
		return nil, amber.Errorf(amber.KindBusy, op, "", "another process holds the pin %q", name)
	}
	if err != nil {
		return nil, wrap(op, err)
	}
	release := func() error { return wrap("unpin commit", p.unpin(name, lock)) }
	if err := fsx.Replace(fsys, p.ref(name), filePerm, []byte(oid+"\n")); err != nil {
		return nil, wrap(op, errors.Join(err, release()))
	}
	return once(release), nil
}

func once(fn func() error) func() error {
	done := false
	return func() error {
		if done {
			return nil
		}
		done = true
		return fn()
	}
}

func IsPinName(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && s[0] != '-'
}

// pins is the folder of the pins.
type pins struct {
	fsys fsx.FS
	dir  string
}

func (p pins) ref(name string) string { return filepath.Join(p.dir, name) }

func (p pins) lock(name string) (*fsx.Lock, error) {
	return fsx.TryLock(p.ref(name)+lockEnd, fsx.Exclusive)
}

// claim takes the lock of a pin, in a folder that is free of those of the dead.
func (p pins) claim(gitDir, name string) (lock *fsx.Lock, err error) {
	// An unpin removes the folder when it is empty, maybe just after it was found here.
	for range 3 {
		if err = p.prepare(gitDir); err == nil {
			err = p.sweep()
		}
		if err == nil {
			lock, err = p.lock(name)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return lock, err
}

// prepare makes the folder. It goes down step by step, so that no link leads it out of the repository.
func (p pins) prepare(gitDir string) error {
	made := ""
	for _, elem := range append([]string{"."}, strings.Split(PinDir, "/")...) {
		made = path.Join(made, elem)
		full := filepath.Join(gitDir, filepath.FromSlash(made))
		info, err := p.fsys.Lstat(full)
		switch {
		case errors.Is(err, fs.ErrNotExist) && elem != ".":
			err = p.fsys.Mkdir(full, dirPerm)
		case err == nil && !info.IsDir():
			err = badRefs(fmt.Errorf("%s is not a folder", path.Join(".git", made)))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// sweep removes the pins that no process holds.
func (p pins) sweep() error {
	entries, err := p.fsys.ReadDir(p.dir)
	if err != nil {
		return err
	}
	alive := false
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), lockEnd)
		if e.IsDir() || !IsPinName(name) {
			continue
		}
		lock, err := p.lock(name)
		if errors.Is(err, fsx.ErrLocked) {
			alive = true
			continue
		}
		if err == nil {
			err = p.remove(name, lock)
		}
		if err != nil {
			return err
		}
	}
	if alive { // and may be writing just now
		return nil
	}
	_, err = fsx.SweepTemp(p.fsys, p.dir)
	return err
}

// remove removes a pin and its lock, which the caller holds.
func (p pins) remove(name string, lock *fsx.Lock) error {
	err := fsx.Remove(p.fsys, p.ref(name))
	// The lock goes while it is held, so that no process is left waiting for a file without a name; where an open file
	// cannot be removed, it goes after.
	held := p.fsys.Remove(p.ref(name) + lockEnd)
	err = errors.Join(err, lock.Unlock())
	if held != nil {
		err = errors.Join(err, fsx.Remove(p.fsys, p.ref(name)+lockEnd))
	}
	return err
}

// unpin removes a pin, and the folders of the pins when they are empty.
func (p pins) unpin(name string, lock *fsx.Lock) error {
	err := p.remove(name, lock)
	if p.fsys.Remove(p.dir) == nil {
		_ = p.fsys.Remove(filepath.Dir(p.dir)) // it may hold something else
	}
	return err
}
