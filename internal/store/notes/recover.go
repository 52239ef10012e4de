package notes

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// maxBatch bounds the text that is held in memory while notes are recovered.
const maxBatch = 16 << 20

// change is what a commit does to one note: it gets the text of a blob, or goes where the blob has no id.
type change struct {
	name string
	blob gitobj.Object
	stat gitobj.IndexStat // of the file, when it holds the text already
}

// recovery brings the branch up to what the folder holds. It commits the work of a writer that died, or of a person who
// edited by hand.
type recovery struct {
	*repo
	st    *status
	batch []change
	size  int // bytes of text in batch
}

// recover leaves files alone that are no notes.
func (r *repo) recover(ctx context.Context, st *status) error {
	for _, file := range st.walk.temps { // left by a writer that died while it wrote a note
		if err := fsx.Remove(r.fsys, filepath.Join(r.dir, filepath.FromSlash(file))); err != nil {
			return err
		}
	}
	rec := &recovery{repo: r, st: st}
	for _, file := range st.paths() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := rec.add(file); err != nil {
			return err
		}
		if rec.size >= maxBatch {
			if err := rec.flush(); err != nil {
				return err
			}
		}
	}
	return rec.flush()
}

// paths returns the files of the notes that the folder, the branch or the index have.
func (st *status) paths() []string {
	files := map[string]fs.FileInfo{}
	maps.Copy(files, st.walk.files)
	add := func(file string) {
		if _, isNote := notefile.NameOf(file); isNote && files[file] == nil {
			files[file] = nil
		}
	}
	for file := range st.files {
		add(file)
	}
	for file := range st.index.entries {
		add(file)
	}
	return slices.Sorted(maps.Keys(files))
}

func (rec *recovery) flush() error {
	if len(rec.batch) == 0 {
		return nil
	}
	names := make([]string, len(rec.batch))
	for i, c := range rec.batch {
		names[i] = c.name
	}
	// Whose change it is is not known: it counts as made by hand.
	_, err := rec.commit(rec.st, notefile.Subject(notefile.OpRecover, names...), rec.batch, nil)
	rec.batch, rec.size = rec.batch[:0], 0
	return err
}

// add notes what has to be done about one file.
func (rec *recovery) add(file string) error {
	info, was := rec.st.walk.files[file], rec.st.files[file]
	head, inHead := "", was.OID != ""
	if was.IsFile() {
		head = was.OID
	}
	index := &rec.st.index
	if info != nil && head != "" && index.blob(file) == head && index.vouches(file, info) {
		return nil
	}
	name, _ := notefile.NameOf(file)
	content, found, err := rec.content(name)
	if errors.Is(err, errNoNote) {
		return nil
	}
	if err != nil {
		return err
	}
	blob := gitobj.NewBlob(content)
	switch {
	case !found && inHead:
		rec.batch = append(rec.batch, change{name: name})
	case !found:
		index.put(file, "", gitobj.IndexStat{})
	case blob.OID != head:
		rec.batch = append(rec.batch, change{name: name, blob: blob, stat: statOf(info)})
		rec.size += len(content)
	default:
		index.put(file, head, statOf(info))
	}
	return nil
}

// commit adds a commit to the branch and returns it. between, when there is one, runs after everything that is likely to fail and before
// the branch moves: it is where the file changes. All is durable when commit returns.
func (r *repo) commit(st *status, message string, changes []change, between func() error) (gitobj.Change, error) {
	blobs := make(map[string]gitobj.Object, len(changes))
	for _, c := range changes {
		blobs[c.name] = c.blob
	}
	next, err := st.Commit(message, r.clock(), blobs)
	if err == nil && between != nil {
		err = between()
	}
	if err == nil {
		err = r.moveBranch(st.Head(), next.OID)
	}
	if err != nil {
		return gitobj.Change{}, err
	}
	st.Follow(next)
	for _, c := range changes {
		st.index.put(c.name+notefile.Suffix, c.blob.OID, c.stat)
	}
	return next, nil
}

// errNoNote is returned for a file that cannot be a note, whatever its name is.
var errNoNote = errors.New("not a note")

// content returns what the file of a note holds and whether there is one. The error is errNoNote when it is
// too large, no regular file, or behind a symbolic link.
func (r *repo) content(name string) (content []byte, found bool, err error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := r.fsys.Lstat(filepath.Join(r.dir, filepath.FromSlash(dir)))
		if err == nil && !info.IsDir() {
			return nil, false, errNoNote
		}
	}
	content, err = fsx.ReadFile(r.fsys, r.filePath(name), amber.MaxContentBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case errors.Is(err, fsx.ErrTooLarge), errors.Is(err, fsx.ErrNotRegular):
		return nil, false, errNoNote
	}
	return content, err == nil, err
}
