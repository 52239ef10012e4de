package dir_test

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/dir"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// object is longer than one block, so that a crash can tear it.
var object = bytes.Repeat([]byte("object "), 2000)

// open returns the target in a folder of a file system.
func open(t *testing.T, root string, fsys fsx.FS) *dir.Dir {
	t.Helper()
	return must.Get(dir.Open(root, dir.Options{FS: fsys}))(t)
}

// simulated returns a simulated disk that has the folder.
func simulated(t *testing.T, root string) *crashfs.FS {
	t.Helper()
	disk := crashfs.New()
	must.Do(t, fsx.MkdirAll(disk, root, 0o700))
	return disk
}

func put(t *testing.T, d *dir.Dir, name string, data []byte) {
	t.Helper()
	must.Get(d.Put(t.Context(), name, int64(len(data)), bytes.NewReader(data)))(t)
}

// get returns an object, nil when it is not there.
func get(t *testing.T, d *dir.Dir, name string) []byte {
	t.Helper()
	r, err := d.Get(t.Context(), name, 0, -1)
	if amber.KindOf(err) == amber.KindNotFound {
		return nil
	}
	must.Do(t, err)
	data, err := io.ReadAll(r)
	must.Do(t, errors.Join(err, r.Close()))
	return append([]byte{}, data...)
}

func list(t *testing.T, d *dir.Dir, prefix string) (names []string) {
	t.Helper()
	err := d.List(t.Context(), prefix, func(o target.Object) error {
		names = append(names, o.Name)
		return nil
	})
	must.Do(t, err)
	return names
}

// temps returns the temporary files below a folder.
func temps(t *testing.T, fsys fsx.FS, root string) (found []string) {
	t.Helper()
	for _, e := range must.Get(fsys.ReadDir(root))(t) {
		path := filepath.Join(root, e.Name())
		switch {
		case e.IsDir():
			found = append(found, temps(t, fsys, path)...)
		case strings.HasPrefix(e.Name(), fsx.TempPrefix):
			found = append(found, path)
		}
	}
	return found
}
