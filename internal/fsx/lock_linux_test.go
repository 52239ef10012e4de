package fsx_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/must"
)

// The file of a running program is the one that nobody, not even root, may open for writing.
func TestReadOnlyLockFileIsShared(t *testing.T) {
	t.Parallel()
	path := must.Get(os.Executable())(t)
	mustLock(t, path, fsx.Shared)
	mustLock(t, path, fsx.Shared)
	must.Is(t, "exclusive", must.Err(fsx.TryLock(path, fsx.Exclusive)), syscall.ETXTBSY)
}
