package main

import (
	"bytes"
	"cmp"
	"context"
	"os/exec"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/capture"
	"github.com/amber-memory/amber/cmd/amber/internal/care"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/memory"
	"github.com/amber-memory/amber/cmd/amber/internal/tui"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
	"github.com/amber-memory/amber/internal/capture/project"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/wire"
)

func (a *app) tuiCommand() *cobra.Command {
	return cli.Verb("tui", func(cmd *cobra.Command, _ []string) error {
		if !a.Terminal() || a.Global.JSON {
			return amber.Errorf(amber.KindInvalid, "show terminal UI", "", "standard input and output are not a terminal, or --json is given").
				WithHint("amber list, or amber help for the other commands")
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error { return a.tui(ctx, cmd, s) })
	})
}

// tui shows an agent. A remark that is made meanwhile would be drawn into a frame, so tui prints remarks at the
// end.
func (a *app) tui(ctx context.Context, cmd *cobra.Command, s *cli.Opened) error {
	src, err := a.tuiSource(ctx, cmd, s)
	if err != nil {
		return err
	}
	aside := &asideBuffer{}
	was := a.Out
	a.Out.Err = aside
	defer func() {
		a.Out = was
		aside.tell(was)
	}()
	return tui.Run(ctx, src, window.Outside{Clock: a.Clock}, tui.Terminal{In: a.Stdin, Out: a.Stdout, Environ: a.Environ, Plain: a.Global.NoColor})
}

// maxAside bounds the remarks that are printed at the end.
const maxAside = 16 << 10

// asideBuffer keeps remarks while frames are drawn.
type asideBuffer struct {
	mu   sync.Mutex // guards what follows
	kept bytes.Buffer
}

func (b *asideBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept.Write(p[:min(len(p), max(maxAside-b.kept.Len(), 0))])
	return len(p), nil
}

func (b *asideBuffer) tell(p cli.Printer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !p.Quiet {
		_, _ = b.kept.WriteTo(p.Err) // like every remark: the error has no other reader
	}
}

// tuiSource is the agent of the flags, for the screens.
func (a *app) tuiSource(ctx context.Context, cmd *cobra.Command, s *cli.Opened) (tui.Source, error) {
	self, err := a.Executable()
	if err != nil {
		return tui.Source{}, err
	}
	same, err := a.SameAgent(cmd)
	if err != nil {
		return tui.Source{}, err
	}
	src := tui.Source{
		Tenant: s.TenantID(), Agent: s.AgentID(), Store: s.Store, By: a.Writer().Asks(wire.Asker{}),
		Actor:   cmp.Or(a.Getenv("USER"), a.Getenv("USERNAME"), "tui"),
		Context: a.Site(s).Context,
		Doctor:  func(context.Context) (wire.Checkup, error) { return care.Checkup(cmd, a.App, false) },
		Verbs:   tuiVerbs(cmd.Root()),
		Process: func(ctx context.Context, args []string) *exec.Cmd {
			run := exec.CommandContext(ctx, self, append(append([]string{"--no-color"}, same...), args...)...)
			run.Env = a.Environ
			return run
		},
		Desk: tui.Files{Getenv: a.Getenv, LookPath: a.LookPath},
	}
	if src.Identities, err = a.Identities(ctx, s, cli.IdentityFlags{}); err != nil {
		return src, err
	}
	if src.Folder, err = a.tuiFolder(ctx, s); err != nil {
		return src, err
	}
	if leave, why := a.Everything(s); why == "" {
		src.Ask = func(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
			return s.Store.Everything.Ask(ctx, q, leave)
		}
	}
	if s.Remote != nil {
		a.tuiRemote(&src, s)
		return src, nil
	}
	return src, a.tuiLocal(&src, s)
}

// tuiFolder is the working directory.
func (a *app) tuiFolder(ctx context.Context, s *cli.Opened) (tui.Folder, error) {
	dir, err := a.Absolute(".")
	if err != nil {
		return tui.Folder{}, err
	}
	has := a.Project(ctx, dir)
	quiet := func(string, ...any) {} // the screen is not for lines
	return tui.Folder{Grant: has, Trust: func(ctx context.Context) (project.Grant, error) {
		return memory.TrustFolder(ctx, a.App, s, dir, has.Asks, quiet)
	}}, nil
}

// tuiRemote fills in what a server does.
func (a *app) tuiRemote(src *tui.Source, s *cli.Opened) {
	src.Place = "at " + s.Remote.Address
	src.Held = s.Remote.Agent
	src.Snapshots = func(ctx context.Context) (tui.Snapshots, error) { return a.Snapshots(ctx, s) }
	src.Sync = func(ctx context.Context) (amber.SyncReport, error) { return s.Remote.Agent.SyncReport(ctx, "") }
}

// tuiLocal fills in what an agent of this machine does.
func (a *app) tuiLocal(src *tui.Source, s *cli.Opened) error {
	place, err := a.syncPlace(s)
	if err != nil {
		return err
	}
	src.Place = "in " + s.Home.Dir()
	src.Held = capture.OwnQuarantine{Agent: s.Local}
	src.Snapshots = func(ctx context.Context) (tui.Snapshots, error) {
		engine, err := s.Local.Snapshots(ctx)
		return ownSnapshots{engine, s.Local}, err
	}
	src.Sync = func(ctx context.Context) (amber.SyncReport, error) { return s.Store.Sync.SyncReport(ctx, place) }
	src.BringBack = func(ctx context.Context, then amber.Memory) (amber.Memory, error) {
		back, err := s.Local.BringBack(ctx, "", then, false)
		return back.Memory, err
	}
	src.Written = func(ctx context.Context) { s.Local.SyncWithin(ctx, cli.WriteBudget) }
	return nil
}

// syncPlace is the folder that amber sync would use here, there or not.
func (a *app) syncPlace(s *cli.Opened) (string, error) {
	dir, err := a.Absolute(".")
	if err != nil {
		return "", err
	}
	if top, ok := project.WorkTree(dir); ok {
		dir = top
	}
	folder, err := gitsync.Open(s.Store, gitsync.DefaultFolder(dir, wire.SyncAmber))
	if err != nil {
		return "", nil // the folder is a link: sync says so, and nothing was imported from there
	}
	return folder.Dir(), nil
}

// ownSnapshots restores as the configuration says.
type ownSnapshots struct {
	agent.Snapshots
	local *agent.Agent
}

func (o ownSnapshots) Restore(ctx context.Context, r wire.RestoreRequest) (wire.RestoreReport, error) {
	return o.local.Restore(ctx, r)
}

// tuiVerbs lists every command for completion.
func tuiVerbs(root *cobra.Command) (list []tui.Verb) {
	var visit func(c *cobra.Command, words string)
	visit = func(c *cobra.Command, words string) {
		if c.Hidden || c.Name() == "tui" {
			return
		}
		if words != "" {
			v := tui.Verb{Words: words, Short: c.Short}
			add := func(f *pflag.Flag) {
				if !f.Hidden {
					v.Flags = append(v.Flags, "--"+f.Name)
				}
			}
			c.LocalFlags().VisitAll(add)
			c.InheritedFlags().VisitAll(add)
			list = append(list, v)
			words += " "
		}
		for _, below := range c.Commands() {
			visit(below, words+below.Name())
		}
	}
	visit(root, "")
	return list
}
