package fsx

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// holdScratch has nothing to do: a file that is open cannot be removed.
func holdScratch(*os.File) (held bool, err error) { return true, nil }

// removeScratch removes a file that no process has open.
func removeScratch(path string) (removed bool, err error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	err = os.Remove(path)
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return false, nil
	}
	return err == nil, err
}

// isMyFolder reports whether a folder may be removed.
func isMyFolder(info os.FileInfo) bool { return info.IsDir() }
