//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/test/must"
)

// Amber finds out for stdout and for stderr separately whether it is a terminal: it writes colour neither to a
// file nor to the null device, also where the other stream is a terminal.
func TestColourIsForTheTerminalAlone(t *testing.T) {
	t.Parallel()
	terminal := pseudoTerminal(t)
	null := must.Get(os.OpenFile(os.DevNull, os.O_RDWR, 0))(t)
	defer null.Close()
	var file strings.Builder
	for _, c := range []struct {
		name     string
		a        *app
		out, err bool
	}{
		{"both", &app{&cli.App{World: cli.World{Stdout: terminal, Stderr: terminal}}}, true, true},
		{"stdout", &app{&cli.App{World: cli.World{Stdout: terminal, Stderr: &file}}}, true, false},
		{"stderr", &app{&cli.App{World: cli.World{Stdout: &file, Stderr: terminal}}}, false, true},
		{"null", &app{&cli.App{World: cli.World{Stdout: null, Stderr: terminal}}}, false, true},
		{"none", &app{&cli.App{World: cli.World{Stdout: null, Stderr: null}}}, false, false},
		{"not wanted", &app{&cli.App{World: cli.World{Stdout: terminal, Stderr: terminal}, Global: cli.Globals{NoColor: true}}}, false, false},
		{"asked not to", &app{&cli.App{World: cli.World{Stdout: terminal, Stderr: terminal, Environ: []string{"NO_COLOR=1"}}}}, false, false},
	} {
		c.a.Clock = time.Now
		p := cli.NewPrinter(c.a.App)
		must.Equal(t, c.name+": colour on stdout", p.Style(cli.Bold, "x") != "x", c.out)
		must.Equal(t, c.name+": colour on stderr", p.Aside().Style(cli.Bold, "x") != "x", c.err)
	}
	a := &app{&cli.App{World: cli.World{Stdout: terminal, Stderr: &file, Clock: time.Now}}}
	a.Out = cli.NewPrinter(a.App)
	a.Out.Warn("one")
	a.ShowAside(a.printSomething)
	if strings.Contains(file.String(), "\x1b") || !strings.Contains(file.String(), "WARNING") || !strings.Contains(file.String(), "said") {
		t.Errorf("stderr got %q", file.String())
	}
	if a.Out.Style(cli.Bold, "x") == "x" {
		t.Error("stdout has lost its colour")
	}
}

func (a *app) printSomething(w io.Writer) { fmt.Fprintln(w, a.Out.Style(cli.Amb, "said")) }
