package registry

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tree is the schema as sections within sections. A leaf has a key, a section
// has children.
type tree struct {
	path     string // "" at the root
	key      *Key
	children map[string]*tree
}

func newTree(keys []Key) *tree {
	root := &tree{children: map[string]*tree{}}
	for _, k := range keys {
		at := root
		for name := range strings.SplitSeq(k.Path, ".") {
			next, ok := at.children[name]
			if !ok {
				next = &tree{path: join(at.path, name), children: map[string]*tree{}}
				at.children[name] = next
			}
			at = next
		}
		at.key = &k
	}
	return root
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// child returns the section or key called name. Where there is none the error
// says what there is.
func (t *tree) child(name string) (*tree, error) {
	if c, ok := t.children[name]; ok {
		return c, nil
	}
	known := strings.Join(slices.Sorted(maps.Keys(t.children)), ", ")
	switch {
	case t.key != nil:
		return nil, fmt.Errorf("%s is a key and has no key %s below it", t.path, quote(name))
	case t.path == "":
		return nil, fmt.Errorf("unknown key %s (known: %s)", quote(name), known)
	}
	return nil, fmt.Errorf("unknown key %s in %s (known: %s)", quote(name), t.path, known)
}

// find returns the key at the end of a path.
func (t *tree) find(names []string) (*Key, error) {
	for _, name := range names {
		var err error
		if t, err = t.child(name); err != nil {
			return nil, err
		}
	}
	if t.key == nil {
		return nil, fmt.Errorf("%s is a section, not a key", t.path)
	}
	return t.key, nil
}
