package fsx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Build makes the new file path under its own name, to be written and read in any order. It is for folders that no
// other process reads yet: nothing of it is durable, not even its name, before [FS.SyncAll], and a power cut may
// leave it torn. The umask applies to perm. The caller closes the file. It returns an error satisfying errors.Is for
// [fs.ErrExist] when anything of that name exists, a symbolic link too.
func Build(fsys FS, path string, perm fs.FileMode) (File, error) {
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	return f, nil
}

// BuildWith is [Build] for a file that fill writes, and closes it.
func BuildWith(fsys FS, path string, perm fs.FileMode, fill func(File) error) error {
	f, err := Build(fsys, path, perm)
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Close())
}

// BuildOf is [Build] for a file with this content.
func BuildOf(fsys FS, path string, perm fs.FileMode, content []byte) error {
	return BuildWith(fsys, path, perm, func(f File) error {
		_, err := f.Write(content)
		return err
	})
}
