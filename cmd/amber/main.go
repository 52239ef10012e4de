// Command amber keeps what agents know.
//
// It is the one binary of Amber: every verb is a file of this package, and
// this package alone knows every other.
package main

import (
	"context"
	"crypto/rand"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], process())
	stop()
	os.Exit(code)
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
