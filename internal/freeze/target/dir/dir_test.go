package dir_test

import (
	"context"
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
	"github.com/amber-memory/amber/internal/freeze/target"
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
	if _, err := os.Lstat(filepath.Join(root, "none")); err == nil {
		t.Error("a missing folder was made")
	}
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
	_, _, err = d.LoadPointer(t.Context(), "p")
	must.Kind(t, "load", err, amber.KindUnreachable)
	must.Fail(d.SwapPointer(t.Context(), "p", "", nil))(t, "swap", amber.KindUnreachable)
	must.Fail(d.Sweep(t.Context(), amber.UnixMilli(1)))(t, "sweep", amber.KindUnreachable)
	if _, err := os.Lstat(root); err == nil {
		t.Error("the folder was made again")
	}
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

func TestPointersAreNoObjects(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir(), nil)
	swap(t, d, "p", "", []byte("value"))
	for _, name := range []string{"pointers", "pointers/p", "pointers/q/r"} {
		must.Fail(d.Put(t.Context(), name, 1, strings.NewReader("x")))(t, "put "+name, amber.KindInvalid)
		must.Fail(d.Get(t.Context(), name, 0, -1))(t, "get "+name, amber.KindInvalid)
		must.Kind(t, "delete "+name, d.Delete(t.Context(), name), amber.KindInvalid)
	}
	put(t, d, "pointers-1", []byte("x"))
	must.Equal(t, "list", list(t, d, ""), []string{"pointers-1"})
}

func TestNoObjectIsBelowAnother(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir(), nil)
	put(t, d, "a", object)
	put(t, d, "b/c", object)
	for _, name := range []string{"a/b", "a/b/c", "b"} {
		must.Fail(d.Put(t.Context(), name, 1, strings.NewReader("x")))(t, "put "+name, amber.KindInvalid)
	}
	swap(t, d, "p", "", nil)
	must.Fail(d.SwapPointer(t.Context(), "p/q", "", nil))(t, "swap", amber.KindInvalid)
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

func TestHostilePointerIsDamaged(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := open(t, root, nil)
	path := filepath.Join(root, "pointers", "p")
	version := swap(t, d, "p", "", []byte("value"))
	good := must.Get(os.ReadFile(path))(t)
	digest := string(good[len("amber-pointer 1 1 ") : len(good)-len("\nvalue")])
	tests := map[string]amber.Kind{
		"":                         amber.KindDamaged,
		"\n":                       amber.KindDamaged,
		"value":                    amber.KindDamaged,
		string(good[:len(good)-1]): amber.KindDamaged,
		string(good) + "x":         amber.KindDamaged,
		"\n" + string(good):        amber.KindDamaged,
		"amber-pointer 1 0 " + digest + "\nvalue":                                   amber.KindDamaged,
		"amber-pointer 1 01 " + digest + "\nvalue":                                  amber.KindDamaged,
		"amber-pointer 1 -1 " + digest + "\nvalue":                                  amber.KindDamaged,
		"amber-pointer 1 18446744073709551615 " + digest + "\nvalue":                amber.KindDamaged,
		"amber-pointer 1 99999999999999999999999 " + digest + "\nvalue":             amber.KindDamaged,
		"amber-pointer 1 1 " + strings.ToUpper(digest) + "\nvalue":                  amber.KindDamaged,
		"amber-pointer 0 1 " + digest + "\nvalue":                                   amber.KindDamaged,
		"amber-pointer 2 1 something else\n":                                        amber.KindTooNew,
		strings.Repeat("x", target.MaxPointerBytes) + strings.Repeat("\n", 1<<10):   amber.KindDamaged,
		"amber-pointer 1 1 " + digest + strings.Repeat(" ", 1<<10) + "\n" + "value": amber.KindDamaged,
	}
	for i := range good {
		flipped := []byte(string(good))
		flipped[i] ^= 1
		if i != strings.IndexByte(string(good), '1') && i != len("amber-pointer 1 ") {
			tests[string(flipped)] = amber.KindDamaged
		}
	}
	for data, want := range tests {
		must.Do(t, os.WriteFile(path, []byte(data), 0o600))
		_, _, err := d.LoadPointer(t.Context(), "p")
		must.Kind(t, "load", err, want)
		must.Fail(d.SwapPointer(t.Context(), "p", version, nil))(t, "swap", want)
		if t.Failed() {
			t.Fatalf("with %q", data[:min(len(data), 100)])
		}
	}
}

func TestVersionsOfACopyThatWentAnotherWayConflict(t *testing.T) {
	t.Parallel()
	a, b := open(t, t.TempDir(), nil), open(t, t.TempDir(), nil)
	version := swap(t, a, "p", "", []byte("one way"))
	swap(t, b, "p", "", []byte("another"))
	must.Fail(b.SwapPointer(t.Context(), "p", version, nil))(t, "swap", amber.KindConflict)
}

// TestSwapWaitsAsLongAsTheContext has another program hold the lock, and more than one swap wait for it.
func TestSwapWaitsAsLongAsTheContext(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := open(t, root, nil)
	version := swap(t, d, "p", "", []byte("one"))
	lock := must.Get(fsx.AcquireLock(t.Context(), filepath.Join(root, "pointers", ".lock"), fsx.Exclusive))(t)
	ctx, cancel := context.WithCancel(t.Context())
	const waiting = 3
	results := make(chan error, waiting)
	for range waiting {
		go func() {
			_, err := d.SwapPointer(ctx, "p", version, []byte("two"))
			results <- err
		}()
	}
	cancel()
	for range waiting {
		must.Kind(t, "swap", <-results, amber.KindUnreachable)
	}
	must.Do(t, lock.Unlock())
	swap(t, d, "p", version, []byte("three"))
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
	swap(t, d, "p", "", nil)
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	file := func(name string, modified time.Time) {
		t.Helper()
		path := filepath.Join(root, name)
		must.Do(t, errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, modified, modified)))
	}
	file(fsx.TempPrefix+"A", noon.Add(-time.Second))
	file("packs/3f/"+fsx.TempPrefix+"B", noon.Add(-time.Hour))
	file("pointers/"+fsx.TempPrefix+"C", noon.Add(-time.Hour))
	file("packs/"+fsx.TempPrefix+"NEW", noon)
	file("packs/old", noon.Add(-time.Hour))
	removed, err := d.Sweep(t.Context(), amber.At(noon))
	must.Hold(t, removed == 3 && err == nil, "got %d, %v; want 3", removed, err)
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
