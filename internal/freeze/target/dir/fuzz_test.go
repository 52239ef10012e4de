package dir_test

import (
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// FuzzLoadPointer has a stranger write the file of a pointer: it is read as what a swap wrote, or it is damaged
// or too new, and never anything else.
func FuzzLoadPointer(f *testing.F) {
	const digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for _, seed := range []string{
		"", "\n", "amber-pointer 1 1 " + digest + "\n", "amber-pointer 1 2 " + digest + "\nvalue",
		"amber-pointer 2 \n", "amber-pointer 1 18446744073709551616 " + digest + "\n",
	} {
		f.Add([]byte(seed))
	}
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		disk := crashfs.New()
		must.Do(t, fsx.MkdirAll(disk, filepath.Join(root, "pointers"), 0o700))
		must.Do(t, fsx.CreateNew(disk, filepath.Join(root, "pointers", "p"), 0o600, data))
		value, version, err := open(t, root, disk).LoadPointer(t.Context(), "p")
		switch kind := amber.KindOf(err); {
		case err != nil && kind != amber.KindDamaged && kind != amber.KindTooNew:
			t.Errorf("got %v", err)
		case err == nil && (version == "" || len(value) > target.MaxPointerBytes || len(value) >= len(data)):
			t.Errorf("got %q, version %q", value, version)
		}
	})
}
