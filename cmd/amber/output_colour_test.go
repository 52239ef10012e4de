//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

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
