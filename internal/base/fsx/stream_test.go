package fsx_test

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
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
	checkOneWinner(t, func(path string) error { return stream(fsx.OS(), path, "one", "two") })
}

func TestSyncFileSavesWhatAKilledWriterLeft(t *testing.T) {
	t.Parallel()
	c := abandoned(t)
	must.Equal(t, "synced bytes", must.Get(fsx.SyncFile(c, target))(t), int64(len(newData)))
	checkDurable(t, c, newData)
}

func TestSyncFileReportsEveryError(t *testing.T) {
	t.Parallel()
	full := func() *crashfs.FS { return home(t, newData) }
	if calls := failEach(t, full, func(f fsx.FS) error { return must.Err(fsx.SyncFile(f, target)) }); calls < 4 {
		t.Errorf("the stream made only %d calls", calls)
	}
}
