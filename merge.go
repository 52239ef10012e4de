package amber

import (
	"maps"
	"slices"
)

// Merge returns a stored memory with what a normalised write of the same text
// adds to it, and the names of the fields that were added and of those that were
// not: "tags", "summary", "source_refs", "trust", and "metadata." with a key.
// Tags are joined; a summary and a key of the metadata are added where the
// memory has none, and never replaced. Nothing is added to a memory by a write
// that is trusted less. By one that is trusted more the memory becomes that of its
// author, with what the write says: its author has not seen the rest. Revision,
// origin and times are the store's to set.
func (r WriteRequest) Merge(m Memory) (next Memory, added, left []string) {
	if r.Trust.Outranks(m.Trust) {
		return r.raise(m)
	}
	g := merge{Memory: m, may: r.Trust == m.Trust}
	g.tags(r.Tags)
	g.summary(r.Summary)
	g.metadata(r.Metadata)
	if slices.ContainsFunc(r.SourceRefs, func(s SourceRef) bool { return !slices.Contains(m.SourceRefs, s) }) {
		g.left = append(g.left, "source_refs") // each write has its own: a revision for each would be many
	}
	return g.Memory, g.added, g.left
}

// raise returns a memory as one of higher trust, by a write that says the same.
func (r WriteRequest) raise(m Memory) (next Memory, added, left []string) {
	next = m
	next.Trust, next.Author = r.Trust, r.Author
	next.Tags, next.Summary, next.Metadata, next.SourceRefs = r.Tags, r.Summary, maps.Clone(r.Metadata), append([]SourceRef{}, r.SourceRefs...)
	if next.Metadata == nil {
		next.Metadata = map[string]string{}
	}
	return next, []string{"trust"}, nil
}

// merge is a memory that is added to.
type merge struct {
	Memory
	may         bool // something may be added
	added, left []string
}

// note says whether a field is added.
func (g *merge) note(field string, fits bool) bool {
	if g.may && fits {
		g.added = append(g.added, field)
		return true
	}
	g.left = append(g.left, field)
	return false
}

func (g *merge) tags(tags []string) {
	all := slices.Concat(g.Tags, tags)
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > len(g.Tags) && g.note("tags", len(all) <= MaxTags) {
		g.Tags = all
	}
}

func (g *merge) summary(s string) {
	if s != "" && s != g.Summary && g.note("summary", g.Summary == "") {
		g.Summary = s
	}
}

func (g *merge) metadata(more map[string]string) {
	all := maps.Clone(g.Metadata)
	for _, key := range slices.Sorted(maps.Keys(more)) {
		known, is := all[key]
		if is && known == more[key] {
			continue
		}
		if g.note("metadata."+key, !is && len(all) < MaxMetadata) {
			if all == nil {
				all = map[string]string{}
			}
			all[key] = more[key]
		}
	}
	g.Metadata = all
}
