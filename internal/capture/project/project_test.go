package project_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/project"
	"github.com/amber-memory/amber/internal/test/must"
)

// tree is a folder without symbolic links above it.
func tree(t *testing.T) string {
	t.Helper()
	return must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
}

// put writes a file and the folders above it.
func put(t *testing.T, path, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
}

// repository makes a folder with an empty .git, and a remote if one is named.
func repository(t *testing.T, dir, remote string) string {
	t.Helper()
	text := "[core]\n"
	if remote != "" {
		text += "[remote \"origin\"]\n\turl = " + remote + "\n"
	}
	put(t, filepath.Join(dir, ".git", "config"), text)
	return dir
}

// set names the project of a folder in a home of its own.
func set(t *testing.T, dir, name string) (project.Grant, error) {
	t.Helper()
	r := &project.Registry{Home: tree(t), Clock: time.Now}
	now, _, err := r.Set(t.Context(), dir, name)
	return now, err
}

func TestFolderNameAloneDoesNotNameAProject(t *testing.T) {
	t.Parallel()
	top := tree(t)
	a, b := project.Of(repository(t, filepath.Join(top, "a", "shop"), "")), project.Of(repository(t, filepath.Join(top, "b", "shop"), ""))
	if a.ID == b.ID || !strings.HasPrefix(a.ID, "shop-") || a.Source != project.Path || a.Others[0] != "shop" {
		t.Errorf("%+v and %+v", a, b)
	}
	if !a.SameFolderName(b.ID) || a.SameFolderName(a.ID) || a.SameFolderName("shop-x") || a.SameFolderName("shop") {
		t.Errorf("%s and %s are not told apart", a.ID, b.ID)
	}
	deep := filepath.Join(top, "a", "shop", "x", "y")
	must.Equal(t, "below the folder", project.Of(deep).ID, a.ID)
	if got := project.Of(top); got.ID != "" || got.Source != "" {
		t.Errorf("outside: %+v", got)
	}
}

func TestAllWaysToARepositoryLeadToOneProject(t *testing.T) {
	t.Parallel()
	top := tree(t)
	main := repository(t, filepath.Join(top, "shop"), "")
	want := project.Of(main)
	link := filepath.Join(top, "link")
	if err := os.Symlink(main, link); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("on Windows only some users may make links: %v", err)
		}
		t.Fatal(err)
	}
	must.Equal(t, "through a link", project.Of(link).ID, want.ID)
	// A linked work tree, as git makes it.
	put(t, filepath.Join(main, ".git", "worktrees", "fix", "commondir"), "../..\n")
	other := filepath.Join(top, "fix")
	put(t, filepath.Join(main, ".git", "worktrees", "fix", "gitdir"), filepath.Join(other, ".git")+"\n")
	put(t, filepath.Join(other, ".git"), "gitdir: "+filepath.Join(main, ".git", "worktrees", "fix")+"\n")
	got := project.Of(other)
	if got.ID != want.ID || !want.Contains(other) || !got.Contains(main) {
		t.Errorf("of a work tree: %+v, want %s", got, want.ID)
	}
	// A submodule is a repository of its own.
	put(t, filepath.Join(main, ".git", "modules", "lib", "config"), "[core]\n\tworktree = ../../../lib\n")
	sub := filepath.Join(main, "lib")
	put(t, filepath.Join(sub, ".git"), "gitdir: ../.git/modules/lib\n")
	if got := project.Of(sub); got.ID == want.ID || !strings.HasPrefix(got.ID, "lib-") || want.Contains(sub) {
		t.Errorf("of a submodule: %+v", got)
	}
}

func TestGitAgreesAboutWorkTrees(t *testing.T) {
	t.Parallel()
	top := tree(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = top, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.invalid", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.invalid")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "shop")
	git("-C", "shop", "commit", "-q", "--allow-empty", "-m", "first")
	git("-C", "shop", "worktree", "add", "-q", "../fix")
	git("clone", "-q", "--bare", "shop", "bare.git")
	git("-C", "bare.git", "remote", "remove", "origin")
	git("-C", "bare.git", "worktree", "add", "-q", "../one", "HEAD", "--detach")
	git("-C", "bare.git", "worktree", "add", "-q", "../two", "HEAD", "--detach")
	of := func(name string) string { return project.Of(filepath.Join(top, name)).ID }
	if of("shop") != of("fix") || of("one") != of("two") || of("one") == of("shop") || !strings.HasPrefix(of("one"), "bare-") {
		t.Errorf("shop %s, fix %s, one %s, two %s", of("shop"), of("fix"), of("one"), of("two"))
	}
	// A name that was chosen in one work tree counts in all of them.
	if _, err := set(t, filepath.Join(top, "fix"), "team/shop"); err != nil || of("shop") != "team/shop" || of("fix") != "team/shop" {
		t.Errorf("%v: shop %s, fix %s", err, of("shop"), of("fix"))
	}
}

