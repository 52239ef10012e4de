//go:build !unix

package pgtest

import (
	"context"
	"os/exec"
	"syscall"
)

// Signals that do not exist here.
const (
	sigStop, sigContinue, sigKill = syscall.Signal(0), syscall.Signal(0), syscall.Signal(0)
	sigFast, sigImmediate         = syscall.Signal(0), syscall.Signal(0)
)

// folder is where a server would run. Here tests use a server that runs already.
type folder struct{ path string }

func newFolder() (*folder, error) { return nil, unsupported() }

func unsupported() error {
	return &Missing{Program: "PostgreSQL", Detail: "it is not started on this system; set " + envDSN + " to the DSN of a server that tests may write to"}
}

func (f *folder) command(name string, args ...string) *exec.Cmd { return exec.Command(name, args...) }

func (f *folder) run(context.Context, string, ...string) error { return unsupported() }

func (f *folder) give(string) error { return nil }

func (f *folder) pids() ([]int, error) { return nil, unsupported() }

func (f *folder) signal(int, syscall.Signal) error { return unsupported() }

func (f *folder) empty(context.Context) error { return unsupported() }

func (f *folder) still(context.Context) error { return unsupported() }

func (f *folder) remove() error { return nil }

func state(int) string { return "" }
