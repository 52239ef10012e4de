package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/intake"
	"github.com/amber-memory/amber/notes"
	"github.com/amber-memory/amber/snapshot"
	"github.com/amber-memory/amber/store/sqlite"
)

// app is one run of the command.
type app struct {
	world
	global globals
	out    printer
	meter  meter // how far the engine of snapshots is
	access access
	remote *remote // that the verb works on; nil: a home of this machine
	// publisher is told what happens to snapshots and notes; nil: nobody is.
	publisher amber.Publisher
	aside     asideNotes
	// ctx ends when the run is told to stop; that of a hook does not.
	ctx      context.Context
	pumped   *interruptible // stdin, once a verb has read of it
	toldHome bool           // the user was told where a relative home is
	// closers let go what was opened on the way, when the command is over.
	closers []func() error
	// explainDrain makes a drain tell what the policy decided.
	explainDrain bool
}

// globals are the flags every command takes.
type globals struct {
	home, config, tenant, agent string
	remote, tokenFile, remoteCA string
	json, quiet, noColor        bool
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, w world) int {
	a := &app{world: w, ctx: ctx}
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(w.stdin)
	root.SetOut(w.stdout)
	root.SetErr(w.stderr)
	if isHook(root, args) {
		a.ctx = context.WithoutCancel(ctx)
		return a.runHook(ctx, root)
	}
	ran, err := root.ExecuteContextC(ctx)
	err = errors.Join(err, a.close())
	if err == nil {
		return 0
	}
	return a.fail(helpfully(err, ran), args)
}

// getenv reads one variable; the last assignment wins, as in a shell.
func (a *app) getenv(name string) string {
	value := ""
	for _, kv := range a.environ {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			value = v
		}
	}
	return value
}

// homeDir returns the folder of the home: the flag, the environment, the
// user's data folder.
func (a *app) homeDir() (string, error) {
	dir, from := a.global.home, "--home"
	if dir == "" {
		dir, from = a.getenv("AMBER_HOME"), "AMBER_HOME"
	}
	if dir == "" {
		data := a.getenv("XDG_DATA_HOME")
		from = "XDG_DATA_HOME"
		if data == "" {
			from = "HOME"
			user := a.getenv("HOME")
			if user == "" {
				e := amber.Errorf(amber.KindInvalid, "find home", "", "neither --home, $AMBER_HOME, $XDG_DATA_HOME nor $HOME is set")
				return "", e
			}
			data = filepath.Join(user, ".local", "share")
		}
		dir = filepath.Join(data, "amber")
	}
	whole, err := a.absolute(dir)
	if err == nil && !filepath.IsAbs(dir) && from != "--home" && !a.toldHome {
		a.toldHome = true // it is another folder wherever the command runs
		a.out.note("%s is relative; the home is %s", from, whole)
	}
	return whole, err
}

// absolute makes a path of the command line absolute.
func (a *app) absolute(path string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	wd, err := a.directory()
	if err != nil {
		return "", &amber.Error{Op: "find working directory", Kind: amber.KindInternal, Err: err}
	}
	return filepath.Join(wd, path), nil
}

// loadConfig reads the configuration.
func (a *app) loadConfig() (config.Loaded, error) {
	in, err := a.configInput()
	if err != nil {
		return config.Loaded{}, err
	}
	return patiently(a.untilStopped(), "read configuration", func() (config.Loaded, error) { return config.Load(in) })
}

// configInput is where the configuration comes from.
func (a *app) configInput() (config.Input, error) {
	in := config.Input{Path: config.DefaultPath(a.getenv), Environ: a.environ}
	if a.global.config == "" {
		return in, nil
	}
	path, err := a.absolute(a.global.config)
	in.Path, in.Explicit = path, true
	return in, err
}

// openHome opens the home, says so when it made it, and returns the agent the
// flags name.
func (a *app) openHome() (*home.Home, *home.Agent, error) {
	tenant, err := amber.ParseTenantID(a.global.tenant)
	if err != nil {
		return nil, nil, err
	}
	id, err := amber.ParseAgentID(a.global.agent)
	if err != nil {
		return nil, nil, err
	}
	dir, err := a.homeDir()
	if err != nil {
		return nil, nil, err
	}
	if err := sqlite.CheckHome(dir, tenant, id); err != nil {
		return nil, nil, err
	}
	h, created, err := home.Open(dir, home.Options{Clock: a.clock, Random: a.random})
	if err != nil {
		return nil, nil, err
	}
	if created {
		a.out.note("made a new home in %s", dir)
	}
	agent, err := h.Agent(tenant, id)
	return h, agent, err
}

