package dir_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/target/dir"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := filepath.Join(root, "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	tests := []struct {
		name string
		path string
		o    dir.Options
		want amber.Kind
	}{
		{"there", root, dir.Options{}, ""},
		{"missing", filepath.Join(root, "none"), dir.Options{}, amber.KindNotFound},
		{"to be made", filepath.Join(root, "x", "y"), dir.Options{Create: true}, ""},
		{"to be made, there", root, dir.Options{Create: true}, ""},
		{"relative", "x", dir.Options{Create: true}, amber.KindInvalid},
		{"a file", file, dir.Options{}, amber.KindInvalid},
		{"a file, to be made", file, dir.Options{Create: true}, amber.KindInvalid},
		{"below a file, to be made", filepath.Join(file, "x"), dir.Options{Create: true}, amber.KindInvalid},
	}
	for _, tt := range tests {
		must.Fail(dir.Open(tt.path, tt.o))(t, tt.name, tt.want)
	}
	must.Error(t, "a missing folder was made", must.Err(os.Lstat(filepath.Join(root, "none"))))
}

func TestGoneFolderIsUnreachable(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "disk")
	d, err := dir.Open(root, dir.Options{Create: true})
	must.Do(t, err)
	put(t, d, "packs/a", object)
	must.Do(t, os.RemoveAll(root))
	_, err = d.Put(t.Context(), "packs/b", 1, strings.NewReader("x"))
	must.Kind(t, "put", err, amber.KindUnreachable)
	_, err = d.Get(t.Context(), "packs/a", 0, -1)
	must.Kind(t, "get", err, amber.KindUnreachable)
	must.Kind(t, "delete", d.Delete(t.Context(), "packs/a"), amber.KindUnreachable)
	must.Kind(t, "list", d.List(t.Context(), "packs/", nil), amber.KindUnreachable)
	must.Fail(d.Sweep(t.Context(), amber.UnixMilli(1)))(t, "sweep", amber.KindUnreachable)
	must.Error(t, "the folder was made again", must.Err(os.Lstat(root)))
}

func TestObjectOfAnotherSizeIsDamaged(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir(), nil)
	put(t, d, "a", []byte("four"))
	created, err := d.Put(t.Context(), "a", 5, strings.NewReader("fives"))
	if must.Kind(t, "put", err, amber.KindDamaged); created {
		t.Error("it says that it is new")
	}
	must.Equal(t, "what it holds", string(get(t, d, "a")), "four")
}

func TestNoObjectIsBelowAnother(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir(), nil)
	put(t, d, "a", object)
	put(t, d, "b/c", object)
	for _, name := range []string{"a/b", "a/b/c", "b"} {
		must.Fail(d.Put(t.Context(), name, 1, strings.NewReader("x")))(t, "put "+name, amber.KindInvalid)
	}
	must.Equal(t, "list", list(t, d, ""), []string{"a", "b/c"})
}

func TestForeignFilesAreNotListed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := open(t, root, nil)
	put(t, d, "packs/a", object)
	deep := filepath.Join(root, strings.Repeat("deep/", 45)) // more bytes than a name has
	must.Do(t, os.MkdirAll(deep, 0o700))
	for _, path := range []string{
		filepath.Join(root, "README.TXT"), filepath.Join(root, ".DS_Store"), filepath.Join(root, "packs", "b~"),
		filepath.Join(root, "packs", fsx.TempPrefix+"X"), filepath.Join(deep, "a"),
	} {
		must.Do(t, os.WriteFile(path, nil, 0o600))
	}
	must.Equal(t, "list", list(t, d, ""), []string{"packs/a"})
}

func TestObjectThatShrinksWhileReadIsDamaged(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := open(t, root, nil)
	put(t, d, "a", object)
	r := must.Get(d.Get(t.Context(), "a", 0, -1))(t)
	must.Do(t, os.Truncate(filepath.Join(root, "a"), 100))
	must.Fail(io.ReadAll(r))(t, "read", amber.KindDamaged)
	for range 2 {
		must.Do(t, r.Close())
	}
}

