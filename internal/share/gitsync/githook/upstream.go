package githook

import (
	"cmp"
	"context"
	"path"
	"strings"

	"github.com/amber-memory/amber"
)

// Upstream returns the whole name of the branch that the current one tracks, as
// in refs/remotes/origin/main. Errors: not_found when there is none.
func (w *Worktree) Upstream(ctx context.Context) (string, error) {
	ref, err := line(ctx, w.env, w.top, "rev-parse", "--symbolic-full-name", TrackedBranch)
	if err != nil {
		return "", noUpstream(err, TrackedBranch)
	}
	return ref, nil
}

// Ref returns the whole name of a branch, as in refs/remotes/origin/main for
// origin/main. Errors: invalid when it is no branch; not_found.
func (w *Worktree) Ref(ctx context.Context, name string) (string, error) {
	if _, err := w.Commit(ctx, name); err != nil {
		return "", err
	}
	var ref string
	var err error
	for _, whole := range branchNames(name) {
		if ref, err = line(ctx, w.env, w.top, "rev-parse", "--symbolic-full-name", whole); err == nil {
			break
		}
	}
	if err == nil && !strings.HasPrefix(ref, "refs/") {
		err = amber.Errorf(amber.KindInvalid, "find upstream branch", name, "want the name of a branch")
	}
	return ref, err
}

// Commit returns the id of the commit that a branch is at; "" is the upstream
// branch of the current one. Errors: invalid; not_found.
func (w *Worktree) Commit(ctx context.Context, ref string) (string, error) {
	ref = cmp.Or(ref, TrackedBranch)
	if err := checkRef(ref); err != nil {
		return "", err
	}
	var err error
	for _, name := range branchNames(ref) {
		var id string
		if id, err = line(ctx, w.env, w.top, "rev-parse", "--verify", name+"^{commit}"); err == nil {
			return id, nil
		}
	}
	return "", noUpstream(err, ref)
}

// branchNames returns the whole names that a short one may mean. Git would take a tag first, and any person who can
// push may push a tag called origin/main.
func branchNames(ref string) []string {
	if ref == TrackedBranch || strings.HasPrefix(ref, "refs/") {
		return []string{ref}
	}
	return []string{"refs/remotes/" + ref, "refs/heads/" + ref}
}

// TrackedBranch is git's name of the branch that the current one tracks.
const TrackedBranch = "@{upstream}"

// noUpstream tells why a branch cannot be read.
func noUpstream(err error, ref string) error {
	text, ok := said(err)
	if !ok {
		return err
	}
	e := amber.Errorf(amber.KindNotFound, "find upstream branch", ref, "git says: %s", text)
	if ref == TrackedBranch {
		e = amber.Errorf(amber.KindNotFound, "find upstream branch", "", "the current branch tracks no other branch: %s", text)
		e.Hint = "git push -u origin HEAD, or name the branch: --upstream=origin/main"
	}
	return e
}

// UpstreamFiles returns the files below a folder, which is relative to the top,
// that a commit holds, relative to the folder. A ref of "" is the upstream branch
// of the current one. Errors: invalid; not_found when there is no such branch.
func (w *Worktree) UpstreamFiles(ctx context.Context, ref, folder string) (map[string]bool, error) {
	commit, err := w.Commit(ctx, ref)
	if err != nil {
		return nil, err
	}
	args := []string{"ls-tree", "-r", "-z", "--name-only", commit}
	if folder = path.Clean(folder); folder != "." {
		args = append(args, "--", folder+"/")
	}
	out, err := git(ctx, w.env, w.top, args...)
	if err != nil {
		return nil, err
	}
	files := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if folder != "." {
			var below bool
			if name, below = strings.CutPrefix(name, folder+"/"); !below {
				continue
			}
		}
		if name != "" {
			files[name] = true
		}
	}
	return files, nil
}

// UpstreamOnly returns a filter that lets the files of a folder through that a
// branch holds; nil, which lets all through, for the branch "". Errors: those of
// [Options.OpenAt] and [Worktree.UpstreamFiles].
func (o Options) UpstreamOnly(ctx context.Context, dir, ref string) (func(file string) bool, error) {
	if ref == "" {
		return nil, nil
	}
	tree, err := o.OpenAt(ctx, dir)
	if err != nil {
		return nil, err
	}
	folder, err := tree.Folder(dir)
	if err != nil {
		return nil, err
	}
	files, err := tree.UpstreamFiles(ctx, ref, folder)
	return func(file string) bool { return files[file] }, err
}

// checkRef refuses what git would take for an option or for more than one name.
func checkRef(ref string) error {
	if strings.HasPrefix(ref, "-") || strings.ContainsAny(ref, " \t\r\n\x00:^~?*[\\") || strings.Contains(ref, "..") {
		return amber.Errorf(amber.KindInvalid, "find upstream branch", "", "want the name of a branch")
	}
	return nil
}
