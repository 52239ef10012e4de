package fsx_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
)

// Linux lets no process, not even root's, open the file of a running program for writing.
func TestReadOnlyLockFileIsShared(t *testing.T) {
	t.Parallel()
	path := must.Get(os.Executable())(t)
	mustLock(t, path, fsx.Shared)
	mustLock(t, path, fsx.Shared)
	must.Is(t, "exclusive", must.Err(fsx.TryLock(path, fsx.Exclusive)), syscall.ETXTBSY)
}
