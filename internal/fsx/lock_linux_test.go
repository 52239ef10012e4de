package fsx_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/fsx"
)

// The file of a running program is the one that nobody, not even root, may open for writing.
func TestReadOnlyLockFileIsShared(t *testing.T) {
	t.Parallel()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mustLock(t, path, fsx.Shared)
	mustLock(t, path, fsx.Shared)
	if _, err := fsx.TryLock(path, fsx.Exclusive); !errors.Is(err, syscall.ETXTBSY) {
		t.Errorf("exclusive: got %v, want ETXTBSY", err)
	}
}
