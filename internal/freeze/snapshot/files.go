package snapshot

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/survey"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/wire"
)

// Bounds of what is captured as files.
const (
	maxFiles     = 100_000
	maxDepth     = 64
	maxFileBytes = 1 << 30
	// maxCopies bounds what is copied to memory while the writers stand still.
	maxCopies = 16 << 20
	// smallFile is what is read whole.
	smallFile = 1 << 20
	// readTries is how often a file is read that changes meanwhile.
	readTries = 3
)

// folder is a folder of files on its way into the repository. The engine looks at it twice. Before
// the fence it reads and stores everything new, at leisure. Inside the fence it only copies what
// changed in between.
type folder struct {
	fs      fsx.FS
	part    string // "notes"
	root    string
	skip    func(rel string, dir bool) bool
	cached  map[string]record // what an earlier snapshot stored, by hexName; nil: nothing
	known   map[string]record // content that is in the repository, by path
	copies  map[string][]byte // content that was read inside the fence
	entries []survey.Entry    // as the fence found them
	skipped []wire.Skipped
	// unlisted counts what was skipped and is not in the list.
	unlisted int64
	absent   bool  // there is no such folder
	unseen   error // why the folder cannot be looked at
}

// look walks the folder. A folder that is not there is empty.
func (f *folder) look() (survey.Survey, error) {
	s, err := survey.Walk(f.fs, f.root, survey.Options{Skip: f.skip, MaxFiles: maxFiles, MaxDepth: maxDepth, MaxFileBytes: maxFileBytes})
	if errors.Is(err, fs.ErrNotExist) {
		f.absent = true
		return survey.Survey{}, nil
	}
	f.absent = false
	f.unseen = fail("look at "+f.part, f.root, err)
	return s, f.unseen
}

// warm reads the files that the repository does not have, before the writers have to wait. For a
// file that cannot be read now, the engine decides inside the fence.
func (f *folder) warm(ctx context.Context, w *repo.Writer, has func(repo.ID) bool, now time.Time) error {
	s, err := f.look()
	if err != nil {
		return err
	}
	for _, e := range s.Entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.Mode == survey.Dir {
			continue
		}
		if r, ok := f.recall(e.Path); ok && r.unchanged(e) && all(r.Parts, has) {
			f.known[e.Path] = r
			continue
		}
		delete(f.known, e.Path)
		if unread, err := f.store(ctx, w, e, now); err != nil && unread == nil {
			return err
		}
	}
	return nil
}

// recall returns what is known of a file.
func (f *folder) recall(path string) (record, bool) {
	if r, ok := f.known[path]; ok {
		return r, true
	}
	r, ok := f.cached[hexName(path)]
	r.Entry.Path = path
	return r, ok
}

// store reads one file into the repository. Unread says why the file could not
// be read; any other error is one of the repository.
func (f *folder) store(ctx context.Context, w *repo.Writer, e survey.Entry, now time.Time) (unread, err error) {
	var size int64
	var parts []repo.ID
	if e.Size <= smallFile {
		var b bytes.Buffer
		if err := survey.Read(f.fs, f.root, e, &b); err != nil {
			return err, err
		}
		size, parts, err = w.PutFile(ctx, &b)
	} else {
		r, pipe := io.Pipe()
		failed := make(chan error, 1)
		go func() {
			err := survey.Read(f.fs, f.root, e, pipe)
			failed <- err
			pipe.CloseWithError(err)
		}()
		size, parts, err = w.PutFile(ctx, r)
		_ = r.CloseWithError(err) // the other side ends
		if unread := <-failed; unread != nil && err != nil && errors.Is(err, unread) {
			return unread, err
		}
	}
	if err != nil {
		return nil, err
	}
	f.known[e.Path] = record{Entry: e, Seen: now.UnixNano(), Size: size, Parts: parts}
	return nil, nil
}

// freeze is the look inside the fence.
func (f *folder) freeze(ctx context.Context, w *repo.Writer, now time.Time) error {
	s, err := f.look()
	if err != nil {
		return err
	}
	f.copies = map[string][]byte{}
	f.skipped, f.unlisted = s.Skipped, int64(s.Unlisted)
	budget := int64(maxCopies)
	for _, e := range s.Entries {
		if r, ok := f.known[e.Path]; e.Mode != survey.Dir && (!ok || !r.unchanged(e)) {
			delete(f.known, e.Path)
			e, unread, err := f.take(ctx, w, e, now, budget)
			if err != nil && unread == nil {
				return err
			}
			if unread != nil {
				f.skipped = append(f.skipped, wire.Skipped{Path: e.Path, Reason: skipReason(unread), Detail: unread.Error()})
				continue
			}
			budget -= int64(len(f.copies[e.Path]))
			f.entries = append(f.entries, e)
			continue
		}
		f.entries = append(f.entries, e)
	}
	for i := range f.skipped {
		f.skipped[i].Part = f.part
	}
	return nil
}

