package colonytest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
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
	rotten   map[string]bool
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
		delete(f.rotten, name)
	}
}

// Rot marks files as damaged: they are listed, but cannot be read, or replaced
// under a condition, until they are put again.
func (f *Fake) Rot(names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rotten == nil {
		f.rotten = map[string]bool{}
	}
	for _, name := range names {
		f.rotten[name] = true
	}
}

// Rotten returns the files of which the vault knows that.
func (f *Fake) Rotten() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.rotten))
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

// Unconditional returns b without the optional interfaces: a vault that knows no conditions and does not say whether
// the caller may write to it.
func Unconditional(b colony.Backend) colony.Backend { return struct{ colony.Backend }{b} }
