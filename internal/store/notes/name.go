package notes

import (
	"io/fs"
	"path/filepath"

	"github.com/amber-memory/amber/internal/store/notefile"
)

var _ notefile.Folders = (*repo)(nil)

// filePath returns where the note is in the file system.
func (r *repo) filePath(name string) string {
	return filepath.Join(r.dir, filepath.FromSlash(name+notefile.Suffix))
}

// ReadDir implements [notefile.Folders].
func (r *repo) ReadDir(dir string) ([]fs.DirEntry, error) {
	return r.fsys.ReadDir(filepath.Join(r.dir, filepath.FromSlash(dir)))
}

// Takes implements [notefile.Folders]. An element that Lstat finds although the folder does not list it has another
// spelling there, in Unicode, that is the same to the file system.
func (r *repo) Takes(dir, elem string) bool {
	_, err := r.fsys.Lstat(filepath.Join(r.dir, filepath.FromSlash(dir), elem))
	return err == nil
}
