package githook

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Worktree is a git work tree as it was when it was opened. Safe for concurrent
// use; of two who install at the same time the later one wins.
type Worktree struct {
	env    []string
	fs     fsx.FS
	top    string // its folder
	hooks  string // the folder of its hooks, which need not be there
	common string // the repository's own folder
}

// Options are what a work tree is opened with. The zero value works.
type Options struct {
	Environ []string // nil: that of the process
	FS      fsx.FS   // nil: the operating system's
}

// Open finds the work tree that a folder is in. Errors: not_found when it is in
// none; unsupported without git; refused when git does not trust the repository.
func Open(ctx context.Context, dir string) (*Worktree, error) { return Options{}.Open(ctx, dir) }

// Open is [Open] with options.
func (o Options) Open(ctx context.Context, dir string) (*Worktree, error) {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	o.FS = cmp.Or(o.FS, fsx.OS())
	w := &Worktree{env: environment(o.Environ), fs: o.FS}
	var err error
	if w.top, err = line(ctx, w.env, dir, "rev-parse", "--show-toplevel"); err != nil {
		return nil, outside(dir, err)
	}
	w.top = filepath.FromSlash(w.top)
	if w.hooks, err = w.path(ctx, "--git-path", "hooks"); err != nil {
		return nil, err
	}
	if w.common, err = w.path(ctx, "--git-common-dir"); err != nil {
		return nil, err
	}
	return w, nil
}

// OpenAt is Open for a folder that need not exist in a work tree that does.
func (o Options) OpenAt(ctx context.Context, dir string) (*Worktree, error) {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	return o.Open(ctx, dir)
}

// path asks git for a path, which it tells relative to the top.
func (w *Worktree) path(ctx context.Context, args ...string) (string, error) {
	p, err := line(ctx, w.env, w.top, append([]string{"rev-parse"}, args...)...)
	if err != nil {
		return "", err
	}
	if p = filepath.FromSlash(p); !filepath.IsAbs(p) {
		p = filepath.Join(w.top, p)
	}
	return p, nil
}

// outside tells why git found no work tree.
func outside(dir string, err error) error {
	text, ok := said(err)
	if !ok {
		return err
	}
	const op = "find work tree"
	switch {
	case strings.Contains(text, "not a git repository"), strings.Contains(text, "must be run in a work tree"):
		return amber.Errorf(amber.KindNotFound, op, dir, "the folder is not in a git work tree")
	case strings.Contains(text, "dubious ownership"):
		return amber.Errorf(amber.KindRefused, op, dir, "git says: %s", text)
	}
	return amber.Errorf(amber.KindInternal, op, dir, "git says: %s", text)
}

// Top returns the folder of the work tree, without symbolic links.
func (w *Worktree) Top() string { return w.top }

// HooksDir returns the folder where git looks for hooks; it need not be there.
func (w *Worktree) HooksDir() string { return w.hooks }

// Shared reports whether the hooks lie in the work tree itself, and so in the clones
// of others.
func (w *Worktree) Shared() bool { return !isBelow(w.hooks, w.common) && isBelow(w.hooks, w.top) }

// Folder returns the path of a folder relative to the top, with slashes. Errors:
// invalid when it is not in the work tree.
func (w *Worktree) Folder(path string) (string, error) {
	rel, err := filepath.Rel(w.top, resolved(path))
	if err != nil || !filepath.IsLocal(rel) {
		return "", amber.Errorf(amber.KindInvalid, "find folder", path, "the folder is not in the work tree %s", w.top)
	}
	return filepath.ToSlash(rel), nil
}

// isBelow reports whether path is root or in it, symbolic links resolved.
func isBelow(path, root string) bool {
	rel, err := filepath.Rel(resolved(root), resolved(path))
	return err == nil && filepath.IsLocal(rel)
}

// resolved returns path without symbolic links, as far as it is there.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolved(parent), filepath.Base(path))
}
