package dir

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/pointer"
)

// LoadPointer implements [target.Pointers]. The value that it returns is durable. The caller owns
// the value. A file that no swap could have written is damaged.
func (d *Dir) LoadPointer(ctx context.Context, name string) (value []byte, version string, err error) {
	const op = "load pointer"
	if err := checkPointer(ctx, op, name); err != nil {
		return nil, "", err
	}
	path, err := d.locate(target.PointerFolder + "/" + name)
	if isAbsent(err) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", diskError(op, name, err)
	}
	p, err := d.load(op, name, path)
	if err != nil || p.Count == 0 {
		return nil, "", err
	}
	// The writer may have died after the value became visible.
	if err := d.fs.SyncDir(filepath.Dir(path)); err != nil {
		return nil, "", diskError(op, name, err)
	}
	return p.Value, versionOf(p), nil
}

// SwapPointer implements [target.Pointers]. Versions never come again. After
// an error of kind internal the value may be the old or the new one.
func (d *Dir) SwapPointer(ctx context.Context, name, version string, value []byte) (newVersion string, err error) {
	const op = "swap pointer"
	if err := checkPointer(ctx, op, name); err != nil {
		return "", err
	}
	if len(value) > target.MaxPointerBytes {
		return "", amber.Errorf(amber.KindInvalid, op, name,
			"the value has %d bytes, the limit is %d", len(value), target.MaxPointerBytes)
	}
	path, err := d.prepare(op, target.PointerFolder+"/"+name)
	if err != nil {
		return "", err
	}
	unlock, err := d.lock(ctx, op, name)
	if err != nil {
		return "", err
	}
	defer unlock()
	return d.swap(op, name, path, version, value)
}

// swap does the work of SwapPointer; the lock is held.
func (d *Dir) swap(op, name, path, version string, value []byte) (string, error) {
	old, err := d.load(op, name, path)
	if err != nil {
		return "", err
	}
	if versionOf(old) != version {
		return "", amber.Errorf(amber.KindConflict, op, name, "another writer has changed the pointer")
	}
	next := pointer.Pointer{Count: old.Count + 1, Value: value}
	if err := fsx.Replace(d.fs, path, 0o600, next.Encode()); err != nil {
		return "", diskError(op, name, err)
	}
	return versionOf(next), nil
}

// lock waits for the turn within this process, then among all: a wait for the
// kernel costs a thread.
func (d *Dir) lock(ctx context.Context, op, name string) (unlock func(), err error) {
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, target.Alive(ctx, op, name)
	}
	l, err := fsx.AcquireLock(ctx, filepath.Join(d.root, target.PointerFolder, ".lock"), fsx.Exclusive)
	if err != nil {
		<-d.turn
		return nil, diskError(op, name, err)
	}
	return func() {
		_ = l.Unlock() // whatever it says, closing the file gives the lock back
		<-d.turn
	}, nil
}

// load reads a pointer; the zero one when there is none.
func (d *Dir) load(op, name, path string) (pointer.Pointer, error) {
	data, err := fsx.ReadFile(d.fs, path, pointer.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return pointer.Pointer{}, nil
	}
	if err != nil {
		return pointer.Pointer{}, diskError(op, name, err)
	}
	p, err := pointer.Decode(data)
	switch {
	case errors.Is(err, pointer.ErrTooNew):
		return pointer.Pointer{}, &amber.Error{Op: op, Kind: amber.KindTooNew, ID: name, Err: err}
	case err != nil:
		return pointer.Pointer{}, &amber.Error{Op: op, Kind: amber.KindDamaged, ID: name, Err: err}
	}
	return p, nil
}

func checkPointer(ctx context.Context, op, name string) error {
	if err := target.Alive(ctx, op, name); err != nil {
		return err
	}
	return target.CheckObjectName(name)
}

// versionOf names this state of the pointer. The count keeps a value that comes
// back apart from its first time; the digest, a folder that was brought back
// from a copy and went another way since.
func versionOf(p pointer.Pointer) string {
	if p.Count == 0 {
		return ""
	}
	return fmt.Sprintf("%d-%x", p.Count, sha256.Sum256(p.Value))
}
