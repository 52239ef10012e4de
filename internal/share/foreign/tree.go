package foreign

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Bounds of what is read.
const (
	MaxFiles      = 100_000  // in a folder or an archive
	MaxEntryBytes = 2 << 30  // of one entry of an archive, unpacked
	MaxRatio      = 200      // of unpacked to packed bytes
	MaxItemBytes  = 64 << 20 // of one line, element or row
	maxNesting    = 2        // archives within archives
	maxDepth      = 32       // folders within folders
	freeBytes     = 1 << 20  // so much may be unpacked whatever the ratio
)

const opOpen = "open import"

// File is one file of a tree.
type File struct {
	Name     string // slash-separated, below the root; of a tree that is one file, its base name
	Size     int64
	Modified time.Time

	open func() (io.ReadCloser, error)
	real string        // where it lies on this machine; "" in an archive
	read *atomic.Int64 // of the tree
}

// Tree is what a path holds: one file, a folder, or an archive, whose entries are read without unpacking it.
type Tree struct {
	path    string
	single  bool
	files   []File
	byName  map[string]int
	skipped []Skipped
	closers []io.Closer
	scratch string            // a folder for copies; "" before the first
	held    io.Closer         // keeps the folder from being taken for abandoned
	local   map[string]string // where files of archives were copied to
	stills  map[string]string // and databases with their logs
	read    atomic.Int64      // bytes

	root   File  // what the path names, where that is a file
	sent   bool  // the path is a name that a sender gave, and not one of this machine
	most   int64 // how many bytes may be copied; 0: any number
	copied int64
}

// Skipped is something that is not read.
type Skipped struct {
	Place  Place
	Reason string
}

