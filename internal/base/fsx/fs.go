package fsx

import (
	"errors"
	"io"
	"io/fs"
)

// TempPrefix begins the name of every temporary file of this package. A program that lists a directory
// of durable files skips names with this prefix.
const TempPrefix = ".amber-tmp-"

var (
	// ErrDiffers is returned by [CreateSame] when the file exists with other bytes. The file is left as it is.
	ErrDiffers = errors.New("file exists with different content")

	// ErrTooLarge is returned by [ReadFile] when the file holds more bytes than the caller allows.
	ErrTooLarge = errors.New("file too large")

	// ErrNotRegular is returned when a path names a symbolic link, a directory, a fifo or a device
	// where a regular file is needed.
	ErrNotRegular = errors.New("not a regular file")

	// ErrInPlace is returned, together with the cause, when a write failed after the new content
	// became visible under its name: the content is whole, but a power cut may still undo it.
	// The caller must treat the write as neither done nor undone. [CreateSame] and [Replace] may simply be repeated.
	ErrInPlace = errors.New("new content is in place but may not be durable")

	// ErrLocked is returned by [TryLock] when another process or handle holds the lock in a conflicting mode.
	ErrLocked = errors.New("locked")
)

// FS is the file-system seam. All paths are paths of the operating system. An FS is safe for concurrent use.
//
// Errors satisfy errors.Is for [fs.ErrExist], [fs.ErrNotExist] and [fs.ErrPermission] as those of package os do.
type FS interface {
	// OpenFile opens a file as os.OpenFile does, except that it never follows a symbolic link at the
	// last element (the error then is ErrNotRegular), never waits for the other end of a fifo,
	// and never hands the descriptor down to a child process.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)

	// Mkdir makes one directory. The umask applies to perm.
	Mkdir(name string, perm fs.FileMode) error

	// Link gives the file oldname the second name newname, which must be free.
	Link(oldname, newname string) error

	// Rename moves oldname to newname and replaces a file of that name atomically.
	Rename(oldname, newname string) error

	// Remove removes a file, a symbolic link (not what it points to) or an empty directory.
	Remove(name string) error

	// Lstat describes name itself; it does not follow a symbolic link at the last element.
	Lstat(name string) (fs.FileInfo, error)

	// ReadDir returns the entries of a directory sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)

	// SyncDir makes the entries of a directory durable: what was created, linked, renamed or removed
	// in it. It says nothing about the content of those files, nor about the directory's own name.
	SyncDir(name string) error

	// SyncAll makes everything durable that was written, made, linked, renamed or removed below the directory
	// name so far, by whomever: contents and names, but not the directory's own name. It may make more durable than
	// that. It follows no symbolic link below name. After an error nothing of it may be taken for durable, and what was
	// being built must be given up: a second SyncAll may return nil without having persisted anything.
	SyncAll(name string) error
}

// File is an open file. Its methods promise what those of [os.File] promise; in particular Write
// returns an error whenever it writes less than it was given.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer

	// WriteAt writes at an offset; a gap before it reads as zeros. A file that was opened to append refuses it.
	io.WriterAt

	// Name returns the path the file was opened with.
	Name() string

	// Stat describes the open file.
	Stat() (fs.FileInfo, error)

	// Sync makes the content and the length durable, but not the name: that is [FS.SyncDir].
	// After an error the file must be given up: a second Sync may return nil without having persisted anything.
	Sync() error

	// Truncate sets the length; it does not move the offset.
	Truncate(size int64) error
}
