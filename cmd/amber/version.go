package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	lib "modernc.org/sqlite/lib"
)

// build says what this binary is.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	SQLite  string `json:"sqlite"`
}

// thisBuild reads what the Go tool left in the binary.
func thisBuild() build {
	b := build{Version: "dev", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, SQLite: lib.SQLITE_VERSION}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Commit = s.Value
		}
	}
	return b
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			return a.out.show(b, func(w io.Writer) {
				fmt.Fprintf(w, "amber %s (%s, %s/%s, SQLite %s)\n", b.Version, b.Go, b.OS, b.Arch, b.SQLite)
			})
		},
	}
}
