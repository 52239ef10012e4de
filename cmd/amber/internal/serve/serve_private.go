package serve

import (
	"context"
	"io"
	"os/signal"
	"syscall"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/daemon"
)

const (
	// privateGrace is how long requests to a private server may take to end.
	privateGrace = 5 * time.Second
	// findWithin is how long the server of a home may take to say where it listens.
	findWithin = 20 * time.Second
	// findAgain is the pause before the server is looked for again.
	findAgain = 50 * time.Millisecond
)

// servePrivately serves the home until standard input or the context ends. Where another process serves the home, that
// one is printed. Two programs that start at the same moment share one server.
func (s *serving) servePrivately(ctx context.Context, o daemon.Options) error {
	o.Grace = min(o.Grace, privateGrace)
	signal.Ignore(syscall.SIGPIPE) // the program may be gone with what the log is written to
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	within, done := context.WithTimeout(ctx, findWithin)
	defer done()
	for {
		at, running, err := daemon.Find(ctx, s.home.Dir())
		switch {
		case running && err == nil:
			return s.showServed(at, false)
		case err != nil && amber.KindOf(err) != amber.KindUnreachable:
			return err
		case !running:
			err = s.run(ctx, o, func(_ *daemon.Daemon, at daemon.Where) error {
				go func() {
					defer cancel()
					_, _ = io.Copy(io.Discard, s.Stdin) // it ends with the program
				}()
				return s.showServed(at, true)
			})
			if amber.KindOf(err) != amber.KindBusy {
				return err
			}
		}
		select {
		case <-within.Done():
			return err
		case <-time.After(findAgain):
		}
	}
}
