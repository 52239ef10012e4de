package fsx

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// TestSyncTreeLeavesLinksAlone walks a tree with everything in it that is no file, as SyncAll does where there is no
// sync of a whole file system.
func TestSyncTreeLeavesLinksAlone(t *testing.T) {
	t.Parallel()
	for name, sync := range map[string]func(string) error{"tree": syncTree, "all": syncAll} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must.Do(t, os.MkdirAll(filepath.Join(dir, "d", "e"), 0o700))
			must.Do(t, os.WriteFile(filepath.Join(dir, "d", "e", "a"), []byte("one"), 0o600))
			for link, to := range map[string]string{"loop": ".", "dangling": "/no/such/place", "outside": "/etc/passwd"} {
				must.Do(t, os.Symlink(to, filepath.Join(dir, "d", link)))
			}
			must.NoError(t, sync(filepath.Join(dir, "d")))
			must.Error(t, "following a link", syncAll(filepath.Join(dir, "d", "loop")))
		})
	}
}

// TestWrittenBackAsksTheFile checks that the question itself can fail.
func TestWrittenBackAsksTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	must.Is(t, "", writtenBack(path), fs.ErrNotExist)
	must.Do(t, os.WriteFile(path, []byte("one"), 0o600))
	must.NoError(t, writtenBack(path))
}