// opened is everything a verb works with.
type opened struct {
	config.Resolved
	config config.Loaded
	home   *home.Home    // nil when the agent is served elsewhere, as is agent
	agent  *home.Agent   // whoever only wants its ids asks tenantID and agentID
	remote *remote       // where the agent is served; nil: here
	sqlite *sqlite.Store // nil when no layer is on SQLite
	notes  *notes.Dir    // nil when notes are elsewhere
	look   bool          // nothing is made or migrated
}

// tenantID is the tenant of the agent.
func (s *opened) tenantID() amber.TenantID {
	if s.remote != nil {
		return s.remote.tenant
	}
	return s.agent.Tenant()
}

// agentID is the agent.
func (s *opened) agentID() amber.AgentID {
	if s.remote != nil {
		return s.remote.id
	}
	return s.agent.ID()
}

// withStore opens the store, runs fn and closes it. Every verb that touches
// memory is such an fn.
func (a *app) withStore(cmd *cobra.Command, fn func(ctx context.Context, s *opened) error) error {
	ctx := cmd.Context()
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	ctx, taken := intake.WithReport(ctx)
	s.Store = intake.Clean(s.Store, s.writeRules())
	err = fn(ctx, s)
	a.tellTaken(taken.Counts())
	return errors.Join(err, s.Close())
}

// open resolves the configured store, or the one that is served elsewhere.
func (a *app) open(ctx context.Context) (*opened, error) {
	if a.remote != nil {
		return a.remote.open(ctx)
	}
	loaded, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	h, agent, err := a.openHome()
	if err != nil {
		return nil, err
	}
	s := &opened{config: loaded, home: h, agent: agent}
	if err := a.resolve(ctx, s); err != nil {
		return nil, err
	}
	for _, c := range loaded.Clamped {
		a.out.note("%s is %d, more than allowed; using %d", c.Key, c.Requested, c.Effective)
	}
	return s, nil
}

// look resolves the configured store of an agent that is there, to read from:
// nothing is made or migrated.
func (a *app) look(ctx context.Context, config config.Loaded) (*opened, error) {
	agent, err := a.lookAtAgent()
	if err != nil {
		return nil, err
	}
	s := &opened{config: config, agent: agent, look: true}
	return s, a.resolve(ctx, s)
}

func (a *app) resolve(ctx context.Context, s *opened) error {
	r, err := a.backends(s)
	if err != nil {
		return err
	}
	if s.Resolved, err = r.Resolve(ctx, s.config.Config); err != nil || s.look {
		return err
	}
	if err := a.announce(ctx, s); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// backends registers what this binary can store memory in.
func (a *app) backends(s *opened) (*config.Registry, error) {
	r := config.New()
	return r, errors.Join(
		r.Register("sqlite", func(ctx context.Context, c config.Config) (config.Opened, error) {
			store, err := sqlite.Open(ctx, s.agent, sqlite.Options{
				Clock: a.clock, Random: a.random, Queue: c.Control.Queue,
				BusyTimeout: c.Memory.Backends.SQLite.BusyTimeout, Readers: c.Memory.Backends.SQLite.Readers,
				KeepSchema: s.look, SetAside: a.setAside,
			})
			if err != nil {
				return config.Opened{}, err
			}
			s.sqlite = store
			return config.Opened{Parts: store.Parts(), Close: store.Close}, nil
		}, amber.LayerNotes),
		r.RegisterLayer(amber.LayerNotes, "git", func(context.Context, config.Config) (config.Opened, error) {
			d, err := notes.New(notes.Options{Guard: snapshot.NotesGuard(s.agent), Clock: a.clock})
			if err != nil {
				return config.Opened{}, err
			}
			s.notes = d
			return config.Opened{Parts: amber.Parts{Notes: d, NoteLog: d}, Close: func() error { return nil }}, nil
		}),
	)
}

// usage is an error about how the command was called.
func usage(format string, args ...any) error {
	return &amber.Error{Op: "read command line", Kind: amber.KindInvalid, Err: fmt.Errorf(format, args...), Hint: usageHint}
}
