package notes

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
)

const suffix = ".md"

// nameOf returns the name of the note in the file at a slash-separated path; false when the
// file is not a note.
func nameOf(file string) (string, bool) {
	name, found := strings.CutSuffix(file, suffix)
	if !found {
		return "", false
	}
	canonical, err := amber.CheckNoteName(name)
	return name, err == nil && canonical == name
}

// filePath returns where the note is in the file system.
func (r *repo) filePath(name string) string {
	return filepath.Join(r.dir, filepath.FromSlash(name+suffix))
}

// errSpelling is wrapped by the conflict with a file of another spelling.
var errSpelling = errors.New("another spelling of the name exists")

// find reports whether the file of a note exists. Errors are those of repo.locate, except that another
// spelling is just another note.
func (r *repo) find(name string) (exists bool, err error) {
	exists, err = r.locate(name)
	if errors.Is(err, errSpelling) {
		return false, nil
	}
	return exists, err
}

// locate reports whether the file of a note exists. It goes down folder by folder and takes a name only when
// it is spelled so in its folder, because a file system may take two spellings for one file. Errors:
// conflict when something that is no folder is in the way, when the note is no regular file, or when another
// spelling of the name exists.
func (r *repo) locate(name string) (exists bool, err error) {
	elems := strings.Split(name+suffix, "/")
	for i := range elems {
		here, last := path.Join(elems[:i+1]...), i == len(elems)-1
		e, err := r.entry(path.Join(elems[:i]...), elems[i])
		switch {
		case err != nil || e == nil:
			return false, err
		case e.Type() == fs.ModeSymlink:
			return false, inTheWay(here, "is a symbolic link")
		case !last && !e.IsDir():
			return false, inTheWay(here, "is not a folder")
		case last && !e.Type().IsRegular():
			return false, inTheWay(here, "is not a regular file")
		}
	}
	return true, nil
}

// entry returns the entry elem of a folder, nil when there is none.
func (r *repo) entry(dir, elem string) (fs.DirEntry, error) {
	full := filepath.Join(r.dir, filepath.FromSlash(dir))
	entries, err := r.fsys.ReadDir(full)
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
	// Not listed but found: to the file system another spelling, in Unicode, is the same.
	if _, err := r.fsys.Lstat(filepath.Join(full, elem)); twin == "" && err == nil {
		twin = elem
	}
	if twin == "" {
		return nil, nil
	}
	return nil, conflict(fmt.Errorf("%w: %q", errSpelling, path.Join(dir, twin)))
}

func inTheWay(file, why string) error { return conflict(fmt.Errorf("%q %s", file, why)) }

func conflict(err error) error {
	return amberError(amber.KindConflict, "find the file of the note", err, "")
}
