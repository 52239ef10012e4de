package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/survey"
	"github.com/amber-memory/amber/memdir"
	"github.com/amber-memory/amber/repo"
)

// checkSources refuses a source that is not configured: a typing error must
// not make an empty snapshot.
func (e *Engine) checkSources(names []string) error {
	for _, name := range names {
		if _, ok := e.o.Sources[name]; !ok {
			err := amber.Errorf(amber.KindNotFound, "find source", name, "no such source is configured")
			err.Hint = "amber config show"
			return err
		}
	}
	return nil
}

// sources captures what is not Amber's. Everything there has an instant of its
// own: nobody can stop somebody else's writers.
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
	s.inner.Skipped = append(s.inner.Skipped, amber.Skipped{Part: s.part, Path: path, Reason: reason, Detail: err.Error()})
	s.warn = append(s.warn, fmt.Sprintf("%s: %s was not captured: %v", s.part, path, err))
}

// reason says why something of a source is skipped; "" when the error is no
// matter of the source.
func reason(ctx context.Context, err error) string {
	switch {
	case err == nil, ctx.Err() != nil:
		return ""
	case errors.Is(err, fs.ErrNotExist), amber.KindOf(err) == amber.KindNotFound:
		return amber.SkipMissing
	case amber.KindOf(err) == amber.KindUnsupported:
		return amber.SkipUnsupported
	}
	return amber.SkipUnreadable
}

// database captures one database of a source.
func (s *sourceCapture) database(ctx context.Context, path string) error {
	d, err := s.e.o.Databases.FreezeFile(ctx, path)
	if err != nil {
		why := reason(ctx, err)
		if why == "" {
			return err
		}
		s.skip(path, why, err)
		return nil
	}
	defer d.Close()
	entry, _, err := s.capture.database(ctx, d, nil)
	if err != nil {
		return err
	}
	entry.Name = filepath.ToSlash(path)
	s.entry.Databases = append(s.entry.Databases, entry)
	return nil
}

// git captures the history of somebody else's repository.
func (s *sourceCapture) git(ctx context.Context, dir string) error {
	refs, ok, err := memdir.ReadRefs(s.e.o.FS, dir)
	if err == nil && !ok {
		err = amber.Errorf(amber.KindNotFound, "read repository", dir, "there is no git repository")
	}
	if err == nil {
		var last *repo.GitEntry
		for _, p := range s.parent.Sources {
			if p.Name == s.entry.Name {
				last = p.Git
			}
		}
		s.entry.Git, err = s.history(ctx, memdir.GitOptions{Dir: dir, Git: s.e.o.Git, FS: s.e.o.FS}, refs, last)
	}
	if why := reason(ctx, err); why != "" && amber.KindOf(err) != amber.KindInternal {
		s.skip(dir, why, err)
		return nil
	}
	return err
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
		s.skip(path, reason(ctx, err), err)
		return nil, ctx.Err()
	}
	if !info.IsDir() {
		f.root, f.skip = filepath.Dir(path), nil
		return s.single(ctx, f, filepath.Base(path), name, sum)
	}
	now := s.e.o.Clock()
	if err := f.warm(ctx, s.w, s.v.repo.Has, now); err != nil {
		return nil, err
	}
	if err := f.freeze(ctx, s.w, now); err != nil {
		return nil, err
	}
	got, err := f.put(ctx, s.w, now)
	if err != nil {
		return nil, err
	}
	s.inner.Skipped = append(s.inner.Skipped, f.skipped...)
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

func sourceReport(s repo.SourceEntry) amber.SourceReport {
	r := amber.SourceReport{Name: s.Name, Fenced: s.Fenced}
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
