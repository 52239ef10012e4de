package colony

import (
	"context"
	"maps"
	"slices"
	"time"
)

// inventory is what a listing shows of a label. Names that the rule does not make,
// and those of other labels, are not in it: nothing ever touches them.
type inventory struct {
	pointer *FileInfo
	groups  map[SnapshotID]*group
	ids     []SnapshotID // the newest first
}

// group is the files that have one id in their names.
type group struct {
	id       SnapshotID
	manifest *FileInfo
	parts    map[int]FileInfo // by number
}

// list asks what there is.
func (v *Vault) list(ctx context.Context) (inventory, error) {
	files, err := v.b.List(ctx, Prefix(v.label))
	if err != nil {
		return inventory{}, err
	}
	in := inventory{groups: map[SnapshotID]*group{}}
	for _, f := range files {
		n, ok := ParseName(f.Name)
		if !ok || n.Label != v.label {
			continue
		}
		in.add(n, f)
	}
	in.ids = slices.SortedFunc(maps.Keys(in.groups), newestFirst)
	return in, nil
}

func newestFirst(a, b SnapshotID) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

func (in *inventory) add(n Name, f FileInfo) {
	if n.Kind == LatestFile {
		in.pointer = &f
		return
	}
	g := in.groups[n.ID]
	if g == nil {
		g = &group{id: n.ID, parts: map[int]FileInfo{}}
		in.groups[n.ID] = g
	}
	if n.Kind == ManifestFile {
		g.manifest = &f
		return
	}
	g.parts[n.Seq] = f
}

func (in inventory) empty() bool { return in.pointer == nil && len(in.groups) == 0 }

// same reports whether two listings show the same.
func (in inventory) same(other inventory) bool {
	equal := func(a, b *FileInfo) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
	return equal(in.pointer, other.pointer) && maps.EqualFunc(in.groups, other.groups, func(a, b *group) bool {
		return equal(a.manifest, b.manifest) && maps.Equal(a.parts, b.parts)
	})
}

// later reports whether there is a manifest of a later snapshot.
func (in inventory) later(id SnapshotID) bool {
	return slices.ContainsFunc(in.ids, func(o SnapshotID) bool { return o > id && in.groups[o].manifest != nil })
}

// seqs returns the numbers of the parts, the last first.
func (g *group) seqs() []int {
	return slices.SortedFunc(maps.Keys(g.parts), func(a, b int) int { return b - a })
}

// holds reports whether the listing shows a part by its name.
func (g *group) holds(name string) bool {
	n, ok := ParseName(name)
	if !ok || n.ID != g.id || n.Kind != PartFile {
		return false
	}
	f, ok := g.parts[n.Seq]
	return ok && f.Name == name
}

// newestTime returns the latest time that is known of the files: that in the id,
// and when a part was last written.
func (g *group) newestTime() time.Time {
	t := g.id.Time()
	for _, f := range g.parts {
		if at := f.UpdatedAt.Time(); at.After(t) {
			t = at
		}
	}
	return t
}
