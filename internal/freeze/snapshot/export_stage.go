package snapshot

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/freeze/bundle"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/wire"
)

// database adds a database. An exact one comes straight out of the repository;
// one that is redacted is made and rewritten in the scratch folder first.
func (x *export) database(ctx context.Context, d repo.DatabaseEntry, path string) error {
	source := bundle.Source{Path: path, Kind: "database", Mode: 0o600, Size: d.Ref.Bytes()}
	if !x.redacts() {
		source.Open = func(ctx context.Context) (io.ReadCloser, error) {
			r, err := x.rep.StreamDatabase(ctx, d.Ref, viewCache)
			if err != nil {
				return nil, err
			}
			return io.NopCloser(r), nil
		}
		source.Written = func(digest string) { x.e.book.recordAs(d.Ref.Digest, digest) }
		x.sources = append(x.sources, source)
		return nil
	}
	file, err := x.redactedDatabase(ctx, d)
	if err != nil {
		return err
	}
	return x.staged(path, "database", file)
}

// staged adds a file of the scratch folder.
func (x *export) staged(path, kind, file string) error {
	info, err := x.e.o.FS.Lstat(file)
	if err != nil {
		return fail("stage file", file, err)
	}
	mode := fs.FileMode(0o600)
	if info.Mode()&0o100 != 0 {
		mode = 0o700
	}
	x.sources = append(x.sources, bundle.Source{
		Path: path, Kind: kind, Mode: mode, Size: info.Size(),
		Open: func(context.Context) (io.ReadCloser, error) { return x.e.o.FS.OpenFile(file, os.O_RDONLY, 0) },
	})
	return nil
}

// files adds a folder of files. Redacted files lie in the scratch folder, under the name of their
// part.
func (x *export) files(ctx context.Context, part, kind, prefix string, files *repo.FilesEntry) error {
	if files == nil {
		return nil
	}
	root := filepath.Join(x.tmp, part)
	if x.redacts() {
		if err := fsx.MkdirAll(x.e.o.FS, root, 0o700); err != nil {
			return fail("stage files", root, err)
		}
	}
	filled := map[string]bool{} // folders with something in them
	var folders []string
	left := "" // the folder that was left out last
	err := x.rep.WalkTree(ctx, files.Tree, func(rel string, entry repo.TreeEntry) error {
		if err := mayWrite(rel); err != nil {
			return err
		}
		if left != "" && strings.HasPrefix(rel, left+"/") {
			return nil
		}
		isDir := entry.Mode == repo.ModeDir
		if x.redacts() {
			ok, err := x.mayName(part, rel, isDir)
			if !ok && isDir {
				left = rel
			}
			if err != nil || !ok {
				return err
			}
		}
		if isDir {
			folders, filled[path.Dir(rel)] = append(folders, rel), true
			if x.redacts() {
				return x.e.o.FS.Mkdir(filepath.Join(root, filepath.FromSlash(rel)), 0o700)
			}
			return nil
		}
		if x.redacts() && entry.Size > maxRedacted {
			x.leave(part, rel, wire.SkipTooLarge, "the file is too large to be redacted")
			return nil
		}
		filled[path.Dir(rel)] = true
		entry.Parts = slices.Clone(entry.Parts)
		if x.redacts() {
			return x.redactedFile(ctx, part, kind, prefix, rel, entry)
		}
		x.sources = append(x.sources, x.exact(prefix+rel, kind, entry))
		return nil
	})
	for _, f := range folders {
		if !filled[f] {
			x.sources = append(x.sources, bundle.Source{Path: prefix + f + "/", Kind: "folder", Mode: 0o700})
		}
	}
	return fail("stage files", part, err)
}

// exact is a file as the repository holds it.
func (x *export) exact(path, kind string, entry repo.TreeEntry) bundle.Source {
	mode := fs.FileMode(0o600)
	if entry.Mode == repo.ModeExec {
		mode = 0o700
	}
	return bundle.Source{
		Path: path, Kind: kind, Mode: mode, Size: entry.Size,
		Open: func(ctx context.Context) (io.ReadCloser, error) {
			return io.NopCloser(&partsReader{ctx: ctx, repo: x.rep.Repo, parts: entry.Parts}), nil
		},
	}
}

