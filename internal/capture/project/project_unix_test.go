//go:build unix

package project_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/project"
	"github.com/amber-memory/amber/internal/test/must"
)

// Files that would make a reader wait, or lead elsewhere, are passed over.
func TestFifosAndLinksNameNothing(t *testing.T) {
	t.Parallel()
	top := tree(t)
	fifo := func(path string) {
		t.Helper()
		must.Do(t, syscall.Mkfifo(path, 0o600))
	}
	dir := repository(t, filepath.Join(top, "shop"), "")
	must.Do(t, os.Mkdir(filepath.Join(dir, ".amber"), 0o755))
	fifo(filepath.Join(dir, ".amber", "project"))
	fifo(filepath.Join(dir, ".git", "amber-project"))
	fifo(filepath.Join(dir, ".git", "commondir"))
	must.Equal(t, "fifos", project.Of(dir).Source, project.Path)
	must.Kind(t, "set over a fifo", must.Err(set(t, dir, "acme/shop")), amber.KindRefused)
	// A work tree whose repository is made of fifos.
	bad := filepath.Join(top, "bad")
	must.Do(t, os.MkdirAll(filepath.Join(bad, "git"), 0o755))
	fifo(filepath.Join(bad, "git", "commondir"))
	fifo(filepath.Join(bad, "git", "config"))
	put(t, filepath.Join(bad, ".git"), "gitdir: git\n")
	must.Equal(t, "a repository of fifos", project.Of(bad).Source, project.Path)
	put(t, filepath.Join(top, "secret"), "acme/payroll\n")
	for _, link := range []string{".amber/project", ".amber"} {
		dir := repository(t, filepath.Join(tree(t), "shop"), "")
		if link != ".amber" {
			must.Do(t, os.Mkdir(filepath.Join(dir, ".amber"), 0o755))
			must.Do(t, os.Symlink(filepath.Join(top, "secret"), filepath.Join(dir, link)))
		} else {
			put(t, filepath.Join(top, "folder", "project"), "acme/payroll\n")
			must.Do(t, os.Symlink(filepath.Join(top, "folder"), filepath.Join(dir, link)))
		}
		must.Equal(t, fmt.Sprintf("%s is a link", link), project.Of(dir).Source, project.Path)
		must.Fail(set(t, dir, "acme/shop"))(t, fmt.Sprintf("set through the link %s", link), amber.KindRefused)
	}
}
