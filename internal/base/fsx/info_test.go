package fsx_test

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestInfo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := must.Get(fsx.Info(dir))(t)
	// A place where tests can write is writable and has room.
	must.Hold(t, got.Type != "" && got.FreeBytes != 0, "got %+v", got)
	must.Is(t, "missing path", must.Err(fsx.Info(filepath.Join(dir, "none"))), fs.ErrNotExist)
}
