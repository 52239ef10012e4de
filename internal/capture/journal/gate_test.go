package journal_test

import (
	"context"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// gate is a file system in which the first sync of a segment waits until the gate is opened.
type gate struct {
	fsx.FS
	reached chan struct{} // closed when a sync waits
	release chan struct{}
	once    sync.Once
	opened  sync.Once

	mu sync.Mutex
	n  int // syncs of segments
}

func newGate(base fsx.FS) *gate {
	return &gate{FS: base, reached: make(chan struct{}), release: make(chan struct{})}
}

func (g *gate) waitForSync() { <-g.reached }

func (g *gate) open() { g.opened.Do(func() { close(g.release) }) }

func (g *gate) syncs() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.n
}

func (g *gate) OpenFile(name string, flag int, perm fs.FileMode) (fsx.File, error) {
	f, err := g.FS.OpenFile(name, flag, perm)
	if err != nil || filepath.Ext(name) != ".seg" {
		return f, err
	}
	return gatedFile{File: f, gate: g}, nil
}

type gatedFile struct {
	fsx.File
	gate *gate
}

func (f gatedFile) Sync() error {
	f.gate.mu.Lock()
	f.gate.n++
	f.gate.mu.Unlock()
	f.gate.once.Do(func() { close(f.gate.reached) })
	<-f.gate.release
	return f.File.Sync()
}

// appending is an append under way.
type appending struct {
	done   chan struct{}
	cancel context.CancelFunc
	seq    int64
	err    error
}

func start(t testing.TB, j *journal.Journal, s journal.Session, e journal.Entry) *appending {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	a := &appending{done: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(a.done)
		a.seq, a.err = j.Append(ctx, s, e)
	}()
	return a
}

func (a *appending) result() (int64, error) {
	<-a.done
	return a.seq, a.err
}

// waitFor returns when what it waits for has come about; it fails the test when that takes absurdly long.
func waitFor(t testing.TB, is func() bool) {
	t.Helper()
	late := time.After(2 * time.Minute)
	for !is() {
		select {
		case <-late:
			t.Fatal("it did not come about")
		default:
			runtime.Gosched()
		}
	}
}
