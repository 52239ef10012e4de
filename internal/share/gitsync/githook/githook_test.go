//go:build unix

package githook_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/githook"
	"github.com/amber-memory/amber/internal/test/must"
)

// environ is that of a user without settings.
func environ(t *testing.T, more ...string) []string {
	t.Helper()
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@localhost", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@localhost",
	}, more...)
}

// user works in one folder.
type user struct {
	*testing.T
	dir string
	env []string
}

func (u user) try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = u.dir, u.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (u user) git(args ...string) string {
	u.Helper()
	out, err := u.try(args...)
	// A process that a test beside this one is starting may hold the hook open for writing until it runs.
	for range 20 {
		if err == nil || !strings.Contains(out, "Text file busy") {
			break
		}
		time.Sleep(10 * time.Millisecond)
		out, err = u.try(args...)
	}
	if err != nil {
		u.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (u user) put(name, text string, mode fs.FileMode) string {
	u.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(u.dir, name)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
		u.Fatal(err)
	}
	return path
}

func (u user) read(name string) string {
	u.Helper()
	b, err := os.ReadFile(filepath.Join(u.dir, name))
	if err != nil {
		u.Fatal(err)
	}
	return string(b)
}

func (u user) open() *githook.Worktree {
	u.Helper()
	w, err := githook.Options{Environ: u.env}.Open(u.Context(), u.dir)
	if err != nil {
		u.Fatal(err)
	}
	return w
}

// newUser has a repository with one commit on main.
func newUser(t *testing.T, name string, more ...string) user {
	t.Helper()
	root := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	u := user{t, filepath.Join(root, name), environ(t, more...)}
	must.Do(t, os.Mkdir(u.dir, 0o755))
	u.git("init", "-q", "-b", "main")
	u.put("README", "hello\n", 0o644)
	u.git("add", "README")
	u.git("commit", "-q", "-m", "begin")
	return u
}

// fakeAmber writes a program that notes how it was called and does what body
// says.
func fakeAmber(u user, body string) string {
	return u.put(filepath.Join(u.TempDir(), "it's amber"), "#!/bin/sh\nprintf '%s|' \"$@\" >>\"$0.log\"\nprintf '\\n' >>\"$0.log\"\n"+body+"\n", 0o755)
}

func calls(t *testing.T, amber string) []string {
	t.Helper()
	b, err := os.ReadFile(amber + ".log")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	must.Do(t, err)
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

func install(u user, o githook.Install) []githook.Change {
	u.Helper()
	if o.Binary == "" {
		o.Binary = "/usr/local/bin/amber"
	}
	if o.Folder == "" {
		o.Folder = ".amber"
	}
	if o.Upstream == "" {
		o.Upstream = "refs/remotes/origin/main"
	}
	changes, err := u.open().Install(u.Context(), o)
	if err != nil {
		u.Fatal(err)
	}
	return changes
}

func actions(changes []githook.Change) map[string]githook.Action {
	all := map[string]githook.Action{}
	for _, c := range changes {
		all[c.Hook] = c.Action
	}
	return all
}

func TestInstallThenRemoveGivesEveryHookBackToTheByte(t *testing.T) {
	t.Parallel()
	scripts := map[string]string{
		"a plain script":        "#!/bin/sh\necho mine\n",
		"only its first line":   "#!/bin/sh\n",
		"a line without an end": "#!/bin/sh",
		"no end at the last":    "#!/usr/bin/env bash\nset -eu\necho mine",
		"an option":             "#!/bin/sh -e\n\n\n# nothing\n",
		"an exit":               "#!/usr/bin/env -S bash -e\nexit 0\n",
		"empty lines":           "#!/bin/bash\n\n\n",
	}
	for name, text := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, "work")
			u.put(".git/hooks/post-merge", text, 0o755)
			got := actions(install(u, githook.Install{PreCommit: true}))
			must.Equal(t, "changes", got, map[string]githook.Action{"post-merge": githook.Changed, "pre-commit": githook.Created})
			if now := u.read(".git/hooks/post-merge"); now == text || !strings.HasPrefix(now, strings.TrimSuffix(strings.SplitAfter(text, "\n")[0], "\n")) {
				t.Errorf("the hook is %q", now)
			}
			u.git("hook", "run", "post-merge", "--", "0") // it is a script that runs
			removed := must.Get(u.open().Remove(t.Context()))(t)
			must.Equal(t, "changes", actions(removed), map[string]githook.Action{"post-merge": githook.Changed, "pre-commit": githook.Removed})
			must.Equal(t, "hook after removing", u.read(".git/hooks/post-merge"), text)
			if _, err := os.Lstat(filepath.Join(u.dir, ".git/hooks/pre-commit")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the file that was made is there: %v", err)
			}
		})
	}
}

