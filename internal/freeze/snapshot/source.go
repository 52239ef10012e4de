package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/survey"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/wire"
)

// checkSources refuses a source that is not configured: a typing error must
// not make an empty snapshot.
func (e *Engine) checkSources(names []string) error {
	for _, name := range names {
		if _, ok := e.o.Sources[name]; !ok {
			return amber.Errorf(amber.KindNotFound, "find source", name, "no such source is configured").WithHint("amber config show")
		}
	}
	return nil
}

// sources captures what is not Amber's. Everything there has an instant of its
// own, because Amber cannot stop the writers of other programs.
func (c *capture) sources(ctx context.Context) error {
	for _, name := range slices.Compact(slices.Sorted(slices.Values(c.request.Sources))) {
		s := &sourceCapture{capture: c, part: "source:" + name, entry: repo.SourceEntry{Name: name}}
		if err := s.run(ctx, c.e.o.Sources[name]); err != nil {
			return fail("capture source", name, err)
		}
		c.inner.Sources = append(c.inner.Sources, s.entry)
	}
	return nil
}

// sourceCapture is one source on its way into the repository.
type sourceCapture struct {
	*capture
	part  string
	entry repo.SourceEntry
}

func (s *sourceCapture) run(ctx context.Context, src Source) error {
	for _, path := range src.SQLite {
		if err := s.database(ctx, path); err != nil {
			return err
		}
	}
	if src.Git != "" {
		if err := s.git(ctx, src.Git); err != nil {
			return err
		}
	}
	return s.files(ctx, src.Files)
}

// skip notes what could not be captured.
func (s *sourceCapture) skip(path, reason string, err error) {
	s.inner.Skipped = append(s.inner.Skipped, wire.Skipped{Part: s.part, Path: path, Reason: reason, Detail: err.Error()})
	s.warn = append(s.warn, fmt.Sprintf("%s: %s was not captured: %v", s.part, path, err))
}

// reason says why something of a source that could not be read is skipped.
func reason(unread error) string {
	switch kind := amber.KindOf(unread); {
	case errors.Is(unread, fs.ErrNotExist), kind == amber.KindNotFound:
		return wire.SkipMissing
	case kind == amber.KindUnsupported:
		return wire.SkipUnsupported
	case kind == amber.KindBusy, kind == amber.KindConflict:
		return wire.SkipTorn
	case kind == amber.KindQuota:
		return wire.SkipTooLarge
	}
	return wire.SkipUnreadable
}

// database captures one database of a source. If the database changes while it is read, the capture
// reads it again a few times.
func (s *sourceCapture) database(ctx context.Context, path string) error {
	for try := 1; ; try++ {
		unread, err := s.freezeFile(ctx, path)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case unread == nil:
			return err
		case reason(unread) == wire.SkipTorn && try < readTries:
			continue
		}
		s.skip(path, reason(unread), unread)
		return nil
	}
}

// freezeFile captures one database as it is now. Unread says why it could not
// be read; any other error is one of the repository.
func (s *sourceCapture) freezeFile(ctx context.Context, path string) (unread, err error) {
	d, unread := image.Freeze(ctx, path)
	if unread != nil {
		return unread, nil
	}
	defer d.Close()
	pages := &foreignPages{FrozenDatabase: d}
	entry, _, err := s.capture.database(ctx, pages, nil)
	if pages.unread != nil {
		return pages.unread, nil
	}
	if err != nil {
		return nil, err
	}
	entry.Name = filepath.ToSlash(path)
	s.entry.Databases = append(s.entry.Databases, entry)
	return nil, nil
}

// foreignPages notes why the pages of a database could not be read, apart from
// errors of the function that stores them.
type foreignPages struct {
	wire.FrozenDatabase
	unread error
}

func (p *foreignPages) ReadPages(ctx context.Context, fn func(pages []byte) error) error {
	var taking error
	err := p.FrozenDatabase.ReadPages(ctx, func(pages []byte) error {
		taking = fn(pages)
		return taking
	})
	if taking == nil {
		p.unread = err
	}
	return err
}

