package fsx_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
)

func lockPath(t *testing.T) string { return filepath.Join(t.TempDir(), "lock") }

func mustLock(t *testing.T, path string, mode fsx.LockMode) *fsx.Lock {
	t.Helper()
	l := must.Get(fsx.TryLock(path, mode))(t)
	t.Cleanup(func() { _ = l.Unlock() })
	return l
}

func mustUnlock(t *testing.T, l *fsx.Lock) {
	t.Helper()
	must.Do(t, l.Unlock())
}

// waiting is a context that closes begun when a waiter first asks for Done.
type waiting struct {
	context.Context
	once  sync.Once
	begun chan struct{}
}

func newWaiting(ctx context.Context) *waiting {
	return &waiting{Context: ctx, begun: make(chan struct{})}
}

func (w *waiting) Done() <-chan struct{} {
	w.once.Do(func() { close(w.begun) })
	return w.Context.Done()
}

func TestLockModesExclude(t *testing.T) {
	t.Parallel()
	tests := []struct {
		held, wanted fsx.LockMode
		want         error
	}{
		{fsx.Shared, fsx.Shared, nil},
		{fsx.Shared, fsx.Exclusive, fsx.ErrLocked},
		{fsx.Exclusive, fsx.Shared, fsx.ErrLocked},
		{fsx.Exclusive, fsx.Exclusive, fsx.ErrLocked},
	}
	for _, tt := range tests {
		t.Run(tt.held.String()+" "+tt.wanted.String(), func(t *testing.T) {
			t.Parallel()
			path := lockPath(t)
			held := mustLock(t, path, tt.held)
			l, err := fsx.TryLock(path, tt.wanted)
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if err == nil {
				mustUnlock(t, l)
			}
			mustUnlock(t, held)
			mustLock(t, path, tt.wanted)
		})
	}
}

func TestLockFileIsPrivate(t *testing.T) {
	t.Parallel()
	path := lockPath(t)
	mustLock(t, path, fsx.Shared)
	info := must.Get(os.Lstat(path))(t)
	if want := fs.FileMode(0o600); runtime.GOOS != "windows" && info.Mode() != want {
		t.Errorf("got mode %v, want %v", info.Mode(), want)
	}
}

func TestLockRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tests := []struct {
		name string
		path string
		mode fsx.LockMode
		want error
	}{
		{"no mode", filepath.Join(dir, "lock"), 0, fs.ErrInvalid},
		{"no directory", filepath.Join(dir, "none", "lock"), fsx.Shared, fs.ErrNotExist},
		{"a directory", dir, fsx.Shared, fsx.ErrNotRegular},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			must.Is(t, "try", must.Err(fsx.TryLock(tt.path, tt.mode)), tt.want)
			must.Is(t, "acquire", must.Err(fsx.AcquireLock(context.Background(), tt.path, tt.mode)), tt.want)
		})
	}
}

func TestUnlockTwice(t *testing.T) {
	t.Parallel()
	path := lockPath(t)
	l := mustLock(t, path, fsx.Exclusive)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			must.NoError(t, l.Unlock())
		})
	}
	wg.Wait()
	// A late second Unlock must not take the lock from the next holder.
	mustLock(t, path, fsx.Exclusive)
	mustUnlock(t, l)
	must.Is(t, "", must.Err(fsx.TryLock(path, fsx.Exclusive)), fsx.ErrLocked)
}

func TestWaiterWakesOnUnlock(t *testing.T) {
	t.Parallel()
	path := lockPath(t)
	held := mustLock(t, path, fsx.Exclusive)
	ctx := newWaiting(t.Context())
	got := make(chan error, 1)
	go func() {
		l, err := fsx.AcquireLock(ctx, path, fsx.Exclusive)
		if err == nil {
			err = l.Unlock()
		}
		got <- err
	}()
	<-ctx.begun
	select {
	case err := <-got:
		t.Fatalf("acquired while held: %v", err)
	default:
	}
	mustUnlock(t, held)
	must.Do(t, <-got)
}

func TestEndedContextEndsTheWait(t *testing.T) {
	t.Parallel()
	path := lockPath(t)
	held := mustLock(t, path, fsx.Exclusive)
	parent, cancel := context.WithCancel(t.Context())
	ctx := newWaiting(parent)
	got := make(chan error, 1)
	go func() {
		_, err := fsx.AcquireLock(ctx, path, fsx.Exclusive)
		got <- err
	}()
	<-ctx.begun
	cancel()
	must.Is(t, "", <-got, context.Canceled)
	// The abandoned wait may get the lock next, but must hand it on.
	mustUnlock(t, held)
	for range 3 {
		l := must.Get(fsx.AcquireLock(t.Context(), path, fsx.Exclusive))(t)
		mustUnlock(t, l)
	}
}

