package documents

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// twins finds names with different spellings that are one file here, or a file and
// a folder: many file systems ignore case, some also how letters with accents are
// encoded. It asks the file system itself, and only about names that some file
// system takes for the same.
func (t *FolderTarget) twins(names []string) map[string]string {
	suspects := alike(names)
	if len(suspects) == 0 {
		return nil
	}
	same, err := t.try(suspects)
	if err != nil {
		for _, name := range suspects {
			same[name] = "may be the same file as another document, which could not be tried: " + err.Error()
		}
	}
	return same
}

// alike returns the names that may be the same to some file system. Outside of
// ASCII there are too many spellings for a table, so then it returns all names.
func alike(names []string) []string {
	files, folders := map[string]int{}, map[string]bool{}
	for _, name := range names {
		if len(names) > 1 && strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
			return names
		}
		above, key := spelled(name)
		files[key]++
		for _, folder := range above {
			folders[folder] = true
		}
	}
	var out []string
	for _, name := range names {
		above, key := spelled(name)
		may := files[key] > 1 || folders[key]
		for _, folder := range above {
			may = may || files[folder] > 0
		}
		if may {
			out = append(out, name)
		}
	}
	return out
}

// spelled returns a name as the least exact file system sees it, and its folders.
func spelled(name string) (above []string, key string) {
	for e := range strings.SplitSeq(strings.ToLower(name), "/") {
		if key != "" {
			above = append(above, key)
		}
		key += "/" + strings.TrimRight(e, ". ")
	}
	return above, key
}

// try makes empty files of these names in a scratch folder, which it removes, and
// returns the names that collide with another one. The result is never nil.
func (t *FolderTarget) try(names []string) (same map[string]string, err error) {
	same = map[string]string{}
	root, err := t.nearest()
	if err != nil {
		return same, err
	}
	defer root.Close()
	fsys, scratch := t.in(root), fsx.TempPrefix+rand.Text()
	if err := fsys.Mkdir(scratch, 0o700); err != nil {
		return same, err
	}
	defer func() { err = errors.Join(err, fsx.RemoveAll(fsys, scratch)) }()
	for _, name := range names {
		switch free, err := tryName(fsys, scratch, name); {
		case err != nil:
			return same, err
		case !free:
			same[name] = "is the same file or folder as another document on this file system"
		}
	}
	return same, nil
}

// tryName makes an empty file and its folders below dir; free is false when
// another file or folder is in the way.
func tryName(fsys fsx.FS, dir, name string) (free bool, err error) {
	elements := strings.Split(name, "/")
	last := len(elements) - 1
	for _, e := range elements[:last] {
		dir = filepath.Join(dir, e)
		err := fsys.Mkdir(dir, 0o700)
		if errors.Is(err, fs.ErrExist) {
			var info fs.FileInfo
			if info, err = fsys.Lstat(dir); err == nil && !info.IsDir() {
				return false, nil
			}
		}
		if err != nil {
			return false, err
		}
	}
	f, err := fsys.OpenFile(filepath.Join(dir, elements[last]), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

// nearest opens the folder, or the nearest one above it that exists.
func (t *FolderTarget) nearest() (*os.Root, error) {
	if t.root != nil {
		return t.root.OpenRoot(".")
	}
	for dir := filepath.Dir(t.dir); ; dir = filepath.Dir(dir) {
		root, err := os.OpenRoot(dir)
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return root, err
		}
	}
}
