package gitobj

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitrun"
)

// snapshotTimeout ends a git command that hangs while a repository is captured or built. The repository may be large,
// and a stranger's.
const snapshotTimeout = 10 * time.Minute

// Options says which repository is meant and how git is run.
type Options struct {
	Dir     string        // the folder of the work tree; its repository is in .git
	GitDir  string        // the repository, where it lies elsewhere
	Git     string        // the git program; default "git"
	Timeout time.Duration // how long git may run; default ten minutes
	Temp    string        // an existing folder for temporary files; default that of the system
	FS      fsx.FS        // default fsx.OS()
}

func (o Options) withDefaults() (Options, gitrun.Program, error) {
	if o.Timeout <= 0 {
		o.Timeout = snapshotTimeout
	}
	if o.FS == nil {
		o.FS = fsx.OS()
	}
	if o.GitDir == "" {
		o.GitDir = filepath.Join(o.Dir, ".git")
	}
	git, err := gitrun.Find(o.Git, o.Timeout)
	return o, git, err
}

// view is a repository of our own in a temporary folder that has the objects of another one and nothing else of it: neither
// its settings, hooks, attributes, grafts and replacements nor its refs reach git, and what git writes does not reach it.
type view struct {
	dir string
	git gitrun.Program
}

// newView makes a view of the objects of the repository o. Errors: unsupported for a repository that does not have all
// its objects in one place.
func newView(o Options, git gitrun.Program, oidLen int) (*view, error) {
	if err := checkWhole(o.FS, o.GitDir); err != nil {
		return nil, err
	}
	objects, err := filepath.Abs(filepath.Join(o.GitDir, "objects"))
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(objects, "\r\n") {
		return nil, unsupportedRepo("the path of the repository has a line break")
	}
	v, err := newPrivate(o.Temp, git, oidLen)
	if err != nil {
		return nil, err
	}
	err = writeNew(fsx.OS(), filepath.Join(v.dir, "objects", "info", "alternates"), []byte(filepath.ToSlash(objects)+"\n"))
	if err != nil {
		return nil, errors.Join(err, v.close())
	}
	return v, nil
}

func (v *view) close() error { return os.RemoveAll(v.dir) }

// command is a git command on the view.
func (v *view) command(args ...string) gitrun.Call {
	env := append(gitrun.BareEnv(), "GIT_DIR="+v.dir, "GIT_NO_REPLACE_OBJECTS=1", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1")
	// These two are caches beside the objects: a wrong one could hide a part of the history.
	extra := []string{"core.commitGraph=false", "core.multiPackIndex=false"}
	return gitrun.Call{Args: args, Dir: v.dir, Env: env, Extra: extra}
}

// checkWhole refuses a repository whose history is cut off or whose objects lie elsewhere too.
func checkWhole(fsys fsx.FS, gitDir string) error {
	for _, dir := range []string{".", "objects", "objects/pack"} {
		info, err := fsys.Lstat(filepath.Join(gitDir, filepath.FromSlash(dir)))
		if err == nil && !info.IsDir() {
			err = unsupportedRepo(".git/" + dir + " is not a folder")
		}
		if err != nil && (dir == "objects" || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	for name, why := range map[string]string{
		"shallow":                 "the repository is a shallow clone: a part of the history is missing",
		"commondir":               "the repository is a linked work tree of another one",
		"objects/info/alternates": "the repository borrows objects of another repository",
	} {
		_, err := fsys.Lstat(filepath.Join(gitDir, filepath.FromSlash(name)))
		if err == nil {
			return unsupportedRepo(why)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// isPartial reports whether git may leave objects of the repository where it was cloned from.
func isPartial(fsys fsx.FS, gitDir string) bool {
	entries, _ := fsys.ReadDir(filepath.Join(gitDir, "objects", "pack"))
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".promisor") {
			return true
		}
	}
	return false
}
