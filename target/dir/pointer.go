package dir

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
)

// LoadPointer implements [amber.Pointers]. What it returns is durable. The
// caller owns the value. A file that is not what a swap writes is damaged.
func (d *Dir) LoadPointer(ctx context.Context, name string) (value []byte, version string, err error) {
	const op = "load pointer"
	if err := checkPointer(ctx, op, name); err != nil {
		return nil, "", err
	}
	path, err := d.locate(pointers + "/" + name)
	if isAbsent(err) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", diskError(op, name, err)
	}
	p, err := d.load(op, name, path)
	if err != nil || p.count == 0 {
		return nil, "", err
	}
	// The writer may have died after the value became visible.
	if err := d.fs.SyncDir(filepath.Dir(path)); err != nil {
		return nil, "", diskError(op, name, err)
	}
	return p.value, p.version(), nil
}

// SwapPointer implements [amber.Pointers]. Versions never come again. After
// an error of kind internal the value may be the old or the new one.
func (d *Dir) SwapPointer(ctx context.Context, name, version string, value []byte) (newVersion string, err error) {
	const op = "swap pointer"
	if err := checkPointer(ctx, op, name); err != nil {
		return "", err
	}
	if len(value) > amber.MaxPointerBytes {
		return "", amber.Errorf(amber.KindInvalid, op, name,
			fmt.Sprintf("the value has %d bytes, the limit is %d", len(value), amber.MaxPointerBytes))
	}
	path, err := d.prepare(op, pointers+"/"+name)
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
	if old.version() != version {
		return "", amber.Errorf(amber.KindConflict, op, name, "somebody else has changed it")
	}
	next := pointer{count: old.count + 1, value: value}
	if err := fsx.Replace(d.fs, path, 0o600, next.encode()); err != nil {
		return "", diskError(op, name, err)
	}
	return next.version(), nil
}

// lock waits for the turn within this process, then among all: a wait for the
// kernel costs a thread.
func (d *Dir) lock(ctx context.Context, op, name string) (unlock func(), err error) {
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, alive(ctx, op, name)
	}
	l, err := fsx.AcquireLock(ctx, filepath.Join(d.root, pointers, ".lock"), fsx.Exclusive)
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
func (d *Dir) load(op, name, path string) (pointer, error) {
	data, err := fsx.ReadFile(d.fs, path, amber.MaxPointerBytes+maxHeader)
	if errors.Is(err, fs.ErrNotExist) {
		return pointer{}, nil
	}
	if err != nil {
		return pointer{}, diskError(op, name, err)
	}
	p, err := decode(data)
	switch {
	case errors.Is(err, errTooNew):
		return pointer{}, &amber.Error{Op: op, Kind: amber.KindTooNew, ID: name, Err: err}
	case err != nil:
		return pointer{}, &amber.Error{Op: op, Kind: amber.KindDamaged, ID: name, Err: err}
	}
	return p, nil
}

func checkPointer(ctx context.Context, op, name string) error {
	if err := alive(ctx, op, name); err != nil {
		return err
	}
	return amber.CheckObjectName(name)
}

// pointer is what the file of a pointer says:
//
//	amber-pointer 1 <count> <SHA-256 of the value, in hex>\n
//	<value>
type pointer struct {
	count uint64 // of swaps; 0 when there is no pointer
	value []byte
}

const (
	header    = "amber-pointer 1 %d %x\n"
	maxHeader = 128
	maxCount  = 1 << 62 // no honest pointer gets there
)

var errTooNew = errors.New("a newer Amber wrote it")

// version names this state of the pointer. The count keeps a value that comes
// back apart from its first time; the digest, a folder that was brought back
// from a copy and went another way since.
func (p pointer) version() string {
	if p.count == 0 {
		return ""
	}
	return fmt.Sprintf("%d-%x", p.count, sha256.Sum256(p.value))
}

func (p pointer) encode() []byte {
	return append(fmt.Appendf(nil, header, p.count, sha256.Sum256(p.value)), p.value...)
}

// decode reads what encode writes, and nothing else. The value is part of data.
func decode(data []byte) (pointer, error) {
	line, value, found := bytes.Cut(data, []byte("\n"))
	if !found || len(line) >= maxHeader {
		return pointer{}, errors.New("the first line is missing")
	}
	p := pointer{value: value}
	var format int
	n, _ := fmt.Sscanf(string(line), "amber-pointer %d %d", &format, &p.count)
	switch {
	case n < 1 || format < 1:
		return pointer{}, errors.New("it is not a pointer")
	case format > 1:
		return pointer{}, errTooNew
	case p.count == 0 || p.count >= maxCount || len(value) > amber.MaxPointerBytes || !bytes.Equal(p.encode(), data):
		return pointer{}, errors.New("the first line does not match the value")
	}
	return p, nil
}
