package snapshot

import (
	"context"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/wire"
)

// viewCache is how much of a database is kept in memory while it is read where
// it lies.
const viewCache = 4 << 20

// DiffSnapshots implements [wire.SnapshotReader].
func (e *Engine) DiffSnapshots(ctx context.Context, r wire.DiffRequest) (wire.SnapshotDiff, error) {
	diff := wire.SnapshotDiff{A: r.A, B: r.B}
	for _, id := range []amber.SnapshotID{r.A, r.B} {
		if err := checkRef(wire.SnapshotRef{Tenant: r.Tenant, Agent: r.Agent, ID: id}); err != nil {
			return diff, err
		}
	}
	opened := false
	err := e.with(ctx, r.Tenant, func(rep *repository) error {
		opened = true
		_, a, err := rep.find(ctx, wire.SnapshotRef{Tenant: r.Tenant, Agent: r.Agent, ID: r.A})
		if err != nil {
			return err
		}
		_, b, err := rep.find(ctx, wire.SnapshotRef{Tenant: r.Tenant, Agent: r.Agent, ID: r.B})
		if err != nil {
			return err
		}
		diff.Missing = missing(a, b)
		d := &differ{e: e, rep: rep, rows: r.Rows}
		if diff.Store, err = d.databases(ctx, a, b); err != nil {
			return err
		}
		if diff.Notes, err = d.files(ctx, a.Notes, b.Notes); err != nil {
			return err
		}
		if diff.State, err = d.files(ctx, a.State, b.State); err != nil {
			return err
		}
		diff.Git, err = d.git(ctx, a.Git, b.Git)
		return err
	})
	if noRepository(err) && !opened {
		err = noSnapshot(wire.SnapshotRef{Agent: r.Agent, ID: r.A})
	}
	return diff, err
}

// missing names the databases that one of two snapshots does not hold: they
// could not be read when it was taken, and are not compared.
func missing(a, b repo.Inner) []string {
	var names []string
	for _, name := range []string{memoryDB, controlDB} {
		if findDatabase(a.Databases, name) == nil || findDatabase(b.Databases, name) == nil {
			names = append(names, name)
		}
	}
	return names
}

// differ compares what two snapshots hold.
type differ struct {
	e    *Engine
	rep  *repository
	rows bool
}

// databases compares every database that both have. Equal digests are equal
// databases.
func (d *differ) databases(ctx context.Context, a, b repo.Inner) (wire.StoreDiff, error) {
	sum := wire.StoreDiff{Tables: []wire.TableDiff{}}
	for _, db := range b.Databases {
		other := findDatabase(a.Databases, db.Name)
		if other == nil {
			continue
		}
		from, err := d.file(ctx, *other)
		if err != nil {
			return sum, err
		}
		to, err := d.file(ctx, db)
		if err != nil {
			return sum, err
		}
		diff, err := d.e.diffPages(ctx, db.Name, nil, from, to, d.rows)
		if err != nil {
			return sum, fail("compare databases", db.Name, err)
		}
		sum = merge(sum, diff)
	}
	return sum, nil
}

func merge(a, b wire.StoreDiff) wire.StoreDiff {
	a.Tables = append(a.Tables, b.Tables...)
	a.Rows = append(a.Rows, b.Rows...)
	a.More += b.More
	return a
}

// file opens a database where it lies.
func (d *differ) file(ctx context.Context, db repo.DatabaseEntry) (pages, error) {
	return d.rep.OpenDatabase(ctx, db.Ref, viewCache)
}

// content is what makes two files equal.
type content struct {
	mode  repo.EntryMode
	parts []repo.ID
}

func (c content) equal(o content) bool { return c.mode == o.mode && slices.Equal(c.parts, o.parts) }

// files compares two trees. Nil is an empty one.
func (d *differ) files(ctx context.Context, a, b *repo.FilesEntry) (wire.FilesDiff, error) {
	if a != nil && b != nil && a.Tree == b.Tree {
		return wire.FilesDiff{}, nil
	}
	from, err := d.tree(ctx, a)
	if err != nil {
		return wire.FilesDiff{}, err
	}
	to, err := d.tree(ctx, b)
	if err != nil {
		return wire.FilesDiff{}, err
	}
	return compareFiles(from, to, d.rows), nil
}

func (d *differ) tree(ctx context.Context, f *repo.FilesEntry) (map[string]content, error) {
	list := map[string]content{}
	if f == nil {
		return list, nil
	}
	err := d.rep.WalkTree(ctx, f.Tree, func(path string, e repo.TreeEntry) error {
		if e.Mode != repo.ModeDir {
			list[path] = content{e.Mode, slices.Clone(e.Parts)}
		}
		return nil
	})
	return list, err
}

// compareFiles tells which files differ, by path.
func compareFiles(from, to map[string]content, rows bool) wire.FilesDiff {
	var diff wire.FilesDiff
	note := func(path string, op amber.Op, n *int64) {
		*n++
		if rows && len(diff.Files) < wire.MaxDiffRows {
			diff.Files = append(diff.Files, wire.RowDiff{Key: path, Op: op})
		}
	}
	for _, path := range sortedUnion(from, to) {
		was, before := from[path]
		is, now := to[path]
		switch {
		case !before:
			note(path, amber.OpInsert, &diff.Added)
		case !now:
			note(path, amber.OpDelete, &diff.Removed)
		case !was.equal(is):
			note(path, amber.OpUpdate, &diff.Changed)
		}
	}
	return diff
}

func sortedUnion(a, b map[string]content) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}

// git compares two histories.
func (d *differ) git(ctx context.Context, a, b *repo.GitEntry) (wire.GitDiff, error) {
	var diff wire.GitDiff
	if a != nil {
		diff.From = a.HeadOID
	}
	if b != nil {
		diff.To = b.HeadOID
	}
	if diff.From == diff.To {
		return diff, nil
	}
	var sets []*repo.GitSet
	for _, g := range []*repo.GitEntry{b, a} {
		if g == nil {
			continue
		}
		set, err := d.rep.OpenGitSet(ctx, g.Set)
		if err != nil {
			return diff, err
		}
		sets = append(sets, set)
	}
	return gitobj.Compare(ctx, func(oid string) ([]byte, error) {
		for _, set := range sets {
			o, err := set.Object(ctx, oid)
			if amber.KindOf(err) != amber.KindNotFound {
				return o.Raw, err
			}
		}
		return nil, amber.Errorf(amber.KindDamaged, "compare histories", oid, "neither snapshot has this object")
	}, diff.From, diff.To)
}