func TestRemotesNameProjectsWithoutTheirCredentials(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"https://host.invalid/acme/shop.git":              "host.invalid/acme/shop",
		"https://HOST.invalid.:443/acme/shop/":            "host.invalid/acme/shop",
		"https://host.invalid:8443/acme/shop":             "host.invalid:8443/acme/shop",
		"ssh://git@host.invalid:2222/acme/shop.git":       "host.invalid/acme/shop",
		"git@host.invalid:acme/shop.git":                  "host.invalid/acme/shop",
		"https://host.invalid/group/sub/shop":             "host.invalid/group/sub/shop",
		"git@host.invalid:shop":                           "host.invalid/shop",
		"ssh://git@host.invalid/shop":                     "host.invalid/shop",
		"/srv/acme/shop":                                  "localhost/srv/acme/shop",
		"file:///srv/acme/shop.git":                       "localhost/srv/acme/shop",
		"https://user:s3cret@host.invalid/shop.git":       "host.invalid/shop",
		"https://s3cret@host.invalid/shop":                "host.invalid/shop",
		"https://user:s3cret@host.invalid/acme/shop":      "host.invalid/acme/shop",
		"ssh://user:s3cret@host.invalid/shop":             "host.invalid/shop",
		"https://host.invalid/acme/shop.git?token=s3cret": "host.invalid/acme/shop",
		"https://host.invalid/acme/shop#s3cret":           "host.invalid/acme/shop",
		"user:s3cret@host.invalid:shop":                   "host.invalid/shop",
		"ftp://s3cret@host.invalid/shop":                  "host.invalid/shop",
	} {
		got := project.Of(repository(t, filepath.Join(tree(t), "r"), remote))
		if got.ID != want || got.Source != project.Remote || strings.Contains(got.ID, "s3cret") {
			t.Errorf("%s: %+v, want %s", remote, got, want)
		}
	}
	// An address that names nothing is none.
	for _, remote := range []string{"https://", "https://host.invalid/", "https://host.invalid/a/../b", "https://unconfirmed/shop"} {
		must.Equal(t, remote, project.Of(repository(t, filepath.Join(tree(t), "r"), remote)).Source, project.Path)
	}
}

// A repository cannot take the name of another project by what is in it.
func TestAFileThatTravelsDoesNotOutvoteTheRemote(t *testing.T) {
	t.Parallel()
	dir := repository(t, filepath.Join(tree(t), "evil"), "https://host.invalid/mallory/evil")
	put(t, filepath.Join(dir, ".amber", "project"), "acme/payroll\n")
	got := project.Of(dir)
	must.Equal(t, "id", got.ID, "host.invalid/mallory/evil")
	must.Equal(t, "claimed", got.Claimed, "acme/payroll")
	got, err := set(t, dir, "acme/payroll")
	if err != nil || got.ID != "acme/payroll" || got.Source != project.Choice || got.Claimed != "" {
		t.Errorf("%+v, %v", got, err)
	}
	// A later commit does not change what was chosen here.
	put(t, filepath.Join(dir, ".amber", "project"), "acme/other\n")
	if got := project.Of(dir); got.ID != "acme/payroll" || got.Claimed != "acme/other" {
		t.Errorf("%+v", got)
	}
}

func TestHostileFilesNameNothing(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "not free": "unconfirmed/x-0123456789ab", "blank": " \n\t\n", "two lines": "a\nb\n", "control": "a\x1b[31mb", "NUL": "a\x00b", "not UTF-8": "a\xffb",
		"direction": "a\u202eb", "long": strings.Repeat("x", amber.MaxIDBytes+1), "huge": strings.Repeat("x", 1<<20),
	} {
		dir := repository(t, filepath.Join(tree(t), "shop"), "")
		put(t, filepath.Join(dir, ".amber", "project"), text)
		got := project.Of(dir)
		if got.Source != project.Path || got.Ignored == "" || strings.ContainsAny(got.Ignored, "\x00\x1b\n") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestOddFoldersHaveNames(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"a\tb", " x", strings.Repeat("é", 120), "shop.git"} {
		dir := repository(t, filepath.Join(tree(t), base), "")
		if got := project.Of(dir); amber.CheckID("project id", got.ID) != nil || got.Source != project.Path {
			t.Errorf("%q: %+v", base, got)
		}
	}
}

func TestSetRefusesWhatIsNotAName(t *testing.T) {
	t.Parallel()
	dir := repository(t, filepath.Join(tree(t), "shop"), "")
	for _, name := range []string{"", " a", "unconfirmed/a", "a\nb", strings.Repeat("x", amber.MaxIDBytes+1)} {
		must.Fail(set(t, dir, name))(t, name, amber.KindInvalid)
	}
	must.Do(t, os.MkdirAll(filepath.Join(dir, ".amber", "project"), 0o755))
	must.Kind(t, "a folder in the place of the file", must.Err(set(t, dir, "acme/shop")), amber.KindRefused)
	if got := project.Of(dir); got.Source != project.Path || got.Ignored == "" {
		t.Errorf("%+v", got)
	}
}
