package gitobj

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// keepFile is no ref to git. It keeps the folder of the refs from being left out by a tool that copies files alone.
const keepFile = ".keep"

// WriteRaw does what [Build] does for a repository whose files are copied by a tool that knows nothing of git: each ref is in a
// file of its own, and no folder that git needs is empty. There are HEAD, a config as git init writes it, one pack, an
// index of what HEAD says and the refs; no hooks, no logs, no locks. The same objects in the same order give the same bytes.
//
// Errors: those of Build, and conflict for refs whose names the file system takes for the same.
func WriteRaw(ctx context.Context, o Options, dir string, refs Refs, objects ObjectSource) error {
	if err := Build(ctx, o, dir, refs, objects); err != nil {
		return err
	}
	if o.FS == nil {
		o.FS = fsx.OS()
	}
	gitDir := filepath.Join(dir, ".git")
	if err := loosenRefs(o.FS, gitDir, refs); err != nil {
		return wrap("build repository", errors.Join(err, fsx.RemoveAll(o.FS, gitDir)))
	}
	return nil
}

// loosenRefs gives each ref a file of its own.
func loosenRefs(fsys fsx.FS, gitDir string, refs Refs) error {
	if len(refs.Refs) == 0 {
		return writeNew(fsys, filepath.Join(gitDir, "refs", keepFile), nil)
	}
	for _, ref := range refs.Refs {
		file := filepath.Join(gitDir, filepath.FromSlash(ref.Name))
		err := mkRefDirs(fsys, gitDir, ref.Name)
		if err == nil {
			err = writeNew(fsys, file, []byte(ref.OID+"\n"))
		}
		if errors.Is(err, fs.ErrExist) {
			return amberError(amber.KindConflict, "write refs", err)
		}
		if err != nil {
			return err
		}
	}
	return fsys.Remove(filepath.Join(gitDir, "packed-refs"))
}

// mkRefDirs makes the folders of a ref that are not there.
func mkRefDirs(fsys fsx.FS, gitDir, name string) error {
	made := ""
	for elem := range strings.SplitSeq(path.Dir(name), "/") {
		made = path.Join(made, elem)
		err := fsys.Mkdir(filepath.Join(gitDir, filepath.FromSlash(made)), dirPerm)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}
