package survey

import (
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber/wire"
)

// Mode is what an entry is.
type Mode uint8

// The modes.
const (
	Regular Mode = iota + 1
	Exec         // a regular file with an execute bit
	Dir
)

// Entry is one file or folder.
type Entry struct {
	Path    string // slash-separated, below the root
	Mode    Mode
	Size    int64 // 0 for a folder
	ModTime time.Time
	Key     Key
}

// Key tells files apart, and versions of one file, where the operating system has something to tell them by; it is
// zero elsewhere. Programs cannot set the time of change.
type Key struct {
	Device, Inode uint64
	Changed       int64 // nanoseconds since 1970
}

// Survey is what lay in a folder.
type Survey struct {
	Root    string  // with symbolic links resolved, when Options.FollowRoot was set
	Entries []Entry // by path; a folder comes before what is in it
	Skipped []wire.Skipped
	// Unlisted counts what was skipped beyond MaxSkipped and is not in Skipped.
	Unlisted int
}

// racy is how much older than a survey a file must be for its times to vouch for it: some file systems
// count in steps of two seconds, and within one step a file can change without showing it.
const racy = 2 * time.Second

// Find returns the entry of a path.
func (s Survey) Find(path string) (Entry, bool) {
	i, found := slices.BinarySearchFunc(s.Entries, path, func(e Entry, p string) int { return strings.Compare(e.Path, p) })
	if !found {
		return Entry{}, false
	}
	return s.Entries[i], true
}

// Same reports whether e, an entry of an earlier survey that began at since, is certainly the same in this
// one, content included. False means that the file must be read: equal size and time do not prove equal content.
// A folder is the same when it is still a folder.
func (s Survey) Same(e Entry, since time.Time) bool {
	now, found := s.Find(e.Path)
	if !found || now.Mode != e.Mode {
		return false
	}
	if e.Mode == Dir {
		return true
	}
	settled := since.Add(-racy)
	return same(now, e) && e.ModTime.Before(settled) && time.Unix(0, e.Key.Changed).Before(settled)
}

// same reports whether two looks at one path saw the same.
func same(a, b Entry) bool {
	return a.Mode == b.Mode && a.Size == b.Size && a.ModTime.Equal(b.ModTime) && a.Key == b.Key
}

// KeyOf is what the file system knows a file by; the zero Key where it does not tell.
func KeyOf(info fs.FileInfo) Key { return keyOf(info) }

// entryOf describes a file or folder; false when it is neither.
func entryOf(path string, info fs.FileInfo) (Entry, bool) {
	e := Entry{Path: path, Mode: Regular, Size: info.Size(), ModTime: info.ModTime(), Key: keyOf(info)}
	switch {
	case info.IsDir():
		e.Mode, e.Size = Dir, 0
	case !info.Mode().IsRegular():
		return Entry{}, false
	case info.Mode().Perm()&0o111 != 0:
		e.Mode = Exec
	}
	return e, true
}
