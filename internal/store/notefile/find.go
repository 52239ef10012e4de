package notefile

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/names"
)

// Folders are the folders that notes lie in, wherever they are kept.
type Folders interface {
	// ReadDir returns the entries of the folder at a slash-separated path, "" for the first one. The error has
	// [fs.ErrNotExist] in its chain where there is no such folder.
	ReadDir(dir string) ([]fs.DirEntry, error)
	// Takes reports whether the folder has elem in another spelling, though no entry of it is named so.
	Takes(dir, elem string) bool
}

// ErrSpelling is wrapped by the conflict with a file of another spelling.
var ErrSpelling = errors.New("another spelling of the name exists")

// Locate returns the file of a note, nil where there is none. It goes down folder by folder and takes a name only when
// it is spelled so in its folder, because a file system may take two spellings for one file. Errors:
// conflict when something that is no folder is in the way, when the note is no regular file, or when another
// spelling of the name exists.
func Locate(f Folders, name string) (fs.DirEntry, error) {
	elems := strings.Split(name+Suffix, "/")
	for i := range elems {
		here, last := path.Join(elems[:i+1]...), i == len(elems)-1
		e, err := entry(f, path.Join(elems[:i]...), elems[i])
		switch {
		case err != nil || e == nil:
			return nil, err
		case e.Type() == fs.ModeSymlink:
			return nil, InTheWay(here, "is a symbolic link")
		case !last && !e.IsDir():
			return nil, InTheWay(here, "is not a folder")
		case last && !e.Type().IsRegular():
			return nil, InTheWay(here, "is not a regular file")
		case last:
			return e, nil
		}
	}
	return nil, nil
}

// Find is [Locate] for those who read: another spelling is just another note.
func Find(f Folders, name string) (fs.DirEntry, error) {
	e, err := Locate(f, name)
	if errors.Is(err, ErrSpelling) {
		return nil, nil
	}
	return e, err
}

// entry returns the entry elem of a folder, nil when there is none.
func entry(f Folders, dir, elem string) (fs.DirEntry, error) {
	entries, err := f.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var twin string
	for _, e := range entries {
		if e.Name() == elem {
			return e, nil
		}
		if strings.EqualFold(e.Name(), elem) {
			twin = e.Name()
		}
	}
	if twin == "" && f.Takes(dir, elem) {
		twin = elem
	}
	if twin == "" {
		return nil, nil
	}
	return nil, conflict(fmt.Errorf("%w: %q", ErrSpelling, path.Join(dir, twin)))
}

// InTheWay is the answer to a write that would destroy something else. It is of kind conflict.
func InTheWay(file, why string) error { return conflict(fmt.Errorf("%q %s", file, why)) }

func conflict(err error) error {
	return Error(amber.KindConflict, "find the file of the note", err, "")
}

// Spelled returns the name under which a note is stored, for the name that a
// caller asks for. Where there is no file of exactly that name it is the one
// whose name differs only in how letters with marks are written; a note that is
// new gets the canonical spelling. A file that cannot be read is reported when
// it is opened.
func Spelled(f Folders, name string) string {
	if isASCII(name) {
		return name
	}
	elems := strings.Split(name, "/")
	dir := ""
	for i, elem := range elems {
		if i == len(elems)-1 {
			elem += Suffix
		}
		found := like(f, dir, elem)
		if found == "" {
			return names.Canonical(path.Join(dir, path.Join(elems[i:]...)))
		}
		dir = path.Join(dir, found)
	}
	return strings.TrimSuffix(dir, Suffix)
}

// like returns the entry of a folder that has the name elem, in this or in
// another spelling; "" where there is none.
func like(f Folders, dir, elem string) string {
	entries, err := f.ReadDir(dir)
	if err != nil {
		return ""
	}
	found := ""
	for _, e := range entries {
		if e.Name() == elem {
			return elem
		}
		if names.Same(e.Name(), elem) {
			found = e.Name()
		}
	}
	return found
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// Spellings lists the names under which commits may hold a note: as it is
// stored, and in both forms.
func Spellings(f Folders, name string) []string {
	out := []string{Spelled(f, name)}
	for _, s := range []string{name, norm.NFC.String(name), norm.NFD.String(name)} {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
