package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tree is the schema as sections within sections. A leaf has a key, a section
// has children. A section whose names the user chooses has those that were
// asked for so far.
type tree struct {
	path     string // "" at the root
	key      *Key
	children map[string]*tree
	named    func(name string) []Key // the keys of one name; nil where names are fixed
}

func newTree(keys []Key) *tree {
	root := &tree{children: map[string]*tree{}}
	for _, k := range keys {
		if k.Named() {
			continue
		}
		root.add(k)
	}
	root.at(sourcesPath).named = sourceKeys
	root.at(tenantsPath).named = tenantKeys
	root.at(postgresTenantsPath).named = postgresTenantKeys
	return root
}

func (t *tree) add(k Key) {
	t.at(strings.TrimPrefix(strings.TrimPrefix(k.Path, t.path), ".")).key = &k
}

// at returns the section or key at the end of a path below t, made where there
// is none.
func (t *tree) at(path string) *tree {
	at := t
	for name := range strings.SplitSeq(path, ".") {
		next, ok := at.children[name]
		if !ok {
			next = &tree{path: join(at.path, name), children: map[string]*tree{}}
			at.children[name] = next
		}
		at = next
	}
	return at
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
	if t.named != nil {
		return t.name(name)
	}
	if instead, was := removed()[join(t.path, name)]; was {
		return nil, fmt.Errorf("%s was removed: %s", join(t.path, name), instead)
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

// removed are the keys of earlier versions, with what a user does now.
func removed() map[string]string {
	return map[string]string{
		"memory.backends.openviking.sessions": "Amber sends no conversations to OpenViking any more; delete the key, and see docs/openviking.md for conversations that were sent",
	}
}

// name adds a name to a section whose names the user chooses.
func (t *tree) name(name string) (*tree, error) {
	if !validName().MatchString(name) {
		return nil, badName(t.path, name)
	}
	for _, k := range t.named(name) {
		t.add(k)
	}
	return t.children[name], nil
}

func badName(section, name string) error {
	return fmt.Errorf("%s in %s is not a name: 1 to 64 of a-z, 0-9, _ and -, starting and ending with a letter or digit", quote(name), section)
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