// take reads one file while the writers wait: to memory, or, when that would
// be too much, into the repository. A file that changes meanwhile is looked at
// again a few times.
func (f *folder) take(ctx context.Context, w *repo.Writer, e survey.Entry, now time.Time, budget int64) (_ survey.Entry, unread, err error) {
	for range readTries {
		if e.Size <= budget {
			unread = f.copy(e)
		} else {
			unread, err = f.store(ctx, w, e, now)
			if err != nil && unread == nil {
				return e, nil, err
			}
		}
		if !errors.Is(unread, survey.ErrTorn) {
			return e, unread, unread
		}
		again, err := survey.Stat(f.fs, f.root, e.Path)
		if err != nil || again.Mode == survey.Dir {
			return e, unread, unread
		}
		e = again
	}
	return e, unread, unread
}

// skipReason says why a file that could not be read is skipped.
func skipReason(err error) string {
	switch {
	case errors.Is(err, survey.ErrTorn):
		return wire.SkipTorn
	case errors.Is(err, fs.ErrNotExist):
		return wire.SkipMissing
	case errors.Is(err, fsx.ErrNotRegular):
		return wire.SkipNotRegular
	}
	return wire.SkipUnreadable
}

// copy reads one file to memory.
func (f *folder) copy(e survey.Entry) error {
	var b bytes.Buffer
	if err := survey.Read(f.fs, f.root, e, &b); err != nil {
		return err
	}
	f.copies[e.Path] = b.Bytes()
	return nil
}

// put stores what the fence found: copies, then a tree for every folder. It
// returns nil when there is no folder.
func (f *folder) put(ctx context.Context, w *repo.Writer, now time.Time) (*repo.FilesEntry, error) {
	if f.absent {
		return nil, nil
	}
	for _, e := range f.entries {
		data, ok := f.copies[e.Path]
		if !ok {
			continue
		}
		size, parts, err := w.PutFile(ctx, bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		f.known[e.Path] = record{Entry: e, Seen: now.UnixNano(), Size: size, Parts: parts}
	}
	f.copies = nil
	out := &repo.FilesEntry{}
	tree, err := f.tree(ctx, w, "", f.children(), out)
	out.Tree = tree
	return out, err
}

// children groups the entries by the folder they are in, "" being the root.
func (f *folder) children() map[string][]survey.Entry {
	groups := map[string][]survey.Entry{}
	for _, e := range f.entries {
		dir := path.Dir(e.Path)
		if dir == "." {
			dir = ""
		}
		groups[dir] = append(groups[dir], e)
	}
	return groups
}

// tree stores a folder after the folders in it.
func (f *folder) tree(ctx context.Context, w *repo.Writer, dir string, groups map[string][]survey.Entry, sum *repo.FilesEntry) (repo.ID, error) {
	var entries []repo.TreeEntry
	for _, e := range groups[dir] {
		te := repo.TreeEntry{Name: path.Base(e.Path), ModTime: e.ModTime.UnixMilli()}
		switch {
		case e.Mode == survey.Dir:
			id, err := f.tree(ctx, w, e.Path, groups, sum)
			if err != nil {
				return repo.ID{}, err
			}
			te.Mode, te.Tree = repo.ModeDir, id
		default:
			r := f.known[e.Path]
			te.Mode, te.Size, te.Parts = repo.ModeFile, r.Size, r.Parts
			if e.Mode == survey.Exec {
				te.Mode = repo.ModeExec
			}
			sum.Files++
			sum.Bytes += r.Size
		}
		entries = append(entries, te)
	}
	return w.PutTree(ctx, entries)
}

// records returns what the next snapshot need not read.
func (f *folder) records() []record {
	var list []record
	for _, e := range f.entries {
		if r, ok := f.known[e.Path]; ok && e.Mode != survey.Dir {
			list = append(list, r)
		}
	}
	return list
}

// notTemporary leaves out what is no content: the git folder, or the file that
// says where it is, and files of writers that died.
func notTemporary(rel string, _ bool) bool {
	return strings.HasPrefix(path.Base(rel), fsx.TempPrefix) || inGit(rel)
}

func all(ids []repo.ID, has func(repo.ID) bool) bool {
	return !slices.ContainsFunc(ids, func(id repo.ID) bool { return !has(id) })
}
