package notes

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/survey"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// maxIndex bounds the file of the index.
const maxIndex = 256 << 20

// status is what the branch, the index and the folder hold when a writer begins.
type status struct {
	*notefile.History
	files map[string]gitobj.TreeEntry // of the branch, by path
	walk  walk                        // the files of the notes in the folder
	index index
}

// open returns the status of a repository that exists, is safe to use and is free of what a killed writer left. The caller is
// the only writer. Errors: damaged; conflict while a person is in the middle of a merge.
func (r *repo) open(ctx context.Context) (*status, error) {
	if err := r.ensure(); err != nil {
		return nil, err
	}
	head, err := r.head()
	if err != nil {
		return nil, err
	}
	if err := r.vetBranch(head); err != nil {
		return nil, err
	}
	st := &status{walk: walk{fsys: r.fsys, dir: r.dir, most: math.MaxInt, own: true}}
	if st.History, err = notefile.OpenHistory(r.objects, head); err != nil {
		return nil, err
	}
	if st.files, err = st.Files(ctx, math.MaxInt); err != nil {
		return nil, err
	}
	if st.index, err = r.readIndex(st.files); err != nil {
		return nil, err
	}
	return st, st.walk.folder(ctx, "")
}

// vetBranch refuses a repository that lost its branch: the index is written after the first commit, so there cannot be one without
// the other, and going on would begin a new history.
func (r *repo) vetBranch(head string) error {
	if head != "" {
		return nil
	}
	_, err := r.fsys.Lstat(r.gitPath(indexFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil:
		err = notefile.Damaged(errors.New("the branch main is gone"))
	}
	return err
}

const indexFile = "index"

// index is what git's index says of the files. It is a cache: by it Amber knows which files cannot have changed, and a person who works with
// git sees no changes but their own.
type index struct {
	entries map[string]gitobj.IndexEntry // by path
	written time.Time
	set     map[string]bool // the paths that are new in it
	changed bool
}

// readIndex reads the index; one that is lost or cannot be read is made anew of the files of the branch. The error is of kind conflict while
// a person is in the middle of a merge.
func (r *repo) readIndex(files map[string]gitobj.TreeEntry) (index, error) {
	x := index{entries: map[string]gitobj.IndexEntry{}, set: map[string]bool{}}
	text, err := r.readGitFile(indexFile, maxIndex)
	if err != nil {
		return x, err
	}
	list, err := gitobj.ReadIndex(text)
	if err != nil {
		for path, e := range files {
			x.entries[path] = gitobj.IndexOf(path, e)
		}
		x.changed = len(files) > 0
		return x, fsx.Remove(r.fsys, r.gitPath(indexFile))
	}
	info, err := r.fsys.Lstat(r.gitPath(indexFile))
	if err != nil {
		return x, err
	}
	x.written = info.ModTime()
	for _, e := range list {
		if x.entries[e.Path] = e; e.IsUnmerged() {
			return x, amberError(amber.KindConflict, "check the repository of the notes", errors.New("a git merge is not finished"), "git merge --abort")
		}
	}
	return x, nil
}

// blob returns the id that the index has for a file; "" where it knows no regular file.
func (x *index) blob(file string) string {
	if e := x.entries[file]; e.IsFile() {
		return e.OID
	}
	return ""
}

// vouches reports whether a file cannot have changed since the index was written.
func (x *index) vouches(file string, info fs.FileInfo) bool {
	e := x.entries[file]
	is := statOf(info)
	is.Device, is.User, is.Group, is.Mode = e.Stat.Device, e.Stat.User, e.Stat.Group, e.Stat.Mode
	return e.IsFile() && is == e.Stat && e.Stat.Modified().Before(x.written)
}

// statOf is what the index keeps of a file whose content was looked at afterwards.
func statOf(info fs.FileInfo) gitobj.IndexStat {
	if info == nil {
		return gitobj.IndexStat{}
	}
	key, at := survey.KeyOf(info), info.ModTime()
	return gitobj.IndexStat{
		ChangedSeconds: uint32(key.Changed / 1e9), ChangedNanos: uint32(key.Changed % 1e9),
		ModifiedSeconds: uint32(at.Unix()), ModifiedNanos: uint32(at.Nanosecond()),
		Inode: uint32(key.Inode), Size: uint32(info.Size()),
	}
}

// put makes the index say that a path holds a blob, "" for nothing.
func (x *index) put(file, blob string, stat gitobj.IndexStat) {
	e, known := x.entries[file]
	switch {
	case blob == "":
		delete(x.entries, file)
	case !known || e.OID != blob || !e.IsFile():
		e = gitobj.NewIndexEntry(file, blob, stat)
		x.entries[file], x.set[file] = e, true
	default:
		stat.Mode = e.Stat.Mode
		e.Stat = stat
		x.entries[file] = e
	}
	x.changed = x.changed || known || blob != ""
}

// saveIndex writes the index, if there is something new in it. An index that could not be written is mended by the next write.
func (r *repo) saveIndex(x *index) {
	if !x.changed {
		return
	}
	x.settle()
	entries := make([]gitobj.IndexEntry, 0, len(x.entries))
	for _, e := range x.entries {
		entries = append(entries, e)
	}
	_ = r.replace(indexFile, func() ([]byte, error) { return gitobj.WriteIndex(entries), nil })
}

// settle removes what cannot be beside a new path: a file where a folder is now, and files below what is a file now.
func (x *index) settle() {
	for file := range x.entries {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			if _, isFile := x.entries[dir]; !isFile {
				continue
			}
			if x.set[dir] {
				delete(x.entries, file)
			} else {
				delete(x.entries, dir)
			}
		}
	}
}