// git captures the history of another program's repository.
func (s *sourceCapture) git(ctx context.Context, dir string) error {
	refs, ok, unread := gitobj.ReadRefs(s.e.o.FS, dir)
	if unread == nil && !ok {
		unread = amber.Errorf(amber.KindNotFound, "read repository", dir, "the folder is not a git repository")
	}
	var err error
	if unread == nil {
		var last *repo.GitEntry
		for _, p := range s.parent.Sources {
			if p.Name == s.entry.Name {
				last = p.Git
			}
		}
		s.entry.Git, unread, err = s.history(ctx, gitobj.Options{Dir: dir, Git: s.e.o.Git, FS: s.e.o.FS}, refs, last)
	}
	if unread == nil || ctx.Err() != nil {
		return cmp.Or(err, ctx.Err())
	}
	s.skip(dir, reason(unread), unread)
	return nil
}

// files captures files and folders, each under a name of its own.
func (s *sourceCapture) files(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	sum := &repo.FilesEntry{}
	var roots []repo.TreeEntry
	for n, path := range paths {
		entry, err := s.root(ctx, path, fmt.Sprintf("%d-%s", n+1, filepath.Base(path)), sum)
		if err != nil {
			return err
		}
		if entry != nil {
			roots = append(roots, *entry)
		}
	}
	tree, err := s.w.PutTree(ctx, roots)
	sum.Tree = tree
	s.entry.Files = sum
	s.total += sum.Bytes
	return err
}

// root captures one file or folder that was named. Nil when it was skipped.
func (s *sourceCapture) root(ctx context.Context, path, name string, sum *repo.FilesEntry) (*repo.TreeEntry, error) {
	f := &folder{fs: s.e.o.FS, part: s.part, root: path, skip: notTemporary, known: map[string]record{}}
	info, err := s.e.o.FS.Lstat(path)
	if err != nil {
		s.skip(path, reason(err), err)
		return nil, ctx.Err()
	}
	if !info.IsDir() {
		f.root, f.skip = filepath.Dir(path), nil
		return s.single(ctx, f, filepath.Base(path), name, sum)
	}
	now := s.e.o.Clock()
	if err = f.warm(ctx, s.w, s.rep.Has, now); err == nil {
		err = f.freeze(ctx, s.w, now)
	}
	if f.unseen != nil {
		s.skip(path, reason(f.unseen), f.unseen)
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	got, err := f.put(ctx, s.w, now)
	if err != nil {
		return nil, err
	}
	if got == nil {
		s.skip(path, wire.SkipMissing, fs.ErrNotExist) // since we looked
		return nil, nil
	}
	s.inner.Skipped = append(s.inner.Skipped, f.skipped...)
	s.inner.SkippedMore += f.unlisted
	sum.Files += got.Files
	sum.Bytes += got.Bytes
	return &repo.TreeEntry{Name: name, Mode: repo.ModeDir, Tree: got.Tree}, nil
}

// single captures one file.
func (s *sourceCapture) single(ctx context.Context, f *folder, base, name string, sum *repo.FilesEntry) (*repo.TreeEntry, error) {
	e, unread := survey.Stat(f.fs, f.root, base)
	if unread == nil {
		var err error
		if e, unread, err = f.take(ctx, s.w, e, s.e.o.Clock(), 0); err != nil && unread == nil {
			return nil, err
		}
	}
	if unread != nil {
		s.skip(filepath.Join(f.root, base), skipReason(unread), unread)
		return nil, ctx.Err()
	}
	r := f.known[base]
	sum.Files++
	sum.Bytes += r.Size
	return &repo.TreeEntry{Name: name, Mode: repo.ModeFile, Size: r.Size, ModTime: e.ModTime.UnixMilli(), Parts: r.Parts}, nil
}

func sourceReport(s repo.SourceEntry) wire.SourceReport {
	r := wire.SourceReport{Name: s.Name, Fenced: s.Fenced}
	for _, d := range s.Databases {
		r.Bytes += d.Ref.Pages * int64(d.Ref.PageSize)
		r.Files++
	}
	if s.Files != nil {
		r.Bytes += s.Files.Bytes
		r.Files += s.Files.Files
	}
	return r
}
