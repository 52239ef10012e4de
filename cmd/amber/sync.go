package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/gitsync"
	"github.com/amber-memory/amber/gitsync/githook"
	"github.com/amber-memory/amber/internal/project"
)

func (a *app) syncCommand() *cobra.Command {
	var f syncFlags
	c := family("sync", "Share memory through a folder in a git repository",
		a.syncExportCommand(&f), a.syncImportCommand(&f), a.syncStatusCommand(&f), a.syncVerifyCommand(&f),
		a.syncCompactCommand(&f), a.syncRepairCommand(&f), a.syncWatchCommand(&f), a.syncHookCommand(&f))
	c.Long = `Share memory through a folder that is committed to git like any other: .amber at the top of the
work tree. Export writes what is new to it, import takes in what others wrote; in between it is
git that carries the files, and they never conflict.

  amber sync export && git add .amber && git commit -m "share memory"
  git push; git pull
  amber sync import

Memories of scope user, what stands between <private> tags, and deleted text never leave, and
secrets are taken out unless export.redact is false. docs/sync.md tells how a team uses it.

With --format engram the folder is .engram, in the form that Engram reads and writes.`
	fl := c.PersistentFlags()
	fl.StringVar(&f.dir, "dir", "", "the folder itself (default .amber, or .engram, at the top of the git work tree)")
	fl.StringVar(&f.format, "format", "", "amber or engram (default by the name of the folder)")
	return c
}

// syncFlags say which folder is synced.
type syncFlags struct{ dir, format string }

// check refuses flags that say nothing.
func (f *syncFlags) check(cmd *cobra.Command) error {
	if cmd.Flags().Changed("dir") && f.dir == "" {
		return usage("--dir is empty")
	}
	switch amber.SyncFormat(f.format) {
	case "", amber.SyncAmber, amber.SyncEngram:
		return nil
	}
	return usage("--format is amber or engram, not %q", f.format)
}

// The folders that are meant when none is named.
const (
	amberFolder  = ".amber"
	engramFolder = ".engram"
	projectFile  = "project" // in .amber: the name of the project, see amber project
)

// syncDir returns the folder: the one that was named, or the usual one at the
// top of the work tree, or in the working directory outside of one.
func (a *app) syncDir(f *syncFlags) (string, error) {
	if f.dir != "" {
		return a.absolute(f.dir)
	}
	dir, err := a.absolute(".")
	if err != nil {
		return "", err
	}
	if top, ok := project.WorkTree(dir); ok {
		dir = top
	}
	if amber.SyncFormat(f.format) == amber.SyncEngram {
		return filepath.Join(dir, engramFolder), nil
	}
	return filepath.Join(dir, amberFolder), nil
}

// withFolder opens the store and finds the folder.
func (a *app) withFolder(cmd *cobra.Command, f *syncFlags, fn func(ctx context.Context, s *opened, dir string) error) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	dir, err := a.syncDir(f)
	if err != nil {
		return err
	}
	return a.withStore(cmd, func(ctx context.Context, s *opened) error { return fn(ctx, s, dir) })
}

// withSync is withFolder for a verb that needs nothing but the two. One that
// rewrites chunks signs those again that this home has signed before.
func (a *app) withSync(cmd *cobra.Command, f *syncFlags, rewrites bool, fn func(ctx context.Context, g *gitsync.Sync) error) error {
	return a.withFolder(cmd, f, func(ctx context.Context, s *opened, dir string) error {
		o := gitsync.Options{RequireSigned: s.config.Config.Sync.RequireSigned, Prompts: s.config.Config.Sync.Prompts}
		if rewrites {
			signer, err := a.ring(s.home).Signer(ctx)
			if err != nil && amber.KindOf(err) != amber.KindNotFound {
				return err
			}
			if err == nil {
				o.Signer = signer
			}
		}
		g, err := a.openSync(s, f, o, dir)
		if err != nil {
			return err
		}
		return fn(ctx, g)
	})
}

// openSync ties the store to a folder. Whose signatures count is what the ring
// of the home says.
func (a *app) openSync(s *opened, f *syncFlags, o gitsync.Options, dir string) (*gitsync.Sync, error) {
	o.Format, o.Trust, o.Redact = amber.SyncFormat(f.format), a.ring(s.home), s.config.Config.Redactor()
	if info, err := os.Stat(dir); err == nil && info.Mode().IsRegular() && o.Format == "" {
		o.Format = amber.SyncEngram // a backup of Engram is the one file that is known
	}
	return o.Open(s.Store, dir)
}