// stage writes a file of the scratch folder.
func (x *export) stage(file string, mode fs.FileMode, b []byte) error {
	return fail("stage file", file, fsx.BuildOf(x.e.o.FS, file, mode, b))
}

// history adds the history of the notes: what it was, or one fresh commit of
// what is left of them.
func (x *export) history(ctx context.Context) (gitobj.Refs, error) {
	g := x.inner.Git
	if g == nil || g.HeadOID == "" && len(g.Refs) == 0 {
		return gitobj.Refs{}, nil
	}
	o := gitobj.Options{Git: x.e.o.Git, FS: x.e.o.FS, Temp: x.tmp}
	file := filepath.Join(x.tmp, "memdir.bundle")
	if x.redacts() {
		refs, err := x.freshCommit(ctx)
		if err != nil {
			return refs, err
		}
		o.Dir = filepath.Join(x.tmp, wire.PartNotes)
		if err := gitobj.WriteGitPack(ctx, o, refs, file); err != nil {
			return refs, err
		}
		return refs, x.staged("git/memdir.bundle", "git", file)
	}
	refs := refsOf(g)
	o.Dir = filepath.Join(x.tmp, "history")
	if err := fsx.MkdirAll(x.e.o.FS, o.Dir, 0o700); err != nil {
		return refs, fail("make history", o.Dir, err)
	}
	// Git takes as long as the databases do: it works beside them.
	made := x.beside(ctx, func(ctx context.Context) error {
		if err := gitobj.Build(ctx, o, o.Dir, refs, x.e.objects(ctx, x.rep, g)); err != nil {
			return err
		}
		return gitobj.WriteGitPack(ctx, o, refs, file)
	})
	x.sources = append(x.sources, bundle.Source{
		Path: "git/memdir.bundle", Kind: "git", Mode: 0o600,
		Prepare: func(context.Context) (int64, error) {
			if err := made(); err != nil {
				return 0, err
			}
			info, err := x.e.o.FS.Lstat(file)
			if err != nil {
				return 0, fail("stage file", file, err)
			}
			return info.Size(), nil
		},
		Open: func(context.Context) (io.ReadCloser, error) { return x.e.o.FS.OpenFile(file, os.O_RDONLY, 0) },
	})
	return refs, nil
}

// beside runs fn in a goroutine that ends before the scratch folder goes, and
// returns what waits for it.
func (x *export) beside(ctx context.Context, fn func(context.Context) error) (wait func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	var err error
	go func() {
		defer close(done)
		err = fn(ctx)
	}()
	x.settled = func() {
		cancel()
		<-done
	}
	return func() error {
		<-done
		return err
	}
}

// freshCommit makes a history of the redacted notes in the scratch folder.
func (x *export) freshCommit(ctx context.Context) (gitobj.Refs, error) {
	dir, m := filepath.Join(x.tmp, wire.PartNotes), x.entry.Manifest
	if err := fsx.MkdirAll(x.e.o.FS, dir, 0o700); err != nil {
		return gitobj.Refs{}, fail("make history", dir, err)
	}
	x.report.Redactions.Notes = append(x.report.Redactions.Notes, "the history of the notes is one fresh commit")
	o := gitobj.Options{Git: x.e.o.Git, FS: x.e.o.FS, Temp: x.tmp}
	return gitobj.FreshCommit(ctx, o, dir, "Notes of snapshot "+string(m.ID)+", redacted", m.CreatedAt.Time())
}

// journal adds the captured journal entries.
func (x *export) journal(ctx context.Context) ([]bundle.Mark, error) {
	from := &snapshotOrigin{e: x.e, rep: x.rep, inner: x.inner}
	var marks []bundle.Mark
	for _, m := range x.inner.Marks {
		if x.redacts() {
			if ok, err := x.mayTell(m); err != nil || !ok {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		marks = append(marks, bundle.Mark(m))
		frames, err := from.frames(ctx, m)
		if err != nil {
			return nil, err
		}
		if frames == nil {
			continue
		}
		path := "journal/" + m.Key
		if !x.redacts() {
			x.sources = append(x.sources, x.exact(path, "journal", from.captured[m.Key]))
			continue
		}
		file, err := x.redactedFrames(ctx, m, frames, from.captured[m.Key].Size)
		if err == nil {
			err = x.staged(path, "journal", file)
		}
		if err != nil {
			return nil, err
		}
	}
	return marks, nil
}
