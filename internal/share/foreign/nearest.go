package foreign

import (
	"path"
	"slices"
	"strings"
)

// Nearest returns the file of a tree that is one file, or the files whose last element matches one of the patterns,
// those nearest to the root first: copies that a program keeps in folders of their own come after what it uses.
func (t *Tree) Nearest(patterns ...string) []File {
	if f, ok := t.Single(); ok {
		return []File{f}
	}
	var out []File
	for _, f := range t.files {
		if slices.ContainsFunc(patterns, func(p string) bool { ok, err := path.Match(p, path.Base(f.Name)); return ok && err == nil }) {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b File) int { return strings.Count(a.Name, "/") - strings.Count(b.Name, "/") })
	return out
}

// maxLooked bounds the files that detection looks into, of those that may be of a format.
const maxLooked = 8

// Looked returns the files that detection looks into: the first of some.
func Looked(files []File) []File { return files[:min(len(files), maxLooked)] }
