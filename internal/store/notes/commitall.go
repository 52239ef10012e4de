package notes

import (
	"context"
	"errors"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/gitrun"
)

// CommitAll commits what the folder holds and the branch does not: edits by hand, and the work of a writer
// that died. Nothing to commit makes no repository. Errors: those of [Dir.WriteNote].
func (d *Dir) CommitAll(ctx context.Context) error {
	err := d.guard.Write(ctx, func(dir string) error {
		r := d.repoAt(dir)
		needed, err := r.needed(ctx)
		if err != nil || !needed {
			return err
		}
		st, err := r.open(ctx)
		if err != nil {
			return err
		}
		if _, err = r.recover(ctx, st); err != nil {
			return err
		}
		return r.dropPackedPins(ctx)
	})
	return wrap("commit notes", "", err)
}

// needed reports whether there is a repository, or a note that needs one.
func (r *repo) needed(ctx context.Context) (bool, error) {
	ready, err := r.vet()
	if ready || err != nil {
		return ready, err
	}
	w := walk{fsys: r.fsys, dir: r.dir}
	err = w.folder(ctx, "")
	if amber.KindOf(err) == amber.KindQuota {
		return true, nil
	}
	return len(w.notes) > 0, err
}

// dropPackedPins removes the pins that a git gc packed while they were held. A pin that is still held has a lock, which
// keeps git from removing it.
func (r *repo) dropPackedPins(ctx context.Context) error {
	packed, err := r.readGitFile("packed-refs", gitobj.MaxPackedRefs)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(packed)) {
		_, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if pin, found := strings.CutPrefix(name, gitobj.PinDir+"/"); !found || !gitobj.IsPinName(pin) {
			continue
		}
		if _, err := r.run(ctx, nil, "update-ref", "--no-deref", "-d", name); err != nil && !errors.Is(err, gitrun.ErrExit) {
			return err
		}
	}
	return nil
}
