package fsx

import (
	"io/fs"
	"os"
)

// OS returns the file system of the operating system.
//
// On macOS, Sync and SyncDir reach the platter (F_FULLFSYNC), not only the drive's cache.
// On Windows, SyncDir does nothing, because directories cannot be synced there: NTFS journals names,
// so they are never torn, but the last ones made before a power cut may be lost. A file that another
// process holds open cannot be replaced or removed there either.
//
// On Linux, SyncAll asks a local file system to write out all it has (syncfs), which takes as long as everything
// dirty on it, and then asks each file below the directory whether that went well. Elsewhere it syncs file after file.
func OS() FS { return osFS{} }

type osFS struct{}

var (
	_ FS          = osFS{}
	_ treeRemover = osFS{}
)

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := openNoFollow(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osFS) Mkdir(name string, perm fs.FileMode) error  { return os.Mkdir(name, perm) }
func (osFS) Link(oldname, newname string) error         { return os.Link(oldname, newname) }
func (osFS) Rename(oldname, newname string) error       { return os.Rename(oldname, newname) }
func (osFS) Remove(name string) error                   { return os.Remove(name) }
func (osFS) Lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (osFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (osFS) SyncDir(name string) error                  { return syncDir(name) }
func (osFS) SyncAll(name string) error                  { return syncAll(name) }

// RemoveAll works relative to open directories, so that no directory can be exchanged for a
// symbolic link between looking at it and entering it.
func (osFS) RemoveAll(name string) error { return os.RemoveAll(name) }
