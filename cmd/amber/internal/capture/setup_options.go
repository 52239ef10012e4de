package capture

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/capture/hook/setup"
)

// SetupOptions says where the settings of hosts are.
func SetupOptions(cmd *cobra.Command, a *cli.App) (setup.Options, error) {
	o := setup.Options{Home: a.UserHome(), Env: a.Getenv, LookPath: a.LookPath, Plugin: hook.OpenCodePlugin, MCP: true}
	if o.Home == "" {
		return o, amber.Errorf(amber.KindInvalid, "find home of the user", "", "$HOME is not set")
	}
	var err error
	if o.Executable, err = a.Executable(); err != nil {
		return o, err
	}
	if o.Dir, err = a.Absolute("."); err != nil {
		return o, err
	}
	home, err := a.HomeDir()
	if err != nil {
		return o, err
	}
	o.StateDir = filepath.Join(home, "setup")
	o.Flags, err = a.HookGlobals(cmd)
	return o, err
}
