package fsx

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// syncAccess is the access a file must be opened with to be read and synced: FlushFileBuffers
// refuses a handle without write access.
const syncAccess = os.O_RDWR

// openNoFollow opens a reparse point itself instead of what it points to, and then refuses it.
// O_TRUNC is left to a second step, so that a refused link is not touched.
func openNoFollow(name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, flag&^os.O_TRUNC|windows.O_FILE_FLAG_OPEN_REPARSE_POINT, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0:
		err = fmt.Errorf("open %s: %w: link or other reparse point", name, ErrNotRegular)
	case flag&os.O_TRUNC != 0:
		err = f.Truncate(0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func syncDir(name string) error {
	info, err := os.Stat(name)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "syncdir", Path: name, Err: windows.ERROR_DIRECTORY}
	}
	return err
}

const rootFlags = 0

// syncOpenDir does nothing, as syncDir.
func syncOpenDir(*os.File) error { return nil }
