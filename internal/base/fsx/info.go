package fsx

import "fmt"

// FSInfo describes the file system below a path.
type FSInfo struct {
	// Type is the name of the file system as the operating system gives it, in lower case: "ext4", "apfs",
	// "ntfs". It is "fuse" for every file system in user space, and "0x" with the magic number in hex
	// for one that Linux has and this package does not know.
	Type string

	// Network reports whether another machine may write the same files, so that kernel locks and shared memory
	// do not protect them. It is false for "fuse", which does not tell.
	Network bool

	// FreeBytes is what an unprivileged user may still write.
	FreeBytes uint64
}

// Info describes the file system that holds path, which must exist.
func Info(path string) (FSInfo, error) {
	info, err := statFS(path)
	if err != nil {
		return FSInfo{}, fmt.Errorf("file system of %s: %w", path, err)
	}
	return info, nil
}