func TestInstallingTwiceChangesNothingAndAgainFollowsWhatIsAsked(t *testing.T) {
	t.Parallel()
	u := newUser(t, "work")
	o := githook.Install{Folder: ".amber", PreCommit: true}
	install(u, o)
	before := u.read(".git/hooks/post-merge") + u.read(".git/hooks/pre-commit")
	want := map[string]githook.Action{"post-merge": githook.Unchanged, "pre-commit": githook.Unchanged}
	must.Equal(t, "changes", actions(install(u, o)), want)
	must.Equal(t, "hooks", u.read(".git/hooks/post-merge")+u.read(".git/hooks/pre-commit"), before)
	info, err := os.Stat(filepath.Join(u.dir, ".git/hooks/post-merge"))
	if err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}

	o = githook.Install{Folder: "team/.amber"}
	want = map[string]githook.Action{"post-merge": githook.Changed, "pre-commit": githook.Removed}
	must.Equal(t, "changes", actions(install(u, o)), want)
	must.Equal(t, "imports", strings.Count(u.read(".git/hooks/post-merge"), "sync import"), 1)
}

func TestWhatTheUserAddsToAFileOfOursStays(t *testing.T) {
	t.Parallel()
	u := newUser(t, "work")
	install(u, githook.Install{})
	u.put(".git/hooks/post-merge", u.read(".git/hooks/post-merge")+"echo mine\n", 0o755)
	must.Get(u.open().Remove(t.Context()))(t)
	must.Equal(t, "hook", u.read(".git/hooks/post-merge"), "#!/bin/sh\necho mine\n")
}

func TestAHookThatIsNoShellScriptIsRefusedAndStays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		mode       fs.FileMode
		want       string
	}{
		{"python", "#!/usr/bin/env python3\nprint()\n", 0o755, "not a shell script"},
		{"binary", "\x7fELF\x00\x01", 0o755, "not a shell script"},
		{"no first line", "echo mine\n", 0o755, "not a shell script"},
		{"a DOS script", "#!/bin/sh\r\necho mine\r\n", 0o755, "not a shell script"},
		{"empty", "", 0o755, "not a shell script"},
		{"too large", "#!/bin/sh\n" + strings.Repeat("#\n", 1<<20), 0o755, "not a shell script"},
		{"not executable", "#!/bin/sh\necho mine\n", 0o644, "not executable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, "work")
			u.put(".git/hooks/pre-commit", tt.text, tt.mode)
			_, err := u.open().Install(t.Context(), githook.Install{Binary: "/amber", Folder: ".amber", Upstream: "origin/main", PreCommit: true})
			if amber.KindOf(err) != amber.KindRefused || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want refused: %s", err, tt.want)
			}
			if hint := amber.HintOf(err); !strings.Contains(hint, "amber sync export --dir=.amber && git add -- .amber") {
				t.Errorf("the hint is %q", hint)
			}
			must.Equal(t, "the hook", u.read(".git/hooks/pre-commit"), tt.text)
			must.Is(t, "the other hook", must.Err(os.Lstat(filepath.Join(u.dir, ".git/hooks/post-merge"))), fs.ErrNotExist)
			must.Equal(t, "removing", actions(must.Get(u.open().Remove(t.Context()))(t))["pre-commit"], githook.Unchanged)
		})
	}
}

func TestALinkIsNotFollowed(t *testing.T) {
	t.Parallel()
	u := newUser(t, "work")
	target := u.put(filepath.Join(t.TempDir(), "shared"), "#!/bin/sh\n", 0o755)
	must.Do(t, errors.Join(os.MkdirAll(filepath.Join(u.dir, ".git/hooks"), 0o755), os.Symlink(target, filepath.Join(u.dir, ".git/hooks/post-merge"))))
	_, err := u.open().Install(t.Context(), githook.Install{Binary: "/amber", Folder: ".amber", Upstream: "origin/main"})
	if amber.KindOf(err) != amber.KindRefused {
		t.Errorf("got %v, want refused", err)
	}
}

