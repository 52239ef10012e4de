// Command amber keeps what agents know.
//
// It is the one binary of Amber, and it alone knows every package. A verb is a file of a
// room below cmd/amber/internal; what verbs share is in cmd/amber/internal/cli.
package main

import (
	"context"
	"crypto/rand"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/term"
)

func main() {
	collectLate()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], process())
	stop()
	os.Exit(code)
}

// lateGC is how many percent the memory of a process may grow before its first collection.
// Go collects the first time at 4 MB times this; with its usual 100, reading the
// configuration and opening a store is three collections.
const lateGC = 800

// collectLate lets the first collection of garbage wait until about 36 MB are in use: most
// commands end before, and take an eighth less processor time. From then on Go's usual
// percentage holds, unless something has chosen another one meanwhile.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(lateGC)
	first := new([64]byte) // nothing points to it, so the first collection finds it
	runtime.AddCleanup(first, func(percent int) {
		if now := debug.SetGCPercent(percent); now != lateGC {
			debug.SetGCPercent(now)
		}
	}, usual)
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
		Program:   os.Executable,

		SetGCPercent: debug.SetGCPercent,
	}
}
