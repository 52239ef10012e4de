package fsx_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/fsx/errfs"
	"github.com/amber-memory/amber/internal/must"
)

// stream writes the pieces to the new file path, as every user of [fsx.StageNew] does.
func stream(fsys fsx.FS, path string, pieces ...string) error {
	s, err := fsx.StageNew(fsys, path, 0o600)
	if err != nil {
		return err
	}
	for _, p := range pieces {
		if _, err := s.Write([]byte(p)); err != nil {
			return errors.Join(err, s.Abort())
		}
	}
	return s.Commit()
}

func staged(t *testing.T, fsys fsx.FS, data []byte) *fsx.Staged {
	t.Helper()
	s := must.Get(fsx.StageNew(fsys, target, 0o600))(t)
	must.Get(s.Write(data))(t)
	return s
}

func TestAbortLeavesNothing(t *testing.T) {
	t.Parallel()
	c := home(t, nil)
	s := staged(t, c, newData)
	for range 2 {
		must.Do(t, s.Abort())
	}
	if got, left := content(t, c), temps(t, c); got != nil || left != nil {
		t.Errorf("%d bytes and temporary files %q are left", len(got), left)
	}
}

func TestEndedFileTakesNothingMore(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		end  func(*fsx.Staged) error
		want []byte
	}{
		{"committed", (*fsx.Staged).Commit, newData},
		{"aborted", (*fsx.Staged).Abort, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := home(t, nil)
			s := staged(t, c, newData)
			must.Do(t, tt.end(s))
			must.Is(t, "write", must.Err(s.Write([]byte("more"))), fs.ErrClosed)
			must.Is(t, "commit", s.Commit(), fs.ErrClosed)
			must.NoError(t, s.Abort())
			must.Equal(t, "the file", content(t, c), tt.want)
		})
	}
}

func TestFailedWriteIsNotCommitted(t *testing.T) {
	t.Parallel()
	base := home(t, nil)
	e := errfs.Wrap(base, errfs.Rule{Op: errfs.OpWrite, Nth: 2, Err: syscall.ENOSPC, Written: 1})
	s := staged(t, e, newData)
	for range 2 { // the second would reach the disk if it were tried
		must.Is(t, "write", must.Err(s.Write([]byte("more"))), syscall.ENOSPC)
	}
	must.Is(t, "commit", s.Commit(), syscall.ENOSPC)
	if got, left := content(t, base), temps(t, base); got != nil || left != nil {
		t.Errorf("%d bytes and temporary files %q are left", len(got), left)
	}
}

func TestConcurrentCommitHasOneWinner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	const writers = 8
	results := make(chan error, writers)
	for range writers {
		go func() { results <- stream(fsx.OS(), path, "one", "two") }()
	}
	won := 0
	for range writers {
		switch err := <-results; {
		case err == nil:
			won++
		case !errors.Is(err, fs.ErrExist):
			t.Error(err)
		}
	}
	must.Equal(t, "writers that created the file", won, 1)
}

func TestSyncFileSavesWhatAKilledWriterLeft(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		c := home(t, nil)
		f := must.Get(c.OpenFile(target, os.O_WRONLY|os.O_CREATE, 0o600))(t)
		must.Get(f.Write(newData))(t)
		must.Equal(t, "synced bytes", must.Get(fsx.SyncFile(c, target))(t), int64(len(newData)))
		if got := content(t, c.CrashClone(rand.New(rand.NewPCG(seed, 0)))); !bytes.Equal(got, newData) {
			t.Fatalf("seed %d: %d bytes after the crash, want %d", seed, len(got), len(newData))
		}
	}
}

func TestSyncFileReportsEveryError(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		e := errfs.Wrap(home(t, newData), errfs.Rule{Nth: n, Err: syscall.EIO})
		_, err := fsx.SyncFile(e, target)
		if len(e.Injected()) == 0 {
			if err != nil || n < 5 {
				t.Errorf("after %d calls without a fault: %v", n-1, err)
			}
			return
		}
		must.Is(t, fmt.Sprint(e.Injected()[0]), err, syscall.EIO)
	}
}
