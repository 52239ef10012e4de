package foreign

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Root returns the path of the folder that the tree is, or that its one file lies in; of an archive, without what makes it
// one.
func (t *Tree) Root() string {
	dir := t.path
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if _, single := t.Single(); single {
		return filepath.Dir(dir)
	}
	for _, ext := range []string{".zip", ".tgz", ".tar.gz", ".tar"} {
		dir = strings.TrimSuffix(dir, ext)
	}
	return dir
}

// Around returns the names of a folder of the tree and of those it lies in, the nearest first, also above the tree.
func (t *Tree) Around(dir string) []string {
	parts := strings.Split(path.Join(filepath.ToSlash(t.Root()), dir), "/")
	slices.Reverse(parts)
	return parts
}
