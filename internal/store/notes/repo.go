package notes

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
)

const (
	filePerm = 0o600
	dirPerm  = 0o700
	branch   = gitobj.MainBranch
	lockEnd  = ".lock" // of the name of a file by which git programs know that another one changes the file beside it
)

// repo is the folder of the notes and its repository, for the time of one operation.
type repo struct {
	dir     string // the work tree
	gitDir  string
	fsys    fsx.FS
	clock   amber.Clock
	objects *gitobj.Folder
}

// history returns the notes as the branch ends with them; none when there is no repository yet.
func (r *repo) history() (*notefile.History, error) {
	head := ""
	ready, err := r.vet()
	if err == nil && ready {
		head, err = r.head()
	}
	if err != nil {
		return nil, err
	}
	return notefile.OpenHistory(r.objects, head)
}

// ensure makes the repository when there is none and clears away what a killed writer left in its way. The caller is
// the only writer.
func (r *repo) ensure() error {
	ready, err := r.vet()
	if err != nil {
		return err
	}
	if ready {
		return r.sweep()
	}
	if err := gitobj.Init(r.fsys, r.gitDir); err != nil {
		return err
	}
	ready, err = r.vet()
	if err == nil && !ready {
		err = errors.New("the new repository is gone")
	}
	return err
}

// sweep removes the locks and half-written files of a writer or a git that was killed: the caller is the only writer, so no
// process holds them.
func (r *repo) sweep() error {
	err := r.objects.Sweep()
	for _, dir := range []string{".", "refs/heads"} {
		entries, lerr := r.list(dir)
		err = errors.Join(err, lerr)
		for _, e := range entries {
			if !e.IsDir() && (strings.HasSuffix(e.Name(), lockEnd) || strings.HasPrefix(e.Name(), "fast_import_crash_")) {
				err = errors.Join(err, fsx.Remove(r.fsys, r.gitPath(path.Join(dir, e.Name()))))
			}
		}
	}
	return err
}

// moveBranch makes next the commit of the branch, durably. The error is of kind conflict when another process moved the
// branch meanwhile.
func (r *repo) moveBranch(head, next string) error {
	return r.replace(branch, func() ([]byte, error) {
		now, err := r.head()
		if err == nil && now != head {
			err = notefile.Moved(head)
		}
		return []byte(next + "\n"), err
	})
}

// replace makes a file of .git hold what content returns, durably, under the lock that git programs respect. The error is of kind
// conflict when another program has the lock.
func (r *repo) replace(name string, content func() ([]byte, error)) error {
	file := r.gitPath(name)
	lock, err := r.lock(file)
	if err != nil {
		return err
	}
	text, err := content()
	if err == nil {
		_, err = lock.Write(text)
	}
	if err == nil {
		err = lock.Sync()
	}
	if err = errors.Join(err, lock.Close()); err == nil {
		err = r.fsys.Rename(file+lockEnd, file)
	}
	if err != nil {
		return errors.Join(err, fsx.Remove(r.fsys, file+lockEnd))
	}
	return r.fsys.SyncDir(filepath.Dir(file))
}

func (r *repo) lock(file string) (fsx.File, error) {
	create := func() (fsx.File, error) {
		return r.fsys.OpenFile(file+lockEnd, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	}
	lock, err := create()
	if errors.Is(err, fs.ErrNotExist) { // git may remove the folders of refs that it has packed
		if err := fsx.MkdirAll(r.fsys, filepath.Dir(file), dirPerm); err != nil {
			return nil, err
		}
		lock, err = create()
	}
	if errors.Is(err, fs.ErrExist) {
		err = amberError(amber.KindConflict, "change the repository of the notes", err, "")
	}
	return lock, err
}

func (r *repo) gitPath(name string) string {
	return filepath.Join(r.gitDir, filepath.FromSlash(name))
}
