package main

import (
	"path/filepath"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/redact"
)

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

// writeRulesOnce returns what gives the rules of the configuration, which is read
// when they are first needed. One that cannot be read keeps the store from being
// opened, and is told then.
func (a *app) writeRulesOnce() func() *redact.Redactor {
	return sync.OnceValue(func() *redact.Redactor {
		if a.remote != nil {
			return nil // the server has its own
		}
		loaded, err := a.loadConfig()
		if err != nil {
			return config.Default().Intake()
		}
		return loaded.Config.Intake()
	})
}

func (a *app) noteClamped(clamped []amber.Clamp) {
	for _, c := range clamped {
		a.out.note("%s is %d, more than allowed; using %d", c.Key, c.Requested, c.Effective)
	}
}

func describeConfig(l config.Loaded) string {
	if !l.FileFound {
		return "defaults; no file at " + l.Path
	}
	return l.Path
}
