package gitsync_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
)

var rounds = flag.Int("rounds", 2, "how many rounds of eight clones are merged by git")

// hub is a bare repository and the clones around it.
type hub struct {
	t         *testing.T
	dir       string
	clones    []*gitClone
	turns     chan struct{} // who merges now; a few at a time
	conflicts atomic.Int64
	rejected  atomic.Int64 // pushes that came too late
}

// gitClone is a clone in a work tree of git.
type gitClone struct {
	*clone
	hub  *hub
	n    int
	tree string
	r    *rand.Rand
}

// newHub makes a repository with one commit, and clones of it that know
// nothing of Amber yet.
func newHub(t *testing.T, clones int, seed uint64) *hub {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("git is part of what is tested, and is not there: ", err)
	}
	h := &hub{t: t, dir: fastDir(t), turns: make(chan struct{}, 2)}
	h.must(os.MkdirAll(filepath.Join(h.dir, "nobody"), 0o755))
	h.git(h.dir, "init", "-q", "--bare", "-b", "main", "hub.git")
	h.git(h.dir, "clone", "-q", "hub.git", "first")
	first := filepath.Join(h.dir, "first")
	h.must(os.WriteFile(filepath.Join(first, "README"), []byte("the shop\n"), 0o644))
	h.git(first, "add", "README")
	h.git(first, "commit", "-qm", "begin")
	h.git(first, "push", "-q", "origin", "HEAD:main")
	for n := range clones {
		dir := filepath.Join(h.dir, fmt.Sprint("clone", n))
		tree := filepath.Join(dir, "tree")
		h.git(h.dir, "clone", "-q", "hub.git", tree)
		c := &gitClone{clone: cloneAt(t, dir, gitsync.Options{Prompts: true}), hub: h, n: n, tree: tree, r: rand.New(rand.NewPCG(seed, uint64(n)))}
		h.clones = append(h.clones, c)
	}
	return h
}

func (h *hub) must(err error) {
	h.t.Helper()
	must.Do(h.t, err)
}

func (h *hub) git(dir string, args ...string) string {
	h.t.Helper()
	out, err := h.try(h.t.Context(), dir, args...)
	h.must(err)
	return out
}

// try runs git as a person without any settings would.
func (h *hub) try(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") }),
		"HOME="+filepath.Join(h.dir, "nobody"), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_MERGE_AUTOEDIT=no", "GIT_EDITOR=true", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("git %s in %s: %w: %s", strings.Join(args, " "), filepath.Base(filepath.Dir(dir)), err, out)
	}
	return string(out), err
}

// each runs fn for every clone at the same time.
func (h *hub) each(fn func(c *gitClone) error) {
	h.t.Helper()
	errs := make([]error, len(h.clones))
	var wg sync.WaitGroup
	for i, c := range h.clones {
		wg.Go(func() { errs[i] = fn(c) })
	}
	wg.Wait()
	h.must(errors.Join(errs...))
}

// git runs git in the work tree.
func (c *gitClone) git(args ...string) error {
	return must.Err(c.hub.try(c.t.Context(), c.tree, args...))
}

// merges runs a command that merges, and counts what it could not merge.
func (c *gitClone) merges(args ...string) error {
	err := c.git(args...)
	if err == nil {
		return nil
	}
	if strings.Contains(err.Error(), "CONFLICT") {
		c.hub.conflicts.Add(1)
	}
	return err
}

// commit commits what is in the folder, if there is anything new.
func (c *gitClone) commit(message string) error {
	if err := c.git("add", "-A"); err != nil {
		return err
	}
	if c.git("diff", "--cached", "--quiet") == nil {
		return nil
	}
	return c.git("commit", "-qm", message)
}

// pullAndPush repeats until no other clone pushed in between.
func (c *gitClone) pullAndPush(how string) error {
	c.hub.turns <- struct{}{}
	defer func() { <-c.hub.turns }()
	for {
		if err := c.merges("pull", "-q", how, "origin", "main"); err != nil {
			return err
		}
		err := c.git("push", "-q", "origin", "HEAD:main")
		if err == nil {
			return nil
		}
		if !strings.Contains(err.Error(), "rejected") && !strings.Contains(err.Error(), "failed to update ref") &&
			!strings.Contains(err.Error(), "cannot lock ref") {
			return err
		}
		c.hub.rejected.Add(1)
	}
}

// live writes, edits, deletes and erases a little.
func (c *gitClone) live(round int) error {
	ctx := c.t.Context()
	for i := range 1 + c.r.IntN(3) {
		text := fmt.Sprintf("clone %d, round %d, thought %d: %x", c.n, round, i, c.r.Uint64())
		req := amber.WriteRequest{Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: shop}, Content: text}
		if c.r.IntN(3) == 0 {
			req.Topic = fmt.Sprint("topic-", c.r.IntN(5))
		}
		if _, err := c.Write(ctx, req); err != nil {
			return err
		}
	}
	page, err := c.List(ctx, amber.ListQuery{All: true, Limit: amber.MaxPageSize})
	if err != nil {
		return err
	}
	for range c.r.IntN(3) {
		m := pick(c.r, page.Items)
		text := fmt.Sprintf("clone %d, round %d, second thought: %x", c.n, round, c.r.Uint64())
		if _, err := c.Edit(ctx, amber.EditRequest{ID: m.ID, Content: &text}); err != nil {
			return err
		}
	}
	m := pick(c.r, page.Items)
	switch c.r.IntN(20) {
	case 0, 1, 2:
		return c.Delete(ctx, m.ID)
	case 3:
		return must.Err(c.Erase(ctx, m.ID))
	}
	return nil
}

