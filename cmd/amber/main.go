// Command amber keeps what agents know.
//
// It is the one binary of Amber, and it alone knows every package. A verb is a file
// of this package, or of cmd/amber/internal/share and cmd/amber/internal/control;
// what verbs share is in cmd/amber/internal/cli.
package main

import (
	"context"
	"crypto/rand"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
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
func process() cli.World {
	return cli.World{
		Stdin:     os.Stdin,
		Stdout:    os.Stdout,
		Stderr:    os.Stderr,
		Environ:   os.Environ(),
		Directory: os.Getwd,
		Clock:     time.Now,
		Random:    rand.Reader,
		Terminal:  func() bool { return term.Is(os.Stdin) && term.Is(os.Stdout) },
		FSInfo:    fsx.Info,
	}
}
