// Command amber keeps what agents know.
//
// It is the one binary of Amber: every verb is a file of this package, and
// this package alone knows every other.
package main

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], process())
	stop()
	os.Exit(code)
}

// world is everything a run takes from outside, so that tests can stand in
// for it.
type world struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
	directory      func() (string, error)
	clock          amber.Clock
	after          func(time.Duration) <-chan time.Time // of the schedule of a server; nil: time.After
	random         io.Reader
	// terminal reports whether a person watches stdout and can be asked.
	terminal func() bool
	fsInfo   func(path string) (fsx.FSInfo, error)
	// snapshots stands in for the engine; nil means the real one.
	snapshots func(ctx context.Context) (agent.Snapshots, error)
}

// process is the world of a real run.
func process() world {
	return world{
		stdin:     os.Stdin,
		stdout:    os.Stdout,
		stderr:    os.Stderr,
		environ:   os.Environ(),
		directory: os.Getwd,
		clock:     time.Now,
		random:    rand.Reader,
		terminal:  func() bool { return term.Is(os.Stdin) && term.Is(os.Stdout) },
		fsInfo:    fsx.Info,
	}
}