func TestLinesThatSomebodyChangedAreNotGuessedAt(t *testing.T) {
	t.Parallel()
	u := newUser(t, "work")
	install(u, githook.Install{})
	text := strings.Replace(u.read(".git/hooks/post-merge"), "# <<< amber sync <<<\n", "", 1)
	u.put(".git/hooks/post-merge", text, 0o755)
	must.Fail(u.open().Remove(t.Context()))(t, "remove", amber.KindConflict)
	_, err := u.open().Install(t.Context(), githook.Install{Binary: "/amber", Folder: ".amber", Upstream: "origin/main"})
	must.Kind(t, "install", err, amber.KindConflict)
	must.Equal(t, "the hook", u.read(".git/hooks/post-merge"), text)
}

func TestHooksOfManyRepositoriesAreRefused(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	u := newUser(t, "work")
	u.git("config", "core.hooksPath", shared)
	_, err := u.open().Install(t.Context(), githook.Install{Binary: "/amber", Folder: ".amber", Upstream: "origin/main"})
	if amber.KindOf(err) != amber.KindRefused || !strings.Contains(amber.HintOf(err), "core.hooksPath") {
		t.Errorf("got %v, hint %q", err, amber.HintOf(err))
	}
	entries, err := os.ReadDir(shared)
	if err != nil || len(entries) != 0 {
		t.Errorf("there are %v, %v", entries, err)
	}

	u.git("config", "core.hooksPath", "tools/hooks")
	install(u, githook.Install{})
	if w := u.open(); !w.Shared() || w.HooksDir() != filepath.Join(u.dir, "tools/hooks") {
		t.Errorf("hooks in %s, shared %v", w.HooksDir(), w.Shared())
	}
	u.read("tools/hooks/post-merge")
}

func TestWhatCannotBePutIntoAScriptIsInvalid(t *testing.T) {
	t.Parallel()
	u := newUser(t, "work")
	good := githook.Install{Binary: "/amber", Folder: ".amber", Upstream: "origin/main"}
	for name, change := range map[string]func(*githook.Install){
		"no binary":        func(o *githook.Install) { o.Binary = "amber" },
		"no folder":        func(o *githook.Install) { o.Folder = "" },
		"outside":          func(o *githook.Install) { o.Folder = "../x" },
		"a line end":       func(o *githook.Install) { o.Folder = "a\n# <<< amber sync <<<" },
		"bytes":            func(o *githook.Install) { o.Globals = []string{"--home", "\xff"} },
		"no upstream":      func(o *githook.Install) { o.Upstream = "" },
		"an option of git": func(o *githook.Install) { o.Upstream = "--all" },
	} {
		o := good
		change(&o)
		must.Fail(u.open().Install(t.Context(), o))(t, name, amber.KindInvalid)
	}
}

func TestOutsideOfAWorkTreeIsNotFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, at := range map[string]string{"a plain folder": dir, "no folder": filepath.Join(dir, "absent")} {
		must.Fail(githook.Options{Environ: environ(t)}.Open(t.Context(), at))(t, name, amber.KindNotFound)
	}
	bare := user{t, dir, environ(t)}
	bare.git("init", "-q", "--bare", "b.git")
	must.Fail(githook.Options{Environ: environ(t)}.Open(t.Context(), filepath.Join(dir, "b.git")))(t, "bare", amber.KindNotFound)
	_, err := githook.Options{Environ: []string{"PATH=" + dir}}.Open(t.Context(), dir)
	if kind := amber.KindOf(err); kind != amber.KindNotFound && kind != amber.KindUnsupported {
		t.Errorf("without git in the path: got %v", err)
	}
}

// TestGitsOwnVariablesDoNotMislead opens a work tree as a hook of another one
// would.
func TestGitsOwnVariablesDoNotMislead(t *testing.T) {
	t.Parallel()
	u := newUser(t, "work")
	u.env = append(u.env, "GIT_DIR=/nonsense", "GIT_WORK_TREE=/nonsense", "GIT_INDEX_FILE=/nonsense", "GIT_COMMON_DIR=/nonsense")
	must.Equal(t, "top", u.open().Top(), u.dir)
}

func TestFolderIsInTheWorkTree(t *testing.T) {
	t.Parallel()
	u := newUser(t, "work")
	w := u.open()
	link := filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Symlink(u.dir, link))
	for path, want := range map[string]string{
		filepath.Join(u.dir, ".amber"): ".amber", filepath.Join(link, "a", ".amber"): "a/.amber", u.dir: ".",
	} {
		must.Equal(t, path, must.Get(w.Folder(path))(t), want)
	}
	must.Fail(w.Folder(t.TempDir()))(t, "", amber.KindInvalid)
}

