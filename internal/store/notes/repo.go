package notes

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/gitrun"
)

const (
	filePerm = 0o600
	dirPerm  = 0o700
)

// repo is the folder of the notes and its repository, for the time of one operation.
type repo struct {
	dir    string // the work tree
	gitDir string
	fsys   fsx.FS
	git    gitrun.Program
	clock  amber.Clock
}

// open returns what there is to recover in a repository that exists, is safe to use and is free of what a
// killed writer left. The caller is the only writer.
func (r *repo) open(ctx context.Context) (status, error) {
	if err := r.ensure(ctx); err != nil {
		return status{}, err
	}
	return r.status(ctx)
}

// ensure makes the repository when there is none and clears away what a killed writer left in its way. The caller is
// the only writer.
func (r *repo) ensure(ctx context.Context) error {
	ready, err := r.vet()
	if err != nil {
		return err
	}
	if ready {
		return r.sweep()
	}
	return r.init(ctx)
}

// init makes the repository. It completes one that was begun, and may be repeated.
func (r *repo) init(ctx context.Context) error {
	if _, err := r.git.Version(ctx); err != nil {
		return err
	}
	// Amber makes these folders itself rather than leave that to git, so that no other user may read them and their
	// names are durable.
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := fsx.MkdirAll(r.fsys, r.gitPath(dir), dirPerm); err != nil {
			return err
		}
	}
	// A power cut can leave these empty, and git keeps what it finds.
	for _, name := range []string{"HEAD", "config"} {
		text, err := r.readGitFile(name, maxConfig)
		if err == nil && len(text) == 0 {
			err = fsx.Remove(r.fsys, r.gitPath(name))
		}
		if err != nil {
			return err
		}
	}
	_, err := r.run(ctx, nil, "init", "--quiet", "--template=", "--initial-branch=main", "--object-format=sha1")
	if err != nil {
		return err
	}
	return r.settle()
}

// settle makes what git init wrote durable, and private.
func (r *repo) settle() error {
	for _, name := range []string{"config", "HEAD"} {
		text, err := r.readGitFile(name, maxConfig)
		if err != nil {
			return err
		}
		if err := fsx.Replace(r.fsys, r.gitPath(name), filePerm, text); err != nil {
			return err
		}
	}
	ready, err := r.vet()
	if err == nil && !ready {
		err = errors.New("git init left no repository")
	}
	return err
}

// sweep removes the locks and half-written files of a git that was killed: the caller is the only writer, so no process
// holds them.
func (r *repo) sweep() error {
	left := func(dir string, isLeft func(name string) bool) error {
		entries, err := r.list(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !e.IsDir() && isLeft(e.Name()) {
				if err := fsx.Remove(r.fsys, r.gitPath(path.Join(dir, e.Name()))); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return errors.Join(
		left(".", func(name string) bool {
			return strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "fast_import_crash_")
		}),
		left("refs/heads", func(name string) bool { return strings.HasSuffix(name, ".lock") }),
		left("objects/pack", func(name string) bool { return strings.HasPrefix(name, "tmp_") }),
	)
}

// run runs git on the repository as its only writer.
func (r *repo) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	return r.git.Run(ctx, gitrun.Call{Args: args, Dir: r.dir, Env: r.env(), Stdin: stdin})
}

// query runs git on the repository beside a writer.
func (r *repo) query(ctx context.Context, args ...string) ([]byte, error) {
	return r.git.Run(ctx, gitrun.Call{Args: args, Dir: r.dir, Env: r.readEnv()})
}

// hasBranch reports whether there was a commit.
func (r *repo) hasBranch() (bool, error) {
	_, err := r.fsys.Lstat(r.gitPath(branch))
	if !errors.Is(err, fs.ErrNotExist) {
		return err == nil, err
	}
	packed, err := r.readGitFile("packed-refs", gitobj.MaxPackedRefs)
	return bytes.Contains(packed, []byte(" "+branch+"\n")), err
}

func (r *repo) gitPath(name string) string {
	return filepath.Join(r.gitDir, filepath.FromSlash(name))
}
