package colonytest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony"
)

// Fake is a vault in memory. The zero Fake is an empty vault without a clock.
// Set the fields before it is used. Safe for concurrent use.
type Fake struct {
	Clock amber.Clock // nil: files have no times
	// Quota bounds all files together; 0: colony.DefaultQuota. It is reported
	// as 0 until the first write.
	Quota int64
	// ReadOnly refuses writes, and says so beforehand.
	ReadOnly bool
	// Bare tells nothing but names: no size, times or version.
	Bare bool
	// Before is asked at each request, before it is done. It may wait, and may
	// be called at once by several.
	Before func(Request) Fault

	mu       sync.Mutex
	files    map[string]colony.File
	written  bool
	requests []Request
}

var (
	_ colony.ConditionalBackend = (*Fake)(nil)
	_ colony.GuardedBackend     = (*Fake)(nil)
)

// Request is what a Fake was asked.
type Request struct {
	N    int    // from 1
	Op   string // "may-write", "status", "list", "get", "put", "delete"
	Name string // of the file; for a list, the prefix
}

// Fault is what goes wrong with a request. The zero Fault is nothing.
type Fault struct {
	Err error
	// Done says that the request is carried out and only its answer is lost.
	Done bool
}

// Requests returns what was asked, in order.
func (f *Fake) Requests() []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

// Files returns the content of every file by name.
func (f *Fake) Files() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]string{}
	for name, file := range f.files {
		all[name] = file.Content
	}
	return all
}

// Fill writes files without asking Before.
func (f *Fake) Fill(files map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, content := range files {
		f.store(name, content)
	}
}

// Remove deletes files without asking Before.
func (f *Fake) Remove(names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range names {
		delete(f.files, name)
	}
}

// ask notes a request, has it fail or does it. A context that is over stops it
// before.
func (f *Fake) ask(ctx context.Context, op, name string, do func() error) error {
	if err := ctx.Err(); err != nil {
		return &amber.Error{Op: op, Kind: amber.KindUnreachable, ID: name, Err: err}
	}
	f.mu.Lock()
	r := Request{N: len(f.requests) + 1, Op: op, Name: name}
	f.requests = append(f.requests, r)
	f.mu.Unlock()
	var fault Fault
	if f.Before != nil {
		fault = f.Before(r)
	}
	if fault.Err != nil && !fault.Done {
		return fault.Err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	err := do()
	if fault.Err != nil {
		return fault.Err
	}
	return err
}

// MayWrite implements [colony.GuardedBackend].
func (f *Fake) MayWrite(ctx context.Context) error {
	return f.ask(ctx, "may-write", "", func() error { return f.writable() })
}

func (f *Fake) writable() error {
	if f.ReadOnly {
		return amber.Errorf(amber.KindRefused, "write", "", "the vault may only be read")
	}
	return nil
}

// Status implements [colony.Backend].
func (f *Fake) Status(ctx context.Context) (s colony.Status, err error) {
	err = f.ask(ctx, "status", "", func() error {
		s = colony.Status{UsedBytes: f.used(), FileCount: int64(len(f.files))}
		if f.written {
			s.QuotaBytes, s.AvailableBytes = f.quota(), f.quota()-s.UsedBytes
		}
		return nil
	})
	return s, err
}

func (f *Fake) quota() int64 {
	if f.Quota > 0 {
		return f.Quota
	}
	return colony.DefaultQuota
}

func (f *Fake) used() (n int64) {
	for _, file := range f.files {
		n += int64(len(file.Content))
	}
	return n
}

// List implements [colony.Backend].
func (f *Fake) List(ctx context.Context, prefix string) (all []colony.FileInfo, err error) {
	err = f.ask(ctx, "list", prefix, func() error {
		for _, name := range slices.Sorted(maps.Keys(f.files)) {
			if strings.HasPrefix(name, prefix) {
				all = append(all, f.told(f.files[name].FileInfo))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func (f *Fake) told(info colony.FileInfo) colony.FileInfo {
	if f.Bare {
		return colony.FileInfo{Name: info.Name, Size: -1}
	}
	return info
}

// Get implements [colony.Backend].
func (f *Fake) Get(ctx context.Context, name string) (file colony.File, err error) {
	err = f.ask(ctx, "get", name, func() error {
		found, ok := f.files[name]
		if !ok {
			return missing("get", name)
		}
		file = colony.File{FileInfo: f.told(found.FileInfo), Content: found.Content}
		return nil
	})
	if err != nil {
		return colony.File{}, err
	}
	return file, nil
}

func missing(op, name string) error {
	return amber.Errorf(amber.KindNotFound, op, name, "there is no such file")
}

// Put implements [colony.Backend].
func (f *Fake) Put(ctx context.Context, name, content string) (colony.FileInfo, error) {
	return f.put(ctx, name, content, func() error { return nil })
}

// PutIf implements [colony.ConditionalBackend].
func (f *Fake) PutIf(ctx context.Context, name, content string, c colony.Condition) (colony.FileInfo, error) {
	if c.Absent == (c.Version != "") {
		return colony.FileInfo{}, amber.Errorf(amber.KindInvalid, "put", name, "one condition is needed")
	}
	return f.put(ctx, name, content, func() error {
		file, ok := f.files[name]
		if c.Absent && ok || !c.Absent && (!ok || file.Version != c.Version) {
			return amber.Errorf(amber.KindConflict, "put", name, "the file is not what it should be")
		}
		return nil
	})
}

func (f *Fake) put(ctx context.Context, name, content string, holds func() error) (info colony.FileInfo, err error) {
	err = f.ask(ctx, "put", name, func() error {
		if err := f.writable(); err != nil {
			return err
		}
		if err := holds(); err != nil {
			return err
		}
		if err := f.fits(name, content); err != nil {
			return err
		}
		info = f.told(f.store(name, content))
		return nil
	})
	if err != nil {
		return colony.FileInfo{}, err
	}
	return info, nil
}

func (f *Fake) fits(name, content string) error {
	size := int64(len(content))
	if len(name) > colony.MaxNameBytes {
		return amber.Errorf(amber.KindInvalid, "put", name[:40], "the name is too long")
	}
	if now := f.used() - int64(len(f.files[name].Content)); size > colony.MaxFileBytes || now+size > f.quota() {
		return amber.Errorf(amber.KindQuota, "put", name, fmt.Sprintf("%d bytes do not fit", size))
	}
	return nil
}

// store writes a file. The lock is held.
func (f *Fake) store(name, content string) colony.FileInfo {
	if f.files == nil {
		f.files = map[string]colony.File{}
	}
	f.written = true
	sum := sha256.Sum256([]byte(content))
	file := colony.File{Content: content, FileInfo: colony.FileInfo{
		Name: name, Size: int64(len(content)), Version: hex.EncodeToString(sum[:]),
	}}
	if f.Clock != nil {
		file.UpdatedAt = amber.At(f.Clock())
		file.CreatedAt = file.UpdatedAt
		if old, ok := f.files[name]; ok {
			file.CreatedAt = old.CreatedAt
		}
	}
	f.files[name] = file
	return file.FileInfo
}

// Delete implements [colony.Backend].
func (f *Fake) Delete(ctx context.Context, name string) error {
	return f.ask(ctx, "delete", name, func() error {
		if _, ok := f.files[name]; !ok {
			return missing("delete", name)
		}
		delete(f.files, name)
		return nil
	})
}

// Unconditional returns b without what is optional: a vault that knows no
// conditions and does not tell whether it may be written.
func Unconditional(b colony.Backend) colony.Backend { return struct{ colony.Backend }{b} }
