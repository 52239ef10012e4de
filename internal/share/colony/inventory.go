package colony

import (
	"cmp"
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
	unlisted bool             // the listing failed: the parts that exist are unknown
}

// list asks what there is.
func (v *Vault) list(ctx context.Context) (inventory, error) {
	files, err := v.b.List(ctx, Prefix(v.label))
	if err != nil {
		return inventory{}, err
	}
	in := inventory{groups: map[SnapshotID]*group{}}
	for _, f := range files {
		n, ok := parseName(f.Name)
		if !ok || n.Label != v.label {
			continue
		}
		in.add(n, f)
	}
	in.ids = slices.SortedFunc(maps.Keys(in.groups), func(a, b SnapshotID) int { return cmp.Compare(b, a) })
	return in, nil
}

func (in *inventory) add(n fileName, f FileInfo) {
	if n.Kind == latestFile {
		in.pointer = &f
		return
	}
	g := in.groups[n.ID]
	if g == nil {
		g = &group{id: n.ID, parts: map[int]FileInfo{}}
		in.groups[n.ID] = g
	}
	if n.Kind == manifestFile {
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

// holds reports whether every file of a snapshot is there that was just written.
func (in inventory) holds(label string, i Info) bool {
	g := in.groups[i.ID]
	if g == nil || g.manifest == nil {
		return false
	}
	for seq := range i.PartCount {
		if !g.holds(PartName(label, i.ID, seq)) {
			return false
		}
	}
	return true
}

// seqs returns the numbers of the parts, the last first.
func (g *group) seqs() []int {
	return slices.SortedFunc(maps.Keys(g.parts), func(a, b int) int { return b - a })
}

// holds reports whether the listing shows a part by its name. Without a listing
// reading the snapshot will tell.
func (g *group) holds(name string) bool {
	n, ok := parseName(name)
	if !ok || n.ID != g.id || n.Kind != partFile {
		return false
	}
	f, ok := g.parts[n.Seq]
	return g.unlisted || ok && f.Name == name
}

// oldestTime returns when the first of the parts was written, as far as that is
// known: otherwise when the id was made.
func (g *group) oldestTime() time.Time {
	var t time.Time
	for _, f := range g.parts {
		at := f.UpdatedAt.Time()
		if f.UpdatedAt.IsZero() {
			at = g.id.Time()
		}
		if t.IsZero() || at.Before(t) {
			t = at
		}
	}
	return t
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
