package crashfs

import (
	"io/fs"
	"slices"
	"strings"
	"syscall"
)

// change sets one name of one directory; to is nil when the name goes away.
type change struct {
	dir  *node
	name string
	to   *node
}

// dirOp is one operation on names that is not durable yet. Its changes are kept or dropped together.
type dirOp []change

// movesDir reports whether a directory gets a new name. Such an operation is never split and never
// becomes durable before the ones that came before it; otherwise a directory could end up with two names,
// or below itself.
func (op dirOp) movesDir() bool {
	return len(op) == 2 && op[1].to.isDir()
}

func (op dirOp) touches(dir *node) bool {
	return slices.ContainsFunc(op, func(ch change) bool { return ch.dir == dir })
}

// apply makes the changes visible and remembers them as not durable. c.mu is held.
func (c *FS) apply(op dirOp) {
	for _, ch := range op {
		set(ch.dir.entries, ch.name, ch.to)
		ch.dir.modTime = c.now()
	}
	c.pending = append(c.pending, op)
}

func set(entries map[string]*node, name string, to *node) {
	if to == nil {
		delete(entries, name)
		return
	}
	entries[name] = to
}

// Lstat implements [fsx.FS].
func (c *FS) Lstat(name string) (fs.FileInfo, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.lookupAlive(name)
	if err != nil {
		return nil, pathError("lstat", name, err)
	}
	return n.info(name), nil
}

// ReadDir implements [fsx.FS].
func (c *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.lookupAlive(name)
	if err == nil && !n.isDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, pathError("readdir", name, err)
	}
	list := make([]fs.DirEntry, 0, len(n.entries))
	for base, child := range n.entries {
		list = append(list, fs.FileInfoToDirEntry(child.info(base)))
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

func (c *FS) lookupAlive(name string) (*node, error) {
	if err := c.alive(); err != nil {
		return nil, err
	}
	return c.lookup(name)
}

// SyncDir implements [fsx.FS].
func (c *FS) SyncDir(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.mutate(); err != nil {
		return pathError("syncdir", name, err)
	}
	n, err := c.lookup(name)
	if err == nil && !n.isDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return pathError("syncdir", name, err)
	}
	c.syncNames(n)
	return nil
}

// SyncAll implements [fsx.FS]. It is one call: a power cut in the middle of it leaves what one before it leaves,
// any part of what is not durable yet.
func (c *FS) SyncAll(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.mutate(); err != nil {
		return pathError("syncall", name, err)
	}
	n, err := c.lookup(name)
	if err == nil && !n.isDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return pathError("syncall", name, err)
	}
	c.syncTree(n)
	return nil
}

func (c *FS) syncTree(n *node) {
	if !n.isDir() {
		n.sync()
		return
	}
	for _, child := range n.entries {
		c.syncTree(child)
	}
	c.syncNames(n)
}

// syncNames makes the changes in dir durable. Changes of the same operation in another directory stay pending.
func (c *FS) syncNames(dir *node) {
	whole := 0 // operations before this index become durable as a whole
	for i, op := range c.pending {
		if op.movesDir() && op.touches(dir) {
			whole = i + 1
		}
	}
	var rest []dirOp
	for i, op := range c.pending {
		var left dirOp
		for _, ch := range op {
			if i < whole || ch.dir == dir {
				set(ch.dir.durable, ch.name, ch.to)
			} else {
				left = append(left, ch)
			}
		}
		if len(left) > 0 {
			rest = append(rest, left)
		}
	}
	c.pending = rest
}
