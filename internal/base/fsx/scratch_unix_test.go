//go:build unix

package fsx_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
)

// RemoveScratch removes only abandoned files: not a file that is open, a link, a folder, a fifo, or a file of another
// name.
func TestRemoveScratchLeavesWhatIsInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	used := must.Get(fsx.CreateScratch(dir, "up-"))(t)
	left := must.Get(fsx.CreateScratch(dir, "up-"))(t)
	must.Do(t, left.Close())
	in := func(name string) string { return filepath.Join(dir, name) }
	must.Do(t, os.WriteFile(in("other"), nil, 0o600))
	must.Do(t, os.Symlink(in("other"), in("up-1.amber-scratch")))
	must.Do(t, os.Mkdir(in("up-2.amber-scratch"), 0o700))
	must.Do(t, unix.Mkfifo(in("up-3.amber-scratch"), 0o600))

	must.Equal(t, "removed", must.Get(fsx.RemoveScratch(dir, "up-"))(t), 1)
	want := []string{"other", filepath.Base(used.Name()), "up-1.amber-scratch", "up-2.amber-scratch", "up-3.amber-scratch"}
	slices.Sort(want)
	must.Equal(t, "left", namesIn(t, dir), want)

	must.Do(t, used.Close())
	must.Equal(t, "removed when it is closed", must.Get(fsx.RemoveScratch(dir, "up-"))(t), 1)
	must.Equal(t, "removed again", must.Get(fsx.RemoveScratch(dir, "up-"))(t), 0)
	_, err := fsx.RemoveScratch(in("none"), "up-")
	must.Equal(t, "a folder that is not there", os.IsNotExist(err), true)
}

// A folder stays as long as its file is open, and where it has none or others may look into it.
func TestRemoveScratchFoldersLeavesWhatIsInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder, held, err := fsx.CreateScratchFolder(dir, "im-")
	must.Do(t, err)
	must.Do(t, os.WriteFile(filepath.Join(folder, "copy"), []byte("x"), 0o600))
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, mode := range map[string]os.FileMode{"im-mine.amber-scratch": 0o700, "im-8.amber-scratch": 0o755} {
		must.Do(t, os.Mkdir(in(name), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(in(name), "held"), nil, 0o600))
		must.Do(t, os.Chmod(in(name), mode))
	}
	must.Do(t, os.Mkdir(in("im-9.amber-scratch"), 0o700))
	must.Equal(t, "removed", must.Get(fsx.RemoveScratchFolders(dir, "im-"))(t), 0)
	must.Equal(t, "left", len(namesIn(t, dir)), 4)
	must.Do(t, held.Close())
	must.Equal(t, "removed when it is closed", must.Get(fsx.RemoveScratchFolders(dir, "im-"))(t), 1)
	must.Equal(t, "left", namesIn(t, dir), []string{"im-8.amber-scratch", "im-9.amber-scratch", "im-mine.amber-scratch"})
}

// A file that a user named stays, however much its name is like that of a scratch file, and so does one that others may read.
func TestRemoveScratchLeavesNamesThatItDidNotMake(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	names := []string{
		"up-", "up-.amber-scratch", "up-1", "up-1.amber-scratch.zip", "up-1.zip", "up-12a.amber-scratch", "up-backup.amber-scratch",
		"up-backup.zip", "up-\u0661.amber-scratch",
	}
	for _, name := range names {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "up-7.amber-scratch"), nil, 0o600))
	must.Do(t, os.Chmod(filepath.Join(dir, "up-7.amber-scratch"), 0o644))
	must.Equal(t, "removed", must.Get(fsx.RemoveScratch(dir, "up-"))(t), 0)
	want := append(names, "up-7.amber-scratch")
	slices.Sort(want)
	must.Equal(t, "left", namesIn(t, dir), want)
	must.Do(t, os.Chmod(filepath.Join(dir, "up-7.amber-scratch"), 0o600))
	must.Equal(t, "removed when only its user may read it", must.Get(fsx.RemoveScratch(dir, "up-"))(t), 1)
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	for _, e := range must.Get(os.ReadDir(dir))(t) {
		names = append(names, e.Name())
	}
	return names
}
