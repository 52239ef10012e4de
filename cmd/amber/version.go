package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"

	lib "modernc.org/sqlite/lib"
)

// version is the version of this binary. The release build sets it (see the
// Makefile); empty, it is what the Go tool knows about the module.
var version string

// build says what this binary is.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	SQLite  string `json:"sqlite"`
}

// thisBuild says what was set when the binary was built, or what the Go tool left
// in it.
func thisBuild() build {
	b := build{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, SQLite: lib.SQLITE_VERSION}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		b.Version = versionOf(version, "")
		return b
	}
	b.Version = versionOf(version, info.Main.Version)
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Commit = s.Value
		}
	}
	return b
}

// versionOf prefers the version that the build set to that of the module.
func versionOf(set, module string) string {
	if module == "(devel)" {
		module = ""
	}
	return cmp.Or(set, module, "dev")
}

func (a *app) versionCommand() *cobra.Command {
	return cli.Verb("version", func(*cobra.Command, []string) error { return a.showVersion() })
}

func (a *app) showVersion() error {
	b := thisBuild()
	return a.Out.Show(b, func(w io.Writer) {
		fmt.Fprintf(w, "amber %s (%s, %s/%s, SQLite %s)\n", b.Version, b.Go, b.OS, b.Arch, b.SQLite)
	})
}
