package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

// UserHome returns the user's own folder.
func (a *App) UserHome() string {
	if dir := a.Getenv("HOME"); dir != "" || runtime.GOOS != "windows" {
		return dir
	}
	return a.Getenv("USERPROFILE")
}

// HookGlobals returns the flags of this command line that hooks need, too, to
// reach the same agent.
func (a *App) HookGlobals(cmd *cobra.Command) (flags []string, err error) {
	for _, f := range []struct {
		name, value string
		path        bool
		variable    string
	}{
		{"home", a.Global.Home, true, ""},
		{"config", a.Global.Config, true, ""},
		{"tenant", a.Global.Tenant, false, TenantVariable},
		{"agent", a.Global.Agent, false, AgentVariable},
	} {
		if !cmd.Flags().Changed(f.name) && (f.variable == "" || a.Getenv(f.variable) == "") {
			continue
		}
		if f.path {
			if f.value, err = a.Absolute(f.value); err != nil {
				return nil, err
			}
		}
		flags = append(flags, "--"+f.name, f.value)
	}
	return flags, nil
}

// SameAgent returns the flags that lead another run of this program to the agent of this one,
// here or on the same server.
func (a *App) SameAgent(cmd *cobra.Command) (flags []string, err error) {
	if flags, err = a.HookGlobals(cmd); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		name, value string
		path        bool
	}{
		{"remote", a.Global.remote, false},
		{"token-file", a.Global.tokenFile, true},
		{"remote-ca", a.Global.remoteCA, true},
	} {
		if !cmd.Flags().Changed(f.name) {
			continue
		}
		if f.path {
			if f.value, err = a.Absolute(f.value); err != nil {
				return nil, err
			}
		}
		flags = append(flags, "--"+f.name, f.value)
	}
	return flags, nil
}

// Executable returns the path of this program: the one in the path of the user
// if that is it, since a package manager keeps that one where it is.
func (a *App) Executable() (string, error) {
	exe, err := a.Program()
	if err != nil {
		return "", &amber.Error{Op: "find this program", Kind: amber.KindInternal, Err: err}
	}
	if found, err := a.LookPath("amber"); err == nil {
		one, oneErr := os.Stat(found)
		two, twoErr := os.Stat(exe)
		if oneErr == nil && twoErr == nil && os.SameFile(one, two) {
			return found, nil
		}
	}
	return exe, nil
}

// LookPath finds a program in the path of the user.
func (a *App) LookPath(name string) (string, error) {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(a.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err == nil && filepath.IsAbs(path) && info.Mode().IsRegular() && (info.Mode()&0o111 != 0 || runtime.GOOS == "windows") {
			return path, nil
		}
	}
	return "", fs.ErrNotExist
}
