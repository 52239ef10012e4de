//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pseudoTerminal returns the end of a terminal that a program writes to.
func pseudoTerminal(t *testing.T) *os.File {
	t.Helper()
	main, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { main.Close() })
	if err := unix.IoctlSetPointerInt(int(main.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(main.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	end, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end.Close() })
	return end
}

// What is a terminal is asked for stdout and for stderr: colour is in neither a
// file nor the null device, also where the other one is a terminal.
func TestColourIsForTheTerminalAlone(t *testing.T) {
	t.Parallel()
	terminal := pseudoTerminal(t)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var file strings.Builder
	for _, c := range []struct {
		name     string
		a        *app
		out, err bool
	}{
		{"both", &app{world: world{stdout: terminal, stderr: terminal}}, true, true},
		{"stdout", &app{world: world{stdout: terminal, stderr: &file}}, true, false},
		{"stderr", &app{world: world{stdout: &file, stderr: terminal}}, false, true},
		{"null", &app{world: world{stdout: null, stderr: terminal}}, false, true},
		{"none", &app{world: world{stdout: null, stderr: null}}, false, false},
		{"not wanted", &app{world: world{stdout: terminal, stderr: terminal}, global: globals{noColor: true}}, false, false},
		{"asked not to", &app{world: world{stdout: terminal, stderr: terminal, environ: []string{"NO_COLOR=1"}}}, false, false},
	} {
		c.a.clock = time.Now
		p := newPrinter(c.a)
		if got := p.style(bold, "x") != "x"; got != c.out {
			t.Errorf("%s: colour on stdout: %v", c.name, got)
		}
		if got := p.aside().style(bold, "x") != "x"; got != c.err {
			t.Errorf("%s: colour on stderr: %v", c.name, got)
		}
	}
	a := &app{world: world{stdout: terminal, stderr: &file, clock: time.Now}}
	a.out = newPrinter(a)
	a.out.warn("one")
	a.showAside(a.printSomething)
	if strings.Contains(file.String(), "\x1b") || !strings.Contains(file.String(), "WARNING") || !strings.Contains(file.String(), "said") {
		t.Errorf("stderr got %q", file.String())
	}
	if a.out.style(bold, "x") == "x" {
		t.Error("stdout has lost its colour")
	}
}

func (a *app) printSomething(w io.Writer) { fmt.Fprintln(w, a.out.style(amb, "said")) }
