package fsx_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// growing is a file system whose files grow between Stat and Read.
type growing struct{ fsx.FS }

func (g growing) OpenFile(name string, flag int, perm fs.FileMode) (fsx.File, error) {
	f, err := g.FS.OpenFile(name, flag, perm)
	return growingFile{f, g.FS}, err
}

type growingFile struct {
	fsx.File
	fsys fsx.FS
}

func (g growingFile) Stat() (fs.FileInfo, error) {
	info, err := g.File.Stat()
	if err != nil {
		return nil, err
	}
	f, err := g.fsys.OpenFile(g.Name(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, err = f.Write([]byte("x"))
	return info, err
}

func TestReadFileStopsAtAGrowingFile(t *testing.T) {
	t.Parallel()
	size := int64(len(oldData))
	must.Is(t, fmt.Sprintf("at most %d bytes", size), must.Err(fsx.ReadFile(growing{home(t, oldData)}, target, size)), fsx.ErrTooLarge)
	must.Equal(t, "at most", int64(len(must.Get(fsx.ReadFile(growing{home(t, oldData)}, target, size+1))(t))), size+1)
}

func TestReadFileReportsEveryError(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		e := errfs.Wrap(home(t, oldData), errfs.Rule{Nth: n, Err: syscall.EIO})
		_, err := fsx.ReadFile(e, target, int64(len(oldData)))
		if len(e.Injected()) == 0 {
			if err != nil || n == 1 {
				t.Fatalf("without a fault, call %d: %v", n, err)
			}
			return
		}
		// Nothing was written, so closing has nothing to lose.
		if op := e.Injected()[0]; op != errfs.OpClose && !errors.Is(err, syscall.EIO) {
			t.Fatalf("%s, call %d: got %v, want EIO", op, n, err)
		}
	}
}
