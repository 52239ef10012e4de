package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/hook"
	"github.com/amber-memory/amber/hook/setup"
)

// setupOptions says where the settings of hosts are.
func (a *app) setupOptions(cmd *cobra.Command) (setup.Options, error) {
	o := setup.Options{Home: a.userHome(), Env: a.getenv, LookPath: a.lookPath, Plugin: hook.OpenCodePlugin, MCP: true}
	if o.Home == "" {
		return o, amber.Errorf(amber.KindInvalid, "find home of the user", "", "$HOME is not set")
	}
	var err error
	if o.Executable, err = a.executable(); err != nil {
		return o, err
	}
	if o.Dir, err = a.absolute("."); err != nil {
		return o, err
	}
	home, err := a.homeDir()
	if err != nil {
		return o, err
	}
	o.StateDir = filepath.Join(home, "setup")
	o.Flags, err = a.hookGlobals(cmd)
	return o, err
}
