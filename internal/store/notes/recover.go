package notes

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// maxBatch bounds the text that is held in memory while notes are recovered.
const maxBatch = 16 << 20

// recovery brings the branch up to what the folder holds. It commits the work of a writer that died, or of a person who
// edited by hand.
type recovery struct {
	*repo
	head  string // the commit of the branch so far
	batch []change
	size  int       // bytes of text in batch
	stale []indexed // where branch and folder agree and the index does not
}

// recover returns the commit that the branch ends with. Files that are no notes are left alone.
func (r *repo) recover(ctx context.Context, st status) (head string, err error) {
	rec := &recovery{repo: r, head: st.head}
	for _, file := range slices.Sorted(maps.Keys(st.files)) {
		if err := rec.add(file, st.files[file]); err != nil {
			return "", err
		}
		if rec.size >= maxBatch {
			if err := rec.flush(ctx); err != nil {
				return "", err
			}
		}
	}
	if err := rec.flush(ctx); err != nil {
		return "", err
	}
	return rec.head, r.updateIndex(ctx, rec.stale)
}

func (rec *recovery) flush(ctx context.Context) error {
	if len(rec.batch) == 0 {
		return nil
	}
	head, err := rec.commit(ctx, amber.NoteBy{}, rec.head, notefile.OpRecover, rec.batch, nil)
	if err != nil {
		return err
	}
	rec.head, rec.batch, rec.size = head, rec.batch[:0], 0
	return nil
}

// add notes what has to be done about one file.
func (rec *recovery) add(file string, e *entry) error {
	if strings.HasPrefix(path.Base(file), fsx.TempPrefix) {
		// Left by a writer that died while it wrote a note.
		return fsx.Remove(rec.fsys, filepath.Join(rec.dir, filepath.FromSlash(file)))
	}
	name, isNote := notefile.NameOf(file)
	if !isNote {
		return nil
	}
	content, found, err := rec.content(name)
	switch id := gitobj.BlobID(content); {
	case errors.Is(err, errNoNote):
	case err != nil:
		return err
	case !found && e.inHead:
		rec.batch = append(rec.batch, change{name: name, remove: true})
	case !found && e.index != "":
		rec.stale = append(rec.stale, indexed{name: name})
	case found && id != e.head:
		rec.batch = append(rec.batch, change{name: name, content: content})
		rec.size += len(content)
	case found && id != e.index:
		rec.stale = append(rec.stale, indexed{name: name, blob: id})
	}
	return nil
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