// Open looks at a path. Links below it are not followed.
func Open(name string) (*Tree, error) {
	info, err := os.Stat(name) // a link that the caller names is the caller's choice
	if err != nil {
		return nil, amber.Errorf(kindOf(err), opOpen, name, "cannot be read: %w", err)
	}
	t := &Tree{path: name, byName: map[string]int{}}
	switch {
	case info.IsDir():
		err = t.addFolder(name)
	case info.Mode().IsRegular():
		err = t.addRoot(File{
			Name: path.Base(filepath.ToSlash(name)), Size: info.Size(), Modified: info.ModTime(), real: name, open: openReal(name),
		})
	default:
		err = amber.Errorf(amber.KindInvalid, opOpen, name, "is %s, want a file or a folder", info.Mode().Type())
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	t.sort()
	return t, nil
}

// sort puts the files in the order of their names.
func (t *Tree) sort() {
	slices.SortFunc(t.files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	for i, f := range t.files {
		t.byName[f.Name] = i
		t.files[i].read = &t.read
	}
	t.root.read = &t.read
	t.tellJournals()
}

func kindOf(err error) amber.Kind {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return amber.KindNotFound
	case errors.Is(err, fs.ErrPermission):
		return amber.KindRefused
	}
	return amber.KindUnreachable
}

// Close removes what was copied and closes archives.
func (t *Tree) Close() error {
	var errs []error
	for _, c := range t.closers {
		errs = append(errs, c.Close())
	}
	t.closers = nil
	if t.scratch != "" {
		errs = append(errs, t.held.Close(), os.RemoveAll(t.scratch))
		t.scratch = ""
	}
	return errors.Join(errs...)
}

// Path returns what Open was given, or the name of an upload.
func (t *Tree) Path() string { return t.path }

// Source returns where the tree came from, for reports: the absolute path, or the name of an upload.
func (t *Tree) Source() string {
	if abs, err := filepath.Abs(t.path); err == nil && !t.sent {
		return abs
	}
	return t.path
}

// Base returns the last element of the path: the name of the file or folder.
func (t *Tree) Base() string { return filepath.Base(t.path) }

// Files returns every file, by name.
func (t *Tree) Files() []File { return t.files }

// Bytes returns how much all files hold.
func (t *Tree) Bytes() (sum int64) {
	for _, f := range t.files {
		sum += f.Size
	}
	return sum
}

// BytesRead returns how many bytes of its files were read, as they lie there, and again where they were read again.
func (t *Tree) BytesRead() int64 { return t.read.Load() }

// Skipped returns what the tree holds and does not give: links, names that leave it, entries that are too much.
func (t *Tree) Skipped() []Skipped { return t.skipped }

// IsFile reports whether the path names a file, alone or an archive, and not a folder.
func (t *Tree) IsFile() bool { return t.root.open != nil }

// Single returns the file of a tree that is one file.
func (t *Tree) Single() (File, bool) {
	if t.single && len(t.files) == 1 {
		return t.files[0], true
	}
	return File{}, false
}

// File returns the file of a name.
func (t *Tree) File(name string) (File, bool) {
	i, ok := t.byName[name]
	if !ok {
		return File{}, false
	}
	return t.files[i], true
}

// Matching returns the files whose last elements match a pattern as of [path.Match]: "sessions/*.jsonl" finds
// "a/sessions/b.jsonl".
func (t *Tree) Matching(pattern string) []File {
	want := strings.Count(pattern, "/") + 1
	var out []File
	for _, f := range t.files {
		parts := strings.Split(f.Name, "/")
		if len(parts) < want {
			continue
		}
		if ok, err := path.Match(pattern, path.Join(parts[len(parts)-want:]...)); ok && err == nil {
			out = append(out, f)
		}
	}
	return out
}

// Under returns the files below a folder, at any depth.
func (t *Tree) Under(folder string) []File {
	var out []File
	for _, f := range t.files {
		if strings.HasPrefix(f.Name, folder+"/") {
			out = append(out, f)
		}
	}
	return out
}

// InZip reports whether the file is an entry of a zip file, which has no place of its own on this machine.
func (f File) InZip() bool { return f.real == "" }

// Open opens a file for reading. A file that ends in .gz or .zst is unpacked, within the bounds of archives.
func (f File) Open() (io.ReadCloser, error) {
	r, err := f.open()
	if err != nil {
		return nil, amber.Errorf(amber.KindOf(err), "read file", f.Name, "%w", err)
	}
	if f.read != nil {
		r = &counted{r, f.read}
	}
	switch path.Ext(f.Name) {
	case ".gz":
		return unzip(r, f.Size)
	case ".zst":
		return unzstd(r, f.Size)
	}
	return r, nil
}

// counted counts what is read.
type counted struct {
	io.ReadCloser
	n *atomic.Int64
}

// Read implements [io.Reader].
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// Head returns the first bytes of a file, without a byte order mark; none where it cannot be read.
func (f File) Head(n int) []byte {
	r, err := f.Open()
	if err != nil {
		return nil
	}
	defer r.Close()
	b := make([]byte, n)
	m, _ := io.ReadFull(r, b)
	return TrimMark(b[:m])
}

// Bytes returns a file of at most max bytes, without a byte order mark. A larger one is an error of kind invalid.
func (f File) Bytes(max int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, max+1))
	switch {
	case err != nil:
		return nil, amber.Errorf(amber.KindDamaged, "read file", f.Name, "%w", err)
	case int64(len(b)) > max:
		return nil, amber.Errorf(amber.KindInvalid, "read file", f.Name, "file has more than %d bytes, the limit", max)
	}
	return TrimMark(b), nil
}

// ModifiedAt returns when the file was last changed; zero where that is not to be believed.
func (f File) ModifiedAt() amber.Time {
	at, err := Moment(f.Modified)
	if err != nil {
		return amber.Time{}
	}
	return at
}

// Stem returns the last element of the name without its extension.
func (f File) Stem() string {
	base := path.Base(f.Name)
	return strings.TrimSuffix(base, path.Ext(base))
}

// Is reports whether the name ends in one of the extensions, in any case.
func (f File) Is(exts ...string) bool {
	return slices.ContainsFunc(exts, func(e string) bool { return strings.HasSuffix(strings.ToLower(f.Name), e) })
}

// TrimMark takes a byte order mark off.
func TrimMark(b []byte) []byte { return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")) }

func (t *Tree) skip(name, reason string) {
	t.skipped = append(t.skipped, Skipped{Place{File: name}, reason})
}

// scratchPrefix begins the names of folders for copies.
const scratchPrefix = "amber-import-"

// temp returns a file in a folder that Close removes. It first removes folders that killed imports left.
func (t *Tree) temp(pattern string) (*os.File, error) {
	if t.scratch == "" {
		_, _ = fsx.RemoveScratchFolders(os.TempDir(), scratchPrefix) // a folder that cannot be removed does no harm
		dir, held, err := fsx.CreateScratchFolder(os.TempDir(), scratchPrefix)
		if err != nil {
			return nil, err
		}
		t.scratch, t.held = dir, held
	}
	return os.CreateTemp(t.scratch, pattern)
}
