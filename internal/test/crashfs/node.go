package crashfs

import (
	"io/fs"
	"path/filepath"
	"time"
)

// blockSize is the unit in which unsynced content survives or is lost: a page of the page cache.
const blockSize = 4096

// node is a file or a directory; names point to it.
type node struct {
	mode    fs.FileMode
	modTime time.Time

	// A directory: the names programs see, and the durable ones.
	entries map[string]*node
	durable map[string]*node

	// A file: the content programs see, and the durable one. dirty holds the blocks written since the last
	// sync; floor and peak are the smallest and the largest length since then.
	data  []byte
	disk  []byte
	dirty map[int]bool
	floor int
	peak  int
}

func newDir(perm fs.FileMode, at time.Time) *node {
	return &node{
		mode:    fs.ModeDir | perm.Perm(),
		modTime: at,
		entries: map[string]*node{},
		durable: map[string]*node{},
	}
}

func newFile(perm fs.FileMode, at time.Time) *node {
	return &node{mode: perm.Perm(), modTime: at, dirty: map[int]bool{}}
}

func (n *node) isDir() bool { return n != nil && n.mode.IsDir() }

// writeAt writes p at off. A gap before off reads as zeros.
func (n *node) writeAt(p []byte, off int) {
	if len(p) == 0 {
		return
	}
	if off > len(n.data) {
		n.truncate(off)
	}
	if end := off + len(p); end > len(n.data) {
		n.data = append(n.data, make([]byte, end-len(n.data))...)
	}
	copy(n.data[off:], p)
	n.touch(off, off+len(p))
}

func (n *node) truncate(size int) {
	old := len(n.data)
	if size <= old {
		n.data = n.data[:size]
		n.floor = min(n.floor, size)
		return
	}
	n.data = append(n.data, make([]byte, size-old)...)
	n.touch(old, size)
}

// touch marks the bytes from start to end as written since the last sync.
func (n *node) touch(start, end int) {
	for b := start / blockSize; b*blockSize < end; b++ {
		n.dirty[b] = true
	}
	n.peak = max(n.peak, len(n.data))
}

// sync makes content and length durable.
func (n *node) sync() {
	if len(n.disk) > len(n.data) {
		n.disk = n.disk[:len(n.data)]
	}
	n.disk = append(n.disk, make([]byte, len(n.data)-len(n.disk))...)
	for b := range n.dirty {
		start := min(b*blockSize, len(n.data))
		end := min(start+blockSize, len(n.data))
		copy(n.disk[start:end], n.data[start:end])
	}
	clear(n.dirty)
	n.floor, n.peak = len(n.data), len(n.data)
}

func (n *node) info(name string) fs.FileInfo {
	return fileInfo{name: filepath.Base(name), size: int64(len(n.data)), mode: n.mode, modTime: n.modTime}
}

type fileInfo struct {
	name    string
	size    int64
	mode    fs.FileMode
	modTime time.Time
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) Mode() fs.FileMode  { return i.mode }
func (i fileInfo) ModTime() time.Time { return i.modTime }
func (i fileInfo) IsDir() bool        { return i.mode.IsDir() }
func (i fileInfo) Sys() any           { return nil }
