package crashfs

import (
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// OpenFile implements [fsx.FS].
func (c *FS) OpenFile(name string, flag int, perm fs.FileMode) (fsx.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.open(name, flag, perm)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return &file{fs: c, node: n, name: name, flag: flag}, nil
}

func (c *FS) open(name string, flag int, perm fs.FileMode) (*node, error) {
	gate := c.alive
	if flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		gate = c.mutate
	}
	if err := gate(); err != nil {
		return nil, err
	}
	n, err := c.lookup(name)
	switch {
	case err == syscall.ENOENT && flag&os.O_CREATE != 0:
		return c.create(name, perm)
	case err != nil:
		return nil, err
	case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, syscall.EEXIST
	case n.isDir() && (writable(flag) || flag&os.O_CREATE != 0):
		return nil, syscall.EISDIR
	}
	if flag&os.O_TRUNC != 0 && writable(flag) {
		n.truncate(0)
		n.modTime = c.now()
	}
	return n, nil
}

func (c *FS) create(name string, perm fs.FileMode) (*node, error) {
	dir, base, err := c.parent(name)
	if err != nil {
		return nil, err
	}
	n := newFile(perm, c.now())
	c.apply(dirOp{{dir, base, n}})
	return n, nil
}

// Mkdir implements [fsx.FS].
func (c *FS) Mkdir(name string, perm fs.FileMode) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return pathError("mkdir", name, c.mkdir(name, perm))
}

func (c *FS) mkdir(name string, perm fs.FileMode) error {
	if err := c.mutate(); err != nil {
		return err
	}
	if _, err := c.lookup(name); err != syscall.ENOENT {
		if err == nil {
			err = syscall.EEXIST
		}
		return err
	}
	dir, base, err := c.parent(name)
	if err != nil {
		return err
	}
	c.apply(dirOp{{dir, base, newDir(perm, c.now())}})
	return nil
}

// Link implements [fsx.FS].
func (c *FS) Link(oldname, newname string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return linkError("link", oldname, newname, c.link(oldname, newname))
}

func (c *FS) link(oldname, newname string) error {
	if err := c.mutate(); err != nil {
		return err
	}
	n, err := c.lookup(oldname)
	if err != nil {
		return err
	}
	dir, base, err := c.parent(newname)
	switch {
	case err != nil:
		return err
	case dir.entries[base] != nil:
		return syscall.EEXIST
	case n.isDir():
		return syscall.EPERM
	}
	c.apply(dirOp{{dir, base, n}})
	return nil
}

// Rename implements [fsx.FS].
func (c *FS) Rename(oldname, newname string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return linkError("rename", oldname, newname, c.rename(oldname, newname))
}

func (c *FS) rename(oldname, newname string) error {
	if err := c.mutate(); err != nil {
		return err
	}
	oldDir, oldBase, err := c.parent(oldname)
	if err != nil {
		return err
	}
	newDir, newBase, err := c.parent(newname)
	if err != nil {
		return err
	}
	n, ok := oldDir.entries[oldBase]
	if !ok {
		return syscall.ENOENT
	}
	target := newDir.entries[newBase]
	switch {
	case target == n && !n.isDir():
		return nil // two names of one file: POSIX asks for no effect
	case target != nil && target.isDir():
		return syscall.EEXIST
	case target != nil && n.isDir():
		return syscall.ENOTDIR
	case n.isDir() && below(newname, oldname):
		return syscall.EINVAL
	}
	c.apply(dirOp{{oldDir, oldBase, nil}, {newDir, newBase, n}})
	return nil
}

func below(name, dir string) bool {
	in, of := elements(name), elements(dir)
	return len(in) > len(of) && slices.Equal(in[:len(of)], of)
}

// Remove implements [fsx.FS].
func (c *FS) Remove(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return pathError("remove", name, c.remove(name))
}

func (c *FS) remove(name string) error {
	if err := c.mutate(); err != nil {
		return err
	}
	n, err := c.lookup(name)
	if err != nil {
		return err
	}
	if n.isDir() && len(n.entries) > 0 {
		return syscall.ENOTEMPTY
	}
	dir, base, err := c.parent(name)
	if err != nil {
		return err
	}
	c.apply(dirOp{{dir, base, nil}})
	return nil
}
