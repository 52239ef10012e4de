package notes

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// CommitAll commits what the folder holds and the branch does not: edits by hand, and the work of a writer
// that died. Nothing to commit makes no repository. Errors: those of [Dir.WriteNote].
func (d *Dir) CommitAll(ctx context.Context) error {
	err := d.write(ctx, func(r *repo) error {
		needed, err := r.needed(ctx)
		if err != nil || !needed {
			return err
		}
		st, err := r.open(ctx)
		if err != nil {
			return err
		}
		err = r.recover(ctx, st)
		r.saveIndex(&st.index)
		if err != nil {
			return err
		}
		return r.dropPackedPins()
	})
	return wrap("commit notes", "", err)
}

// needed reports whether there is a repository, or a note that needs one.
func (r *repo) needed(ctx context.Context) (bool, error) {
	ready, err := r.vet()
	if ready || err != nil {
		return ready, err
	}
	w := walk{fsys: r.fsys, dir: r.dir, most: notefile.MaxEntries}
	err = w.folder(ctx, "")
	if amber.KindOf(err) == amber.KindQuota {
		return true, nil
	}
	return len(w.files) > 0, err
}

// dropPackedPins removes the pins that a git gc packed while they were held. A pin that is still held has a lock.
func (r *repo) dropPackedPins() error {
	packed, err := r.readGitFile(packedRefs, gitobj.MaxPackedRefs)
	if err != nil || !strings.Contains(string(packed), " "+gitobj.PinDir+"/") {
		return err
	}
	err = r.replace(packedRefs, func() ([]byte, error) {
		packed, err := r.readGitFile(packedRefs, gitobj.MaxPackedRefs)
		var kept strings.Builder
		for line := range strings.Lines(string(packed)) {
			if !r.isLeftPin(line) {
				kept.WriteString(line)
			}
		}
		return []byte(kept.String()), err
	})
	if amber.KindOf(err) == amber.KindConflict { // a git packs refs just now
		return nil
	}
	return err
}

// isLeftPin reports whether a line of packed-refs is a pin that no process holds.
func (r *repo) isLeftPin(line string) bool {
	_, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	pin, found := strings.CutPrefix(name, gitobj.PinDir+"/")
	if !found || !gitobj.IsPinName(pin) {
		return false
	}
	_, err := r.fsys.Lstat(r.gitPath(name + lockEnd))
	return errors.Is(err, fs.ErrNotExist)
}