func TestReadErrorsAreTold(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put(t, open(t, root, nil), "a", object)
	d := open(t, root, errfs.Wrap(fsx.OS(), errfs.Rule{Op: errfs.OpRead, Err: syscall.EIO}))
	r := must.Get(d.Get(t.Context(), "a", 0, -1))(t)
	defer r.Close()
	must.Is(t, "read", must.Err(io.ReadAll(r)), syscall.EIO)
	unreadable := open(t, root, errfs.Wrap(fsx.OS(), errfs.Rule{Op: errfs.OpReadDir, Err: syscall.EACCES}))
	must.Kind(t, "list", unreadable.List(t.Context(), "", nil), amber.KindRefused)
}

func TestFileSystemWithoutHardLinksIsUnsupported(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, no := range []error{syscall.EPERM, syscall.ENOTSUP} {
		d := open(t, root, noLinks{fsx.OS(), no})
		_, err := d.Put(t.Context(), "a", 1, strings.NewReader("x"))
		must.Kind(t, no.Error(), err, amber.KindUnsupported)
		must.Hold(t, amber.HintOf(err) != "", "there is no hint")
	}
	must.Equal(t, "temporary files", temps(t, fsx.OS(), root), nil)
}

// noLinks is a file system as on most memory sticks.
type noLinks struct {
	fsx.FS
	err error
}

func (n noLinks) Link(oldname, newname string) error {
	return &os.LinkError{Op: "link", Old: oldname, New: newname, Err: n.err}
}

func TestPanickingReaderLeavesNothing(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := open(t, root, nil)
	func() {
		defer func() { _ = recover() }()
		_, _ = d.Put(t.Context(), "a", 10, io.MultiReader(strings.NewReader("half"), iofunc(func([]byte) (int, error) { panic("reader") })))
		t.Error("the panic was swallowed")
	}()
	if left := temps(t, fsx.OS(), root); left != nil || get(t, d, "a") != nil {
		t.Errorf("temporary files left: %q", left)
	}
}

type iofunc func([]byte) (int, error)

func (f iofunc) Read(p []byte) (int, error) { return f(p) }

// TestReaderErrorsOfTheDiskAreTheReaders: what a reader says about its own files is nothing about the target's.
func TestReaderErrorsOfTheDiskAreTheReaders(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir(), nil)
	for _, own := range []error{os.ErrExist, os.ErrNotExist, os.ErrPermission, syscall.ENOSPC} {
		created, err := d.Put(t.Context(), "a", 10, iofunc(func([]byte) (int, error) { return 0, own }))
		must.Hold(t, errors.Is(err, own) && !created, "%v: got %v, %v", own, created, err)
	}
}

func TestSweepTakesOldTemporaryFilesOnly(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := open(t, root, nil)
	put(t, d, "packs/3f/a", object)
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	file := func(name string, modified time.Time) {
		t.Helper()
		path := filepath.Join(root, name)
		must.Do(t, errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, modified, modified)))
	}
	file(fsx.TempPrefix+"A", noon.Add(-time.Second))
	file("packs/3f/"+fsx.TempPrefix+"B", noon.Add(-time.Hour))
	file("packs/"+fsx.TempPrefix+"NEW", noon)
	file("packs/old", noon.Add(-time.Hour))
	removed, err := d.Sweep(t.Context(), amber.At(noon))
	must.Hold(t, removed == 2 && err == nil, "got %d, %v; want 2", removed, err)
	must.Equal(t, "left", temps(t, fsx.OS(), root), []string{filepath.Join(root, "packs", fsx.TempPrefix+"NEW")})
	must.Equal(t, "list", list(t, d, ""), []string{"packs/3f/a", "packs/old"})
}

// TestPutNeedsLittleMemory runs alone: it counts what the process allocates.
func TestPutNeedsLittleMemory(t *testing.T) {
	d := open(t, t.TempDir(), nil)
	const size = 16 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	largest := 0
	r := iofunc(func(p []byte) (int, error) {
		largest = max(largest, len(p))
		return len(p), nil
	})
	must.Get(d.Put(t.Context(), "large", size, io.LimitReader(r, size)))(t)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 || largest > 1<<20 {
		t.Errorf("%d bytes were allocated, the largest read was %d, for an object of %d", used, largest, size)
	}
}