// clone makes a second user of the same bare repository.
func clone(t *testing.T, from user) (second user) {
	t.Helper()
	bare := filepath.Join(filepath.Dir(from.dir), "team.git")
	from.git("clone", "-q", "--bare", ".", bare)
	from.git("remote", "add", "origin", bare)
	from.git("fetch", "-q", "origin")
	from.git("branch", "-q", "-u", "origin/main")
	second = user{t, filepath.Join(filepath.Dir(from.dir), "second work"), environ(t)}
	from.git("clone", "-q", bare, second.dir)
	return second
}

func TestUpstreamFilesAreThoseOfTheUpstreamBranchOnly(t *testing.T) {
	t.Parallel()
	ann := newUser(t, "ann")
	_, err := ann.open().UpstreamFiles(t.Context(), "", ".amber")
	if amber.KindOf(err) != amber.KindNotFound || !strings.Contains(amber.HintOf(err), "git push -u") {
		t.Errorf("without upstream: got %v, hint %q", err, amber.HintOf(err))
	}
	bob := clone(t, ann)
	ann.put(".amber/chunks/a b.zst", "1", 0o644)
	ann.put(".amber/chunks/ü\n.zst", "2", 0o644)
	ann.put(".amber2/no", "3", 0o644)
	ann.git("add", ".")
	ann.git("commit", "-q", "-m", "share")
	ann.git("push", "-q")
	bob.git("fetch", "-q")
	bob.put(".amber/chunks/mine", "4", 0o644)

	want := map[string]bool{"chunks/a b.zst": true, "chunks/ü\n.zst": true}
	for _, ref := range []string{"", "origin/main", "refs/remotes/origin/main"} {
		must.Equal(t, fmt.Sprintf("%q", ref), must.Get(bob.open().UpstreamFiles(t.Context(), ref, ".amber"))(t), want)
	}
	// Anybody may push a tag that is called like the branch.
	bob.git("checkout", "-q", "-b", "strange")
	bob.put(".amber/chunks/strange.zst", "5", 0o644)
	bob.git("add", ".")
	bob.git("commit", "-q", "-m", "strange")
	bob.git("tag", "origin/main")
	bob.git("checkout", "-q", "main")
	if got, err := bob.open().UpstreamFiles(t.Context(), "origin/main", ".amber"); err != nil || got["chunks/strange.zst"] || len(got) != 2 {
		t.Errorf("with a tag of the same name: %v, %v", got, err)
	}
	all, err := bob.open().UpstreamFiles(t.Context(), "", ".")
	if err != nil || !all["README"] || !all[".amber2/no"] || len(all) != 4 {
		t.Errorf("the whole tree: %v, %v", all, err)
	}
	must.Equal(t, "upstream", must.Get(bob.open().Upstream(t.Context()))(t), "refs/remotes/origin/main")
	must.Fail(bob.open().UpstreamFiles(t.Context(), "origin/absent", ".amber"))(t, "an absent branch", amber.KindNotFound)
	for _, ref := range []string{"--all", "main:README", "a..b", "main^", "a b"} {
		must.Fail(bob.open().UpstreamFiles(t.Context(), ref, ".amber"))(t, fmt.Sprintf("%q", ref), amber.KindInvalid)
	}
}

func TestAMergeImportsAndNeverFails(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"amber works": "exit 0",
		"amber fails": "echo report; echo 'amber: no' >&2; echo 'hint: x' >&2; exit 5",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ann := newUser(t, "ann")
			bob := clone(t, ann)
			program := fakeAmber(bob, body)
			bob.put(".git/hooks/post-merge", "#!/bin/sh -eu\necho \"user's own: $1\"\nexit 0\n", 0o755)
			install(bob, githook.Install{Binary: program, Folder: "it's/.amber", Globals: []string{"--home", "/a b/$HOME"}, Flags: []string{"--project", "x"}})

			ann.put("file", "1", 0o644)
			ann.git("add", "file")
			ann.git("commit", "-q", "-m", "more")
			ann.git("push", "-q")
			out := bob.git("pull", "-q", "--ff-only")
			want := []string{"--home|/a b/$HOME|sync|import|--dir=it's/.amber|--project|x|--upstream=refs/remotes/origin/main|--timeout=60s|--quiet|"}
			must.Equal(t, "calls", calls(t, program), want)
			if !strings.Contains(out, "user's own: 0") || strings.Contains(out, "report") || strings.Contains(out, "hint") {
				t.Errorf("the merge says %q", out)
			}
			must.Equal(t, "the merge says amber: no", strings.Contains(out, "amber: no"), name == "amber fails")
			// A stranger's branch is looked at, and nothing is imported.
			bob.git("checkout", "-q", "-b", "stranger")
			bob.git("checkout", "-q", "main")
			must.Equal(t, "calls of amber", len(calls(t, program)), 1)
		})
	}
}

