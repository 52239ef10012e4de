package notefile

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
)

// Objects is where git's objects of the notes are kept: files of a folder, or rows of a database. Its errors for objects that
// are missing or damaged are of kind damaged.
type Objects interface {
	gitobj.Reader
	// Put stores objects. When it returns they last as long as the branch does that is moved to them.
	Put(objects ...gitobj.Object) error
}

// History is the notes as a branch ends with them, and how they came there. It lasts as long as the transaction or the
// turn of its caller.
type History struct {
	objects Objects
	head    string // the commit of the branch; "" before the first one
	root    string // the tree of head
	trees   map[string][]byte
}

var _ Folders = (*History)(nil)

// OpenHistory returns the notes of a commit; "" is none. Errors: damaged.
func OpenHistory(objects Objects, head string) (*History, error) {
	h := &History{objects: objects, head: head, trees: map[string][]byte{}}
	if head == "" {
		return h, nil
	}
	c, err := h.commit(head)
	h.root = c.Tree
	return h, err
}

// Head returns the commit; "" before the first one.
func (h *History) Head() string { return h.head }

// At returns the notes of another commit. Errors: damaged.
func (h *History) At(commit string) (*History, error) { return OpenHistory(h.objects, commit) }

// Unreadable is the answer to a history that cannot be read, for an error of kind damaged. Other errors stay what they are.
func Unreadable(err error) error {
	if amber.KindOf(err) == amber.KindDamaged && amber.HintOf(err) == "" {
		return Damaged(err)
	}
	return err
}

func (h *History) commit(oid string) (gitobj.Commit, error) {
	raw, err := gitobj.Getter(h.objects)(oid)
	if err != nil {
		return gitobj.Commit{}, Unreadable(err)
	}
	c, err := gitobj.ReadCommit(oid, raw)
	return c, Unreadable(err)
}

// tree returns the bytes of a tree, read once.
func (h *History) tree(oid string) ([]byte, error) {
	if raw, known := h.trees[oid]; known {
		return raw, nil
	}
	raw, err := gitobj.Getter(h.objects)(oid)
	if err == nil {
		h.trees[oid] = raw
	}
	return raw, Unreadable(err)
}

func (h *History) entries(tree string) ([]gitobj.TreeEntry, error) {
	raw, err := h.tree(tree)
	if err != nil {
		return nil, err
	}
	entries, err := gitobj.ReadTree(tree, raw)
	return entries, Unreadable(err)
}

// ReadDir implements [Folders].
func (h *History) ReadDir(dir string) ([]fs.DirEntry, error) {
	tree, err := h.treeAt(dir)
	if err != nil {
		return nil, err
	}
	entries, err := h.entries(tree)
	list := make([]fs.DirEntry, len(entries))
	for i, e := range entries {
		list[i] = treeEntry{e}
	}
	return list, err
}

// Takes implements [Folders]: a tree has no names but those it lists.
func (h *History) Takes(string, string) bool { return false }

// treeAt returns the id of the tree of a folder.
func (h *History) treeAt(dir string) (string, error) {
	if dir == "" || dir == "." {
		if h.root == "" {
			return "", fs.ErrNotExist
		}
		return h.root, nil
	}
	parent, err := h.treeAt(path.Dir(dir))
	if err != nil {
		return "", err
	}
	entries, err := h.entries(parent)
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(entries, func(e gitobj.TreeEntry) bool { return e.Name == path.Base(dir) && e.IsTree() })
	if at < 0 {
		return "", fs.ErrNotExist
	}
	return entries[at].OID, nil
}

// BlobOf returns the id of the blob of a file that [Find] or [Locate] found in a history.
func BlobOf(file fs.DirEntry) string { return file.(treeEntry).e.OID }

// treeEntry is an entry of a tree as one of a folder.
type treeEntry struct{ e gitobj.TreeEntry }

func (n treeEntry) Name() string { return n.e.Name }
func (n treeEntry) IsDir() bool  { return n.e.IsTree() }

func (n treeEntry) Type() fs.FileMode {
	switch {
	case n.e.IsTree():
		return fs.ModeDir
	case n.e.IsFile():
		return 0
	case n.e.IsSymlink():
		return fs.ModeSymlink
	}
	return fs.ModeIrregular
}

// Info is not known: a tree says neither size nor time.
func (n treeEntry) Info() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }

// Files returns all files of the commit by their paths. Errors: damaged; quota beyond most files and folders.
func (h *History) Files(ctx context.Context, most int) (map[string]gitobj.TreeEntry, error) {
	files, err := gitobj.Files(ctx, h.objects, h.head, most, nil)
	return files, Unreadable(err)
}

// Blobs returns the files of the notes by the names of the notes. Errors: damaged; quota beyond [MaxEntries].
func (h *History) Blobs(ctx context.Context) (map[string]string, error) {
	files, err := gitobj.Files(ctx, h.objects, h.head, MaxEntries, func(folder string) bool {
		_, err := amber.CheckNoteName(path.Join(folder, "x"))
		return err == nil
	})
	if err != nil {
		return nil, Unreadable(err)
	}
	blobs := map[string]string{}
	for file, e := range files {
		if name, isNote := NameOf(file); isNote && e.IsFile() {
			blobs[name] = e.OID
		}
	}
	return blobs, nil
}

// Text returns what a file holds. Errors: damaged.
func (h *History) Text(blob string) ([]byte, error) {
	raw, err := gitobj.Getter(h.objects)(blob)
	if err != nil {
		return nil, Unreadable(err)
	}
	content, err := gitobj.ReadBlob(blob, raw)
	return content, Unreadable(err)
}
