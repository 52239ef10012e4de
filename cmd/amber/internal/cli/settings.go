package cli

import (
	"cmp"
	"path/filepath"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/guard/redact"
)

// HomeDir returns the folder of the home: the flag, the environment, the
// user's data folder.
func (a *App) HomeDir() (string, error) {
	dir, from := a.Global.Home, "--home"
	if dir == "" {
		dir, from = a.Getenv("AMBER_HOME"), "AMBER_HOME"
	}
	if dir == "" {
		data := a.Getenv("XDG_DATA_HOME")
		from = "XDG_DATA_HOME"
		if data == "" {
			from = "HOME"
			user := cmp.Or(a.Getenv("HOME"), a.Getenv("USERPROFILE")) // Windows has the second
			if user == "" {
				e := amber.Errorf(amber.KindInvalid, "find home", "", "neither --home, $AMBER_HOME, $XDG_DATA_HOME nor $HOME is set")
				return "", e
			}
			data = filepath.Join(user, ".local", "share")
		}
		dir = filepath.Join(data, "amber")
	}
	whole, err := a.Absolute(dir)
	if err == nil && !filepath.IsAbs(dir) && from != "--home" && !a.toldHome {
		a.toldHome = true // it is another folder wherever the command runs
		a.Out.Note("%s is relative; the home is %s", from, whole)
	}
	return whole, err
}

// Absolute makes a path of the command line absolute.
func (a *App) Absolute(path string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	wd, err := a.Directory()
	if err != nil {
		return "", &amber.Error{Op: "find working directory", Kind: amber.KindInternal, Err: err}
	}
	return filepath.Join(wd, path), nil
}

// LoadConfig reads the configuration.
func (a *App) LoadConfig() (config.Loaded, error) {
	in, err := a.ConfigInput()
	if err != nil {
		return config.Loaded{}, err
	}
	return patiently(a.untilStopped(), "read configuration", func() (config.Loaded, error) { return config.Load(in) })
}

// ConfigInput is where the configuration comes from.
func (a *App) ConfigInput() (config.Input, error) {
	in := config.Input{Path: config.DefaultPath(a.Getenv), Environ: a.Environ}
	if a.Global.Config == "" {
		return in, nil
	}
	path, err := a.Absolute(a.Global.Config)
	in.Path, in.Explicit = path, true
	return in, err
}

// AgentOptions say which agent the flags name, and how it is opened.
func (a *App) AgentOptions(c *config.Config) (agent.Options, error) {
	o := agent.Options{
		Config: c, Clock: a.Clock, Random: a.Random, Getenv: a.Getenv, Publisher: a.Publisher, Snapshots: a.World.Snapshots,
		Warn: func(text string) { a.Out.Warn("%s", text) }, SetAside: a.setAside, Progress: a.Meter.Set,
		Databases: a.Databases, Version: a.Version,
	}
	var err error
	if o.Tenant, err = amber.ParseTenantID(a.Global.Tenant); err != nil {
		return o, err
	}
	if o.Agent, err = amber.ParseAgentID(a.Global.Agent); err != nil {
		return o, err
	}
	if o.Home, err = a.HomeDir(); err != nil {
		return o, err
	}
	o.Access, err = a.Access.Resolve(a)
	return o, err
}

// WriteRulesOnce returns a function that returns the rules of the configuration, and reads it when the rules
// are first needed. A configuration that cannot be read keeps the store from being opened, and the error is
// reported then.
func (a *App) WriteRulesOnce() func() *redact.Redactor {
	return sync.OnceValue(func() *redact.Redactor {
		if a.Remote != nil {
			return nil // the server has its own
		}
		loaded, err := a.LoadConfig()
		if err != nil {
			return config.Default().Intake()
		}
		return loaded.Config.Intake()
	})
}

// NoteClamped says which settings were out of bounds and brought back.
func (a *App) NoteClamped(clamped []amber.Clamp) {
	for _, c := range clamped {
		a.Out.Note("%s is %d, more than allowed; using %d", c.Key, c.Requested, c.Effective)
	}
}

// DescribeConfig names the file that the configuration was read from.
func DescribeConfig(l config.Loaded) string {
	if !l.FileFound {
		return "defaults; no file at " + l.Path
	}
	return l.Path
}
