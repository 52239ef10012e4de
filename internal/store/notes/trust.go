package notes

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
)

const (
	maxHead   = 4 << 10
	maxConfig = 64 << 10
)

// vetted are the folders of .git that are looked at before git is started, each with the files that send git
// elsewhere or make it treat content in a way Amber did not ask for. Amber never makes those.
var vetted = []struct {
	dir     string
	refused []string
}{
	{".", []string{"commondir", "config.worktree", "shallow"}},
	{"info", []string{"attributes", "grafts"}},
	{"objects", nil},
	{"objects/info", []string{"alternates", "http-alternates"}},
	{"objects/pack", nil},
	{"refs", nil},
	{"refs/heads", nil},
	{"refs/amber", nil},
	{gitobj.PinDir, nil},
}

// vet reports whether there is a repository, and refuses one that git must not be started on. A .git folder that misses
// its HEAD or its settings is not yet a repository: its maker died on the way. Errors: damaged; conflict when another
// branch is checked out.
func (r *repo) vet() (ready bool, err error) {
	info, err := r.fsys.Lstat(r.gitDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, untrusted("%s is not a folder", ".git")
	}
	for _, v := range vetted {
		if err := r.vetDir(v.dir, v.refused); err != nil {
			return false, err
		}
	}
	hooks, err := r.list("hooks")
	if err == nil && len(hooks) > 0 {
		err = untrusted("the .git folder has hooks")
	}
	if err != nil {
		return false, err
	}
	configured, err := r.vetConfig()
	if err != nil {
		return false, err
	}
	headed, err := r.vetHead()
	return configured && headed, err
}

// vetDir refuses the named files in a folder of .git, and whatever is neither a file nor a folder: a symbolic link
// leads out of the repository, a fifo makes git wait.
func (r *repo) vetDir(dir string, refused []string) error {
	entries, err := r.list(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if !e.IsDir() && !e.Type().IsRegular() {
			return untrusted("%s is neither a file nor a folder", name)
		}
		// Folded, because the file system may fold.
		if slices.ContainsFunc(refused, func(s string) bool { return strings.EqualFold(s, e.Name()) }) {
			return untrusted("the .git folder has a file %s", name)
		}
	}
	return nil
}

// list returns the entries of a folder of .git; none when there is no such folder.
func (r *repo) list(dir string) ([]fs.DirEntry, error) {
	entries, err := r.fsys.ReadDir(r.gitPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

func (r *repo) vetConfig() (present bool, err error) {
	text, err := r.readGitFile("config", maxConfig)
	if err != nil || len(text) == 0 {
		return false, err
	}
	return true, checkConfig(string(text))
}

func (r *repo) vetHead() (present bool, err error) {
	text, err := r.readGitFile("HEAD", maxHead)
	if err != nil || len(text) == 0 {
		return false, err
	}
	if string(text) != gitobj.HeadContent {
		return false, notefile.NotMain()
	}
	return true, nil
}

// readGitFile returns a file of .git; nothing when it is missing.
func (r *repo) readGitFile(name string, most int64) ([]byte, error) {
	text, err := fsx.ReadFile(r.fsys, r.gitPath(name), most)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, fsx.ErrTooLarge), errors.Is(err, fsx.ErrNotRegular):
		return nil, untrusted("%s in the .git folder is too large or not a regular file", name)
	}
	return text, err
}

// untrusted is the answer to a .git folder that git must not be started on.
func untrusted(format string, args ...any) error {
	return amberError(amber.KindDamaged, "check the repository of the notes", fmt.Errorf(format, args...),
		"remove from the .git folder of the notes what Amber did not put there")
}