func TestWithoutAmberAMergeGoesOn(t *testing.T) {
	t.Parallel()
	u := newUser(t, "work")
	install(u, githook.Install{Binary: "/nonsense/amber", PreCommit: true})
	u.put("file", "1", 0o644)
	u.git("add", "file")
	must.Equal(t, "what the commit says", u.git("commit", "-q", "-m", "more"), "")
}

// exporting is an Amber that writes one new chunk each time.
const exporting = `n=$(wc -l <"$0.log"); mkdir -p .amber/chunks && echo $n >.amber/chunks/$n`

func TestACommitTakesTheExportAlongAndNothingElse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		commit []string
		files  []string // in the commit
		calls  int
	}{
		{"what is staged", []string{"commit", "-q", "-m", "x"}, []string{".amber/chunks/1", "staged"}, 1},
		{"all", []string{"commit", "-q", "-a", "-m", "x"}, []string{".amber/chunks/1", "README", "staged"}, 1},
		{"named files", []string{"commit", "-q", "-m", "x", "README"}, []string{"README"}, 0},
		{"named files too", []string{"commit", "-q", "-m", "x", "-i", "README"}, []string{".amber/chunks/1", "README", "staged"}, 1},
		{"amended", []string{"commit", "-q", "--amend", "-m", "x"}, []string{".amber/chunks/1", "README", "staged"}, 1},
		{"without hooks", []string{"commit", "-q", "-n", "-m", "x"}, []string{"staged"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, "work")
			program := fakeAmber(u, exporting)
			install(u, githook.Install{Binary: program, PreCommit: true})
			u.put("README", "changed\n", 0o644)
			u.put("staged", "1", 0o644)
			u.git("add", "staged")
			u.put("untracked", "1", 0o644)
			u.git(tt.commit...)
			got := strings.Fields(u.git("diff-tree", "--root", "--no-commit-id", "--name-only", "-r", "HEAD"))
			slices.Sort(got)
			slices.Sort(tt.files)
			must.Equal(t, "in the commit", got, tt.files)
			must.Equal(t, "calls of amber", len(calls(t, program)), tt.calls)
			// The committed files are in the index, too: the next commit would delete them otherwise.
			must.Equal(t, "what the next commit deletes", u.git("diff", "--cached", "--name-only", "--diff-filter=D"), "")
		})
	}
}

func TestACommitNeverFailsBecauseOfAmber(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ body, says string }{
		"export fails":       {"echo 'amber: disk full' >&2; echo 'hint: x' >&2; exit 1", "amber: disk full\n"},
		"nothing to share":   {"exit 0", ""},
		"the folder ignored": {exporting + "; echo '*' >.gitignore", "The following paths are ignored by one of your .gitignore files:\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, "work")
			install(u, githook.Install{Binary: fakeAmber(u, tt.body), PreCommit: true})
			u.put("file", "1", 0o644)
			u.git("add", "file")
			must.Equal(t, "what the commit says", u.git("commit", "-q", "-m", "x"), tt.says)
			must.Equal(t, "files of the commit", strings.TrimSpace(u.git("diff-tree", "--no-commit-id", "--name-only", "-r", "HEAD")), "file")
		})
	}
}

func TestStatusTellsWhichHooksCallAmber(t *testing.T) {
	t.Parallel()
	u := newUser(t, "work")
	w := u.open()
	status := func() map[string]bool {
		all := must.Get(w.Status(t.Context()))(t)
		got := map[string]bool{}
		for _, s := range all {
			got[s.Hook] = s.Installed
		}
		return got
	}
	must.Equal(t, "before", status(), map[string]bool{"post-merge": false, "pre-commit": false})
	install(u, githook.Install{})
	must.Equal(t, "after", status(), map[string]bool{"post-merge": true, "pre-commit": false})
}
