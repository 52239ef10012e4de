package crashfs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// ErrCrashed is returned by every call from the one given to [FS.StopAt] on.
var ErrCrashed = errors.New("crashed")

// FS is an in-memory file system with a root directory. Relative paths start at the root. It is safe
// for concurrent use.
type FS struct {
	mu      sync.Mutex
	root    *node
	pending []dirOp
	calls   int
	stop    int
}

var _ fsx.FS = (*FS)(nil)

// New returns an empty file system.
func New() *FS {
	return &FS{root: newDir(0o755, clock(0))}
}

// StopAt makes the n-th mutating call (counted from 1 since New) and every call after it, reads included, return
// [ErrCrashed] without effect, as if the process had died. StopAt(0) takes the stop back: a new process then
// finds what the old one left behind, as after kill -9, with nothing lost and nothing more durable.
func (c *FS) StopAt(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop = n
}

// Calls returns how many mutating calls were made: opens that may create or truncate, writes,
// truncations, file and directory syncs, and operations on names. Calls that fail count too.
func (c *FS) Calls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

// mutate counts a mutating call. c.mu is held.
func (c *FS) mutate() error {
	c.calls++
	return c.alive()
}

// alive returns ErrCrashed once the process is dead. c.mu is held.
func (c *FS) alive() error {
	if c.stop > 0 && c.calls >= c.stop {
		return ErrCrashed
	}
	return nil
}

func (c *FS) now() time.Time { return clock(c.calls) }

// clock turns a number of calls into a time, so that runs are repeatable.
func clock(calls int) time.Time {
	return time.Unix(0, 0).UTC().Add(time.Duration(calls) * time.Second)
}

// lookup returns the node at name. c.mu is held.
func (c *FS) lookup(name string) (*node, error) {
	if name == "" {
		return nil, syscall.ENOENT
	}
	n := c.root
	for _, elem := range elements(name) {
		if !n.isDir() {
			return nil, syscall.ENOTDIR
		}
		child, ok := n.entries[elem]
		if !ok {
			return nil, syscall.ENOENT
		}
		n = child
	}
	return n, nil
}

// parent returns the directory that holds, or would hold, name and the last element of name. c.mu is held.
func (c *FS) parent(name string) (*node, string, error) {
	elems := elements(name)
	if len(elems) == 0 {
		return nil, "", syscall.EINVAL
	}
	dir, err := c.lookup("/" + strings.Join(elems[:len(elems)-1], "/"))
	if err != nil {
		return nil, "", err
	}
	if !dir.isDir() {
		return nil, "", syscall.ENOTDIR
	}
	return dir, elems[len(elems)-1], nil
}

// elements splits a path of the operating system; the root has none.
func elements(name string) []string {
	name = strings.TrimPrefix(name, filepath.VolumeName(name))
	clean := path.Clean("/" + filepath.ToSlash(name))
	if clean == "/" {
		return nil
	}
	return strings.Split(clean[1:], "/")
}

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func linkError(op, oldname, newname string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: oldname, New: newname, Err: err}
}
