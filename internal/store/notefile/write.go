package notefile

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

const (
	dirPerm  = 0o700
	filePerm = 0o600
)

// NewFolder makes a folder that notes are written into. Errors: conflict when it is there and holds something.
func NewFolder(fsys fsx.FS, dir string) error {
	if err := fsx.MkdirAll(fsys, dir, dirPerm); err != nil {
		return err
	}
	entries, err := fsys.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = Error(amber.KindConflict, "", errors.New("the folder is not empty"), "name a folder that does not exist")
	}
	return err
}

// WriteNew writes the file of a note that is not there: two names may be one to the file system.
func WriteNew(fsys fsx.FS, file string, content []byte) error {
	if err := fsx.MkdirAll(fsys, filepath.Dir(file), dirPerm); err != nil {
		return err
	}
	f, err := fsys.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if errors.Is(err, os.ErrExist) {
		return InTheWay(filepath.Base(file), "is there already: the file system takes two names for one")
	}
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}