// isEngram reports whether the flags mean a folder of Engram.
func (f *syncFlags) isEngram(dir string) bool {
	return f.format == string(amber.SyncEngram) || f.format == "" && filepath.Base(dir) == engramFolder
}

// projectFlags say whose records are exported.
type projectFlags struct {
	project string
	all     bool
}

func (f *projectFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.project, "project", "", "records of this project (default that of the git repository of the working directory; outside of one, all)")
	cmd.Flags().BoolVar(&f.all, "all", false, "records of every project")
}

// exportProject returns the project to export: the one that is named, or that
// of the git repository of the working directory. "" is every project, also
// outside of a repository, where memories belong to none.
func (a *app) exportProject(cmd *cobra.Command, f projectFlags) (string, error) {
	given := cmd.Flags().Changed("project")
	switch {
	case given && f.all:
		return "", usage("--project and --all do not go together")
	case given && f.project == "":
		return "", usage("--project is empty")
	case given:
		return f.project, amber.CheckID("project id", f.project)
	case f.all:
		return "", nil
	}
	dir, err := a.absolute(".")
	if err != nil {
		return "", err
	}
	return projectOf(dir), nil
}

// noteNameless tells somebody who exports a repository that is called by where
// it lies: on another machine it is called otherwise, and what is exported
// would be found by nobody there.
func (a *app) noteNameless(cmd *cobra.Command, f projectFlags) {
	dir, err := a.absolute(".")
	if f.all || cmd.Flags().Changed("project") || err != nil || project.Of(dir).Source != project.Path {
		return
	}
	a.out.note("this repository has no name that others would know it by; give it one: amber project set NAME")
}

// author returns who exports: the flag, the user, the machine.
func (a *app) author(cmd *cobra.Command, flag string) (string, error) {
	if cmd.Flags().Changed("created-by") {
		return flag, amber.CheckID("created-by", flag)
	}
	host, _ := os.Hostname() // without a name it is the next one
	for _, name := range []string{a.getenv("USER"), a.getenv("USERNAME"), host} {
		if amber.CheckID("created-by", name) == nil {
			return name, nil
		}
	}
	return "unknown", nil
}

// signer returns the key that signs what is exported to a folder, which is made
// when there is none; nil when it is not signed.
func (a *app) signer(ctx context.Context, s *opened, sign bool) (amber.Signer, error) {
	if !sign {
		return nil, nil
	}
	signer, created, err := a.ring(s.home).Make(ctx)
	if created {
		a.out.note("made a signing key: %s", signer.KeyID())
	}
	return signer, err
}

// addTimeoutFlag is for verbs that hooks run.
func addTimeoutFlag(cmd *cobra.Command, timeout *time.Duration) {
	cmd.Flags().DurationVar(timeout, "timeout", 0, "give up after this time (default never)")
}

// limited bounds a command by the flag.
func limited(cmd *cobra.Command, timeout time.Duration) (stop func(), err error) {
	if timeout < 0 {
		return nil, usage("--timeout is %s; it must be more than 0", timeout)
	}
	if timeout == 0 {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
	cmd.SetContext(ctx)
	return cancel, nil
}

// trackedBranch is the value of --upstream without one: what the current branch
// tracks.
const trackedBranch = "@{upstream}"

func addUpstreamFlag(cmd *cobra.Command, ref *string, usage string) {
	cmd.Flags().StringVar(ref, "upstream", "", usage)
	cmd.Flags().Lookup("upstream").NoOptDefVal = trackedBranch
}

// workTree opens the git work tree that a folder for sync is in.
func (a *app) workTree(ctx context.Context, dir string) (*githook.Worktree, error) {
	if !isFolder(dir) {
		dir = filepath.Dir(dir)
	}
	return githook.Options{Environ: a.environ}.Open(ctx, dir)
}

// upstreamOnly returns what lets only files through that a branch holds; nil
// without a branch.
func (a *app) upstreamOnly(ctx context.Context, dir, ref string) (func(string) bool, error) {
	if ref == "" {
		return nil, nil
	}
	if ref == trackedBranch {
		ref = ""
	}
	tree, err := a.workTree(ctx, dir)
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
