package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

// userHome returns the user's own folder.
func (a *app) userHome() string {
	if dir := a.getenv("HOME"); dir != "" || runtime.GOOS != "windows" {
		return dir
	}
	return a.getenv("USERPROFILE")
}

// hookGlobals returns the flags of this command line that hooks need, too, to
// reach the same agent.
func (a *app) hookGlobals(cmd *cobra.Command) (flags []string, err error) {
	for _, f := range []struct {
		name, value string
		path        bool
		variable    string
	}{
		{"home", a.global.home, true, ""},
		{"config", a.global.config, true, ""},
		{"tenant", a.global.tenant, false, tenantVariable},
		{"agent", a.global.agent, false, agentVariable},
	} {
		if !cmd.Flags().Changed(f.name) && (f.variable == "" || a.getenv(f.variable) == "") {
			continue
		}
		if f.path {
			if f.value, err = a.absolute(f.value); err != nil {
				return nil, err
			}
		}
		flags = append(flags, "--"+f.name, f.value)
	}
	return flags, nil
}

// executable returns the path of this program: the one in the path of the user
// if that is it, since a package manager keeps that one where it is.
func (a *app) executable() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", &amber.Error{Op: "find this program", Kind: amber.KindInternal, Err: err}
	}
	if found, err := a.lookPath("amber"); err == nil {
		one, oneErr := os.Stat(found)
		two, twoErr := os.Stat(exe)
		if oneErr == nil && twoErr == nil && os.SameFile(one, two) {
			return found, nil
		}
	}
	return exe, nil
}

// lookPath finds a program in the path of the user.
func (a *app) lookPath(name string) (string, error) {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(a.getenv("PATH")) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err == nil && filepath.IsAbs(path) && info.Mode().IsRegular() && (info.Mode()&0o111 != 0 || runtime.GOOS == "windows") {
			return path, nil
		}
	}
	return "", fs.ErrNotExist
}