func (c *gitClone) exportNow() error {
	return must.Err(c.sync.Export(c.t.Context(), gitsync.ExportOptions{CreatedBy: fmt.Sprint("clone ", c.n)}))
}

func (c *gitClone) importNow() error {
	r, err := c.sync.Import(c.t.Context())
	if err == nil && len(r.Quarantined)+len(r.Missing) > 0 {
		err = fmt.Errorf("clone %d: quarantined %v, missing %v", c.n, r.Quarantined, r.Missing)
	}
	return err
}

func (c *gitClone) compactNow() error {
	return must.Err(c.sync.Compact(c.t.Context()))
}

// TestGitNeverConflicts lets eight clones export at once and merges them with git: by merging, by rebasing, and by
// branches that another clone merges; in some rounds two of them compact the same chunks.
func TestGitNeverConflicts(t *testing.T) {
	t.Parallel()
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	h := newHub(t, 8, s)
	r := rand.New(rand.NewPCG(s, 100))
	defer func() {
		if t.Failed() {
			t.Logf("%d conflicts; repeat with -seed %d", h.conflicts.Load(), s)
		}
	}()
	// Line ends of text files are made those of Windows in one of them.
	h.must(h.clones[7].git("config", "core.autocrlf", "true"))
	for round := range *rounds {
		h.round(round, r)
	}
	for range 2 {
		h.each(func(c *gitClone) error {
			return errors.Join(c.exportNow(), c.commit("settle"), c.pullAndPush("--no-rebase"))
		})
	}
	h.each(func(c *gitClone) error {
		return errors.Join(c.pullAndPush("--no-rebase"), c.importNow())
	})
	h.mustBeEqual()
	if n := h.conflicts.Load(); n > 0 {
		t.Errorf("%d conflicts", n)
	}
	t.Logf("%d rounds of %d clones: %d conflicts, %d pushes came too late, %d files, %d memories",
		*rounds, len(h.clones), h.conflicts.Load(), h.rejected.Load(), len(h.clones[0].chunkFiles()), len(h.clones[0].texts()))
}

func (h *hub) round(n int, r *rand.Rand) {
	h.t.Helper()
	compacts := map[int]bool{}
	if n%3 == 2 {
		compacts[r.IntN(len(h.clones))], compacts[r.IntN(len(h.clones))] = true, true
	}
	branches := n%4 == 3
	h.each(func(c *gitClone) error {
		if err := errors.Join(c.live(n), c.exportNow()); err != nil {
			return err
		}
		if compacts[c.n] {
			if err := c.compactNow(); err != nil {
				return err
			}
		}
		if branches {
			if err := c.git("checkout", "-q", "-b", c.branch(n)); err != nil {
				return err
			}
		}
		return c.commit(fmt.Sprintf("round %d", n))
	})
	switch {
	case branches:
		h.mergeBranches(n, r)
	case n%5 == 4:
		h.each(func(c *gitClone) error { return c.pullAndPush("--rebase") })
	default:
		h.each(func(c *gitClone) error { return c.pullAndPush("--no-rebase") })
	}
	h.each(func(c *gitClone) error {
		if c.r.IntN(4) == 0 {
			return nil // not every clone imports every time
		}
		return c.importNow()
	})
}

func (c *gitClone) branch(round int) string { return fmt.Sprintf("round-%d-clone-%d", round, c.n) }

// mergeBranches lets one of the clones merge the branches of all of them, as a person does who accepts requests.
func (h *hub) mergeBranches(n int, r *rand.Rand) {
	h.t.Helper()
	h.each(func(c *gitClone) error {
		return errors.Join(c.git("push", "-q", "origin", c.branch(n)), c.git("checkout", "-q", "main"))
	})
	by := pick(r, h.clones)
	h.must(by.git("fetch", "-q", "origin"))
	h.must(by.merges("merge", "-q", "origin/main"))
	for _, i := range r.Perm(len(h.clones)) {
		h.must(by.merges("merge", "-q", "--no-ff", "origin/"+h.clones[i].branch(n)))
	}
	h.must(by.git("push", "-q", "origin", "HEAD:main"))
	h.each(func(c *gitClone) error { return c.merges("pull", "-q", "--no-rebase", "origin", "main") })
}

// mustBeEqual checks that every clone has the same memories and files, that
// nothing is left to commit, and that git finds nothing wrong.
func (h *hub) mustBeEqual() {
	h.t.Helper()
	want := h.clones[0]
	for _, c := range h.clones {
		must.Equal(h.t, fmt.Sprint("texts of clone ", c.n), c.texts(), want.texts())
		must.Equal(h.t, fmt.Sprint("files of clone ", c.n), c.files(), want.files())
		must.Equal(h.t, fmt.Sprint("what is to commit in clone ", c.n), h.git(c.tree, "status", "--porcelain"), "")
		if st := c.status(); st.PendingExport+st.PendingImport != 0 || len(st.Quarantined)+len(st.Missing) > 0 {
			h.t.Errorf("the status of clone %d: %+v", c.n, st)
		}
	}
	h.git(filepath.Join(h.dir, "hub.git"), "fsck", "--full", "--strict")
	for _, name := range strings.Fields(h.git(want.tree, "ls-files", ".amber")) {
		if !strings.HasPrefix(name, ".amber/chunks/") && name != ".amber/.gitattributes" && name != ".amber/.gitignore" {
			h.t.Errorf("git has %s", name)
		}
	}
}