func TestCanceledContextTakesNoLock(t *testing.T) {
	t.Parallel()
	path := lockPath(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Is(t, "", must.Err(fsx.AcquireLock(ctx, path, fsx.Shared)), context.Canceled)
	mustLock(t, path, fsx.Exclusive)
}

func TestPastDeadlineTakesOnlyAFreeLock(t *testing.T) {
	t.Parallel()
	path := lockPath(t)
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	held := must.Get(fsx.AcquireLock(ctx, path, fsx.Exclusive))(t)
	must.Is(t, "held", must.Err(fsx.AcquireLock(ctx, path, fsx.Shared)), context.DeadlineExceeded)
	mustUnlock(t, held)
	mustLock(t, path, fsx.Exclusive)
}

func TestProcessesExcludeEachOther(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		end  func(t *testing.T, path string)
	}{
		{"clean exit", func(t *testing.T, path string) {
			holder, stdin := startHolder(t, path)
			wantLocked(t, path)
			must.Do(t, errors.Join(stdin.Close(), holder.Wait()))
		}},
		{"killed", func(t *testing.T, path string) {
			holder, _ := startHolder(t, path)
			wantLocked(t, path)
			must.Do(t, holder.Process.Kill())
			_ = holder.Wait()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := lockPath(t)
			tt.end(t, path)
			mustLock(t, path, fsx.Exclusive)
		})
	}
}

func TestWaiterWakesWhenTheHolderIsKilled(t *testing.T) {
	t.Parallel()
	path := lockPath(t)
	holder, _ := startHolder(t, path)
	ctx := newWaiting(t.Context())
	got := make(chan error, 1)
	go func() {
		l, err := fsx.AcquireLock(ctx, path, fsx.Shared)
		if err == nil {
			err = l.Unlock()
		}
		got <- err
	}()
	<-ctx.begun
	must.Do(t, holder.Process.Kill())
	must.Do(t, <-got)
	_ = holder.Wait()
}

func wantLocked(t *testing.T, path string) {
	t.Helper()
	for _, mode := range []fsx.LockMode{fsx.Shared, fsx.Exclusive} {
		if _, err := fsx.TryLock(path, mode); !errors.Is(err, fsx.ErrLocked) {
			t.Fatalf("%s: got %v, want ErrLocked", mode, err)
		}
	}
}

func TestLockStress(t *testing.T) {
	t.Parallel()
	path := lockPath(t)
	var writers, readers atomic.Int32
	var taken, given atomic.Int64
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			for round := range 50 {
				// A third write, a third read, a third give up at some moment of the wait.
				ctx, cancel := context.WithCancel(t.Context())
				mode := fsx.Shared
				if i%3 == 0 {
					mode = fsx.Exclusive
				}
				if i%3 == 2 {
					mode = fsx.LockMode(1 + round%2)
					go cancel()
				}
				l, err := fsx.AcquireLock(ctx, path, mode)
				cancel()
				if errors.Is(err, context.Canceled) {
					given.Add(1)
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				taken.Add(1)
				inside(t, mode, &writers, &readers)
				must.NoError(t, l.Unlock())
			}
		})
	}
	wg.Wait()
	t.Logf("%d taken, %d given up", taken.Load(), given.Load())
	// Nothing is left of the rounds: neither a holder nor a wait that was given up.
	l := must.Get(fsx.AcquireLock(t.Context(), path, fsx.Exclusive))(t)
	mustUnlock(t, l)
}

// inside checks the rules while a lock is held.
func inside(t *testing.T, mode fsx.LockMode, writers, readers *atomic.Int32) {
	own := readers
	if mode == fsx.Exclusive {
		own = writers
	}
	n := own.Add(1)
	defer own.Add(-1)
	runtime.Gosched()
	if mode == fsx.Exclusive && (n != 1 || readers.Load() != 0) {
		t.Errorf("exclusive among %d writers and %d readers", n, readers.Load())
	}
	if mode == fsx.Shared && writers.Load() != 0 {
		t.Error("shared beside a writer")
	}
}
