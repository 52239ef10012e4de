//go:build unix

package fsx

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// A file of another user is no scratch file of this one, whatever its name.
func TestAScratchFileBelongsToOneUser(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "up-1.amber-scratch")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	info := must.Get(os.Lstat(file))(t)
	me := os.Geteuid()
	must.Equal(t, "mine", isMine(info), true)
	must.Equal(t, "of the one who made it", isOf(info, 0o600, me), true)
	must.Equal(t, "of another", isOf(info, 0o600, me+1), false)
}
