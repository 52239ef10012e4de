package repo

import "context"

// NeededBy calls fn for every blob that what an inner manifest describes
// needs; not for the inner manifest itself. A blob may come more than once.
// Errors: damaged, not_found and too_new for a blob that has to be read to know
// which others are needed; those of the target; that of fn, as it is.
func (r *Repo) NeededBy(ctx context.Context, in Inner, fn func(ID, Kind) error) error {
	for _, p := range r.parts(in) {
		if err := p.walk(ctx, fn); err != nil {
			return err
		}
	}
	return nil
}

// part is something a snapshot holds, with a life of its own: many snapshots
// hold the same one.
type part struct {
	partKey
	walk func(ctx context.Context, fn func(ID, Kind) error) error // like NeededBy
}

// partKey tells parts apart: of equal keys the blobs are equal.
type partKey struct {
	what string
	id   ID
}

// parts returns what a snapshot holds.
func (r *Repo) parts(in Inner) []part {
	l := r.databaseParts(nil, in.Databases)
	for _, f := range []*FilesEntry{in.Notes, in.State, in.Journal} {
		l = r.treePart(l, f)
	}
	l = r.gitPart(l, in.Git)
	for i := range in.Sources {
		s := &in.Sources[i]
		l = r.gitPart(r.treePart(r.databaseParts(l, s.Databases), s.Files), s.Git)
	}
	return l
}

func (r *Repo) databaseParts(l []part, databases []DatabaseEntry) []part {
	for i := range databases {
		ref := databases[i].Ref
		l = append(l, part{partKey{"database", mapsID(ref)}, func(ctx context.Context, fn func(ID, Kind) error) error {
			// Also those that cannot be read.
			for _, id := range ref.Maps {
				if err := fn(id, KindMap); err != nil {
					return err
				}
			}
			return r.DatabaseBlobs(ctx, ref, fn)
		}})
	}
	return l
}

func (r *Repo) treePart(l []part, f *FilesEntry) []part {
	if f == nil {
		return l
	}
	return append(l, part{partKey{"tree", f.Tree}, func(ctx context.Context, fn func(ID, Kind) error) error {
		if err := fn(f.Tree, KindTree); err != nil {
			return err
		}
		return r.TreeBlobs(ctx, f.Tree, fn)
	}})
}

func (r *Repo) gitPart(l []part, g *GitEntry) []part {
	if g == nil {
		return l
	}
	return append(l, part{partKey{"git", g.Set}, func(ctx context.Context, fn func(ID, Kind) error) error {
		return r.GitBlobs(ctx, g.Set, fn)
	}})
}

// mapsID tells references to a database apart: two of equal digest may name
// other maps.
func mapsID(ref DatabaseRef) ID {
	b := make([]byte, 0, (1+len(ref.Maps))*len(ID{}))
	b = append(b, ref.Digest[:]...)
	for i := range ref.Maps {
		b = append(b, ref.Maps[i][:]...)
	}
	return BlobID(KindMap, b)
}
