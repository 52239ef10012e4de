package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber"
)

// passed are folders that hold nothing of anybody's memory.
var passed = map[string]bool{".git": true, "node_modules": true, ".venv": true, "__pycache__": true}

// errTooMany ends a walk.
var errTooMany = errors.New("too many files")

// addFolder adds the files below a folder. Archives that lie directly in it are opened, as some exports come in several.
func (t *Tree) addFolder(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return amber.Errorf(kindOf(err), opOpen, dir, "%w", err)
	}
	t.closers = append(t.closers, root)
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			t.skip(name, "cannot be read: "+reason(err))
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		return t.walk(root, dir, name, e)
	})
	if errors.Is(err, errTooMany) {
		return amber.Errorf(amber.KindInvalid, opOpen, dir, "folder holds more than %d files, the limit", MaxFiles)
	}
	return err
}

// reason is what an error of a file says, without the path.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

func (t *Tree) walk(root *os.Root, dir, name string, e fs.DirEntry) error {
	depth := bytes.Count([]byte(name), []byte("/"))
	switch {
	case e.IsDir() && (passed[e.Name()] || depth >= maxDepth):
		return fs.SkipDir
	case e.IsDir():
		return nil
	case e.Type()&fs.ModeSymlink != 0:
		t.skip(name, "is a symbolic link; links are not followed")
		return nil
	case !e.Type().IsRegular():
		t.skip(name, "is "+e.Type().String()+", want a file")
		return nil
	case len(t.files) >= MaxFiles:
		return errTooMany
	}
	info, err := e.Info()
	if err != nil {
		t.skip(name, "cannot be read: "+reason(err))
		return nil
	}
	f := File{
		Name: name, Size: info.Size(), Modified: info.ModTime(), real: filepath.Join(dir, filepath.FromSlash(name)),
		open: func() (io.ReadCloser, error) { return root.Open(name) },
	}
	if depth == 0 && f.Is(".zip") && isZip(f) {
		if err := t.addZip(name, f.real, 1); err != nil {
			t.skip(name, err.Error())
		}
		return nil
	}
	t.files = append(t.files, f)
	return nil
}

// addRoot adds the file that the path names: an archive, or a file alone.
func (t *Tree) addRoot(f File) error {
	t.root = f
	switch {
	case isZip(f):
		return t.addZip("", f.real, 1)
	case f.Is(".tar.gz", ".tgz", ".tar"):
		return t.addTar(f)
	}
	t.single, t.files = true, []File{f}
	return nil
}

func isZip(f File) bool {
	head := f.Head(4)
	return string(head) == "PK\x03\x04" || string(head) == "PK\x05\x06"
}

// Local returns a path on this machine where a file lies, for readers that need one. It copies a file of an archive
// first, once.
func (t *Tree) Local(f File) (string, error) {
	if f.real != "" {
		return f.real, nil
	}
	if real, ok := t.local[f.Name]; ok {
		return real, nil
	}
	real, err := t.copyEntry(f)
	if err != nil {
		return "", err
	}
	if t.local == nil {
		t.local = map[string]string{}
	}
	t.local[f.Name] = real
	return real, nil
}

// copyEntry copies a file of an archive.
func (t *Tree) copyEntry(f File) (string, error) {
	r, err := f.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	return t.copyOut(r, f.Name)
}

func (t *Tree) copyOut(r io.Reader, name string) (string, error) {
	out, err := t.temp("entry-*")
	if err != nil {
		return "", fmt.Errorf("copy %s: %w", name, err)
	}
	_, err = io.Copy(out, t.rationed(r))
	if err := errors.Join(err, out.Close()); err != nil {
		return "", amber.Errorf(amber.KindDamaged, "read file", name, "%w", err)
	}
	return out.Name(), nil
}

func openReal(real string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return os.Open(real) }
}
