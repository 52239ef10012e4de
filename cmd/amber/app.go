package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/events"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/intake"
	"github.com/amber-memory/amber/notes"
)

// app is one run of the command.
type app struct {
	world
	global globals
	out    printer
	meter  meter // how far the engine of snapshots is
	access access
	remote *remote // that the verb works on; nil: a home of this machine
	// publisher is told what happens to snapshots and notes; nil: no publisher.
	publisher events.Publisher
	aside     asideNotes
	// ctx ends when the run is told to stop; that of a hook does not.
	ctx      context.Context
	pumped   *interruptible // stdin, once a verb has read of it
	toldHome bool           // the user was told where a relative home is
	// closers let go what was opened on the way, when the command is over.
	closers []func() error
	verb    string // that runs
	absent  bool   // there is no agent, and the verb only works on what is there
}

// globals are the flags every command takes.
type globals struct {
	home, config, tenant, agent string
	remote, tokenFile, remoteCA string
	json, quiet, noColor        bool
	newAgent                    bool
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, w world) int {
	a := &app{world: w, ctx: ctx}
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(w.stdin)
	root.SetOut(w.stdout)
	root.SetErr(w.stderr)
	if isCompletion(args) {
		a.addCompletions(root)
	}
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

// agentOptions say which agent the flags name, and how it is opened.
func (a *app) agentOptions(c *config.Config) (agent.Options, error) {
	o := agent.Options{
		Config: c, Clock: a.clock, Random: a.random, Getenv: a.getenv, Publisher: a.publisher, Snapshots: a.world.snapshots,
		Warn: func(text string) { a.out.warn("%s", text) }, SetAside: a.setAside, Progress: a.meter.set,
	}
	var err error
	if o.Tenant, err = amber.ParseTenantID(a.global.tenant); err != nil {
		return o, err
	}
	if o.Agent, err = amber.ParseAgentID(a.global.agent); err != nil {
		return o, err
	}
	if o.Home, err = a.homeDir(); err != nil {
		return o, err
	}
	o.Access, err = a.access.resolve(a)
	return o, err
}

// closed is the agent the flags name, there or not, whose store stays closed.
func (a *app) closed(c *config.Config) (*agent.Agent, error) {
	o, err := a.agentOptions(c)
	if err != nil {
		return nil, err
	}
	return agent.At(o)
}

// configured is [app.closed] with the configuration.
func (a *app) configured() (*agent.Agent, error) {
	loaded, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	return a.closed(&loaded.Config)
}

// openHome opens the home, says so when it made it, and returns the agent the
// flags name.
func (a *app) openHome() (*home.Home, *home.Agent, error) {
	at, err := a.closed(nil)
	if err != nil {
		return nil, nil, err
	}
	made, err := at.Make()
	a.noteMade(made, at)
	return at.Home(), at.Folder(), err
}

func (a *app) noteMade(made bool, at *agent.Agent) {
	if made {
		a.out.note("made a new home in %s", at.Home().Dir())
	}
}

// opened is everything a verb works with.
type opened struct {
	config.Resolved
	local  *agent.Agent // nil when the agent is served elsewhere
	config config.Loaded
	home   *home.Home  // nil when the agent is served elsewhere, as is agent
	agent  *home.Agent // tenantID and agentID work for both
	remote *remote     // where the agent is served; nil: here
	notes  *notes.Dir  // nil when notes are elsewhere
}

// newOpened is an agent of this machine, as verbs see it.
func newOpened(at *agent.Agent, c config.Loaded) *opened {
	return &opened{
		Resolved: config.Resolved{Store: at.Plain(), Policy: at.Policy, Report: at.Report, Close: at.Close},
		local:    at, config: c, home: at.Home(), agent: at.Folder(), notes: at.Notes(),
	}
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
	o, err := a.agentOptions(&loaded.Config)
	if err != nil {
		return nil, err
	}
	open := agent.Open
	if a.absent {
		open = agent.Find
	}
	at, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	a.noteMade(at.MadeHome, at)
	a.noteClamped(loaded.Clamped)
	return newOpened(at, loaded), nil
}

// look resolves the configured store of an agent that is there, to read from:
// nothing is made or migrated.
func (a *app) look(ctx context.Context, config config.Loaded) (*opened, error) {
	o, err := a.agentOptions(&config.Config)
	if err != nil {
		return nil, err
	}
	at, err := agent.Look(ctx, o)
	if err != nil {
		return nil, err
	}
	return newOpened(at, config), nil
}

// close closes what was opened on the way.
func (a *app) close() (err error) {
	for _, c := range a.closers {
		err = errors.Join(err, c())
	}
	a.closers = nil
	return err
}

// usage is an error about how the command was called.
func usage(format string, args ...any) error {
	return &amber.Error{Op: "read command line", Kind: amber.KindInvalid, Err: fmt.Errorf(format, args...), Hint: usageHint}
}
