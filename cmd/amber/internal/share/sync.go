package share

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/capture/project"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/share/gitsync/githook"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

func (a *app) syncCommand() *cobra.Command {
	var f syncFlags
	c := cli.Family("sync",
		a.syncExportCommand(&f), a.syncImportCommand(&f), a.syncStatusCommand(&f), a.syncVerifyCommand(&f),
		a.syncCompactCommand(&f), a.syncRepairCommand(&f), a.syncWatchCommand(&f), a.syncHookCommand(&f))
	fl := c.PersistentFlags()
	fl.StringVar(&f.dir, "dir", "", "the folder itself (default .amber, or .engram, at the top of the git work tree)")
	fl.StringVar(&f.format, "format", "", "amber or engram (default by the name of the folder)")
	return c
}

// syncFlags say which folder is synced.
type syncFlags struct{ dir, format string }

// syncDir returns the folder: the one that was named, or the usual one at the top
// of the work tree, or in the working directory outside of one.
func (a *app) syncDir(cmd *cobra.Command, f *syncFlags) (string, error) {
	if cmd.Flags().Changed("dir") && f.dir == "" {
		return "", cli.Usage("--dir is empty")
	}
	format := wire.SyncFormat(f.format)
	if f.format != "" && format != wire.SyncAmber && format != wire.SyncEngram {
		return "", cli.Usage("--format is amber or engram, not %q", f.format)
	}
	if f.dir != "" {
		return a.Absolute(f.dir)
	}
	dir, err := a.Absolute(".")
	if err != nil {
		return "", err
	}
	if top, ok := project.WorkTree(dir); ok {
		dir = top
	}
	return gitsync.DefaultFolder(dir, format), nil
}

// withFolder opens the store and finds the folder.
func (a *app) withFolder(cmd *cobra.Command, f *syncFlags, fn func(ctx context.Context, s *cli.Opened, dir string) error) error {
	dir, err := a.syncDir(cmd, f)
	if err != nil {
		return err
	}
	return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
		// A repository has its project before its records come, or it would have to ask for them.
		a.Project(ctx, filepath.Dir(dir))
		return fn(ctx, s, dir)
	})
}

// withSync opens the store and the folder. A verb that rewrites chunks signs those
// again that this home has signed before.
func (a *app) withSync(cmd *cobra.Command, f *syncFlags, rewrites bool, fn func(ctx context.Context, g *gitsync.Sync) error) error {
	return a.withFolder(cmd, f, func(ctx context.Context, s *cli.Opened, dir string) error {
		o := gitsync.Options{RequireSigned: s.Config.Config.Sync.RequireSigned, Prompts: s.Config.Config.Sync.Prompts}
		if rewrites {
			signer, err := a.Ring(s.Home).Signer(ctx)
			if err != nil && amber.KindOf(err) != amber.KindNotFound {
				return err
			}
			if err == nil {
				o.Signer = signer
			}
		}
		g, err := a.syncOptions(ctx, s, f, o).Open(s.Store, dir)
		if err != nil {
			return err
		}
		return fn(ctx, g)
	})
}

// syncOptions are o with what the flags and the home say. Signatures count as the
// ring of the home says.
func (a *app) syncOptions(ctx context.Context, s *cli.Opened, f *syncFlags, o gitsync.Options) gitsync.Options {
	o.Format, o.Trust, o.Redact = wire.SyncFormat(f.format), a.Ring(s.Home), s.Config.Config.Redactor()
	if dir, err := a.Absolute("."); err == nil {
		o.Project = a.Project(ctx, dir).ID
	}
	return o
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
		return "", cli.Usage("--project and --all exclude each other")
	case given && f.project == "":
		return "", cli.Usage("--project is empty")
	case given:
		return f.project, amber.CheckID("project id", f.project)
	case f.all:
		return "", nil
	}
	dir, err := a.Absolute(".")
	if err != nil {
		return "", err
	}
	return a.Project(cmd.Context(), dir).ID, nil
}

// noteNameless warns about a repository that is named after its path: it has another
// name on another machine, where its memories would not be found.
func (a *app) noteNameless(cmd *cobra.Command, f projectFlags) {
	dir, err := a.Absolute(".")
	if f.all || cmd.Flags().Changed("project") || err != nil || a.Project(cmd.Context(), dir).Source != project.Path {
		return
	}
	a.Out.Note("this repository has no name that is the same on other machines; give it one: amber project set NAME")
}

// author returns who exports: the flag, the user, the machine.
func (a *app) author(cmd *cobra.Command, flag string) (string, error) {
	if cmd.Flags().Changed("created-by") {
		return flag, amber.CheckID("created-by", flag)
	}
	host, _ := os.Hostname() // "" is not valid below
	for _, name := range []string{a.Getenv("USER"), a.Getenv("USERNAME"), host} {
		if amber.CheckID("created-by", name) == nil {
			return name, nil
		}
	}
	return "unknown", nil
}

// signer returns the key of the home, and makes it when there is none; nil when
// nothing is to be signed.
func (a *app) signer(ctx context.Context, s *cli.Opened, sign bool) (sign.Signer, error) {
	if !sign {
		return nil, nil
	}
	signer, created, err := a.Ring(s.Home).Make(ctx)
	if created {
		a.Out.Note("made a signing key: %s", signer.KeyID())
	}
	return signer, err
}

// addTimeoutFlag is for verbs that hooks run.
func addTimeoutFlag(cmd *cobra.Command, timeout *time.Duration) {
	cli.SpanVar(cmd.Flags(), timeout, "timeout", 0, "give up after this time (default never)")
}

// limited bounds a command by the flag.
func limited(cmd *cobra.Command, timeout time.Duration) (stop func(), err error) {
	if timeout < 0 {
		return nil, cli.Usage("--timeout is %s, want more than 0", timeout)
	}
	if timeout == 0 {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
	cmd.SetContext(ctx)
	return cancel, nil
}

func addUpstreamFlag(cmd *cobra.Command, ref *string, usage string) {
	cmd.Flags().StringVar(ref, "upstream", "", usage)
	cmd.Flags().Lookup("upstream").NoOptDefVal = githook.TrackedBranch
}
