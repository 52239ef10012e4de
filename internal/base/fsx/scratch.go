package fsx

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// scratchSuffix ends the names of scratch files. With the number before it, it tells them from files that a user named.
const scratchSuffix = ".amber-scratch"

// CreateScratch makes a temporary file with mode 0600, whose name is prefix, a number and ".amber-scratch". The file is in use
// until it is closed: until then [RemoveScratch] leaves it alone, also in another process. A process that is killed leaves it
// abandoned.
func CreateScratch(dir, prefix string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(dir, prefix+"*"+scratchSuffix)
		if err != nil {
			return nil, err
		}
		held, err := holdScratch(f)
		if err == nil && held {
			return f, nil
		}
		// Another process took it for abandoned before it was held, and removes it.
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, errors.Join(err, os.Remove(f.Name()))
		}
	}
}

// scratchNames is how many names of a folder are read at once.
const scratchNames = 1000

// isScratch reports whether [CreateScratch] makes such names.
func isScratch(name, prefix string) bool {
	rest, begins := strings.CutPrefix(name, prefix)
	number, ends := strings.CutSuffix(rest, scratchSuffix)
	return begins && ends && number != "" && strings.Trim(number, "0123456789") == ""
}

// RemoveScratch removes the files in dir that [CreateScratch] made with prefix and that are abandoned, and returns how many it
// removed. It leaves alone what is in use, what belongs to another user or is open to one, and what is not a regular file. The
// error is that of the last file that could not be removed.
func RemoveScratch(dir, prefix string) (removed int, err error) {
	return eachScratch(dir, prefix, removeScratch)
}

// scratchHeld is the file in a scratch folder that is open while the folder is in use.
const scratchHeld = "held"

// CreateScratchFolder makes a temporary folder with mode 0700, whose name is prefix, a number and ".amber-scratch". The folder is in
// use until held is closed: until then [RemoveScratchFolders] leaves it alone, also in another process.
func CreateScratchFolder(dir, prefix string) (folder string, held *os.File, err error) {
	for {
		if folder, err = os.MkdirTemp(dir, prefix+"*"+scratchSuffix); err != nil {
			return "", nil, err
		}
		f, err := os.OpenFile(filepath.Join(folder, scratchHeld), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return "", nil, errors.Join(err, os.RemoveAll(folder))
		}
		mine, err := holdScratch(f)
		if err == nil && mine {
			return folder, f, nil
		}
		// Another process took it for abandoned before it was held, and removes it.
		if err := errors.Join(err, f.Close()); err != nil {
			return "", nil, errors.Join(err, os.RemoveAll(folder))
		}
	}
}

// RemoveScratchFolders removes the folders in dir that [CreateScratchFolder] made with prefix and that are abandoned, as
// [RemoveScratch] does files.
func RemoveScratchFolders(dir, prefix string) (removed int, err error) {
	return eachScratch(dir, prefix, func(path string) (bool, error) {
		info, err := os.Lstat(path)
		if err != nil || !isMyFolder(info) {
			return false, err
		}
		// Without the file the folder is being made, or removed by another process.
		if gone, err := removeScratch(filepath.Join(path, scratchHeld)); err != nil || !gone {
			return false, err
		}
		err = os.RemoveAll(path)
		return err == nil, err
	})
}

// eachScratch calls remove with every path in dir that is named as scratch files are.
func eachScratch(dir, prefix string, remove func(path string) (bool, error)) (removed int, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	var failed error
	for {
		names, err := d.Readdirnames(scratchNames)
		for _, name := range names {
			if !isScratch(name, prefix) {
				continue
			}
			gone, err := remove(filepath.Join(dir, name))
			if gone {
				removed++
			}
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				failed = err
			}
		}
		if errors.Is(err, io.EOF) {
			return removed, failed
		}
		if err != nil {
			return removed, errors.Join(failed, err)
		}
	}
}
