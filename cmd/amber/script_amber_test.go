package main

import (
	"context"
	"crypto/rand"
	"io"
	"os/exec"
	"reflect"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// scriptAmber is "amber [ARG...] [<FILE]": the program runs in the process of the test, with the environment and in the
// folder of the script, and reads FILE. With "!" it must fail.
//
// Most lines of scripts run it so, since starting a process takes longer than what the verb then does. "exec amber
// [ARG...]" runs it as a process, for what only a process shows: its start, hooks and what they leave in the
// background, servers that run beside the script, signals, other values of $PATH and $TMPDIR.
func scriptAmber(ts *testscript.TestScript, neg bool, args []string) {
	code := runScripted(ts, args)
	if neg == (code == 0) {
		ts.Fatalf("amber exits with %d", code)
	}
}

// runScripted runs the program in the process of the test and returns its exit code.
func runScripted(ts *testscript.TestScript, args []string) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // what still waits for stdin
	w := cli.World{
		Stdin: strings.NewReader(""), Stdout: ts.Stdout(), Stderr: ts.Stderr(),
		Environ:   append(scriptEnviron(ts), "PWD="+ts.MkAbs(".")),
		Directory: func() (string, error) { return ts.MkAbs("."), nil },
		Clock:     time.Now, Random: rand.Reader, FSInfo: fsx.Info, Program: thisProgram,
		Terminal: func() bool { return false },
	}
	if n := len(args) - 1; n >= 0 && strings.HasPrefix(args[n], "<") {
		w.Stdin, args = io.Reader(strings.NewReader(ts.ReadFile(args[n][1:]))), args[:n]
	}
	return run(ctx, args, w)
}

// thisProgram is where this program lies as a process: the test runs under another name.
func thisProgram() (string, error) { return exec.LookPath("amber") }

// scriptEnviron is the environment of a script, of which testscript shows commands one variable at a time only.
func scriptEnviron(ts *testscript.TestScript) []string {
	vars := reflect.ValueOf(ts).Elem().FieldByName("env")
	environ := make([]string, vars.Len())
	for i := range environ {
		environ[i] = vars.Index(i).String()
	}
	return environ
}
