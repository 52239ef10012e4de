//go:build unix

package cli

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// waitFor waits until a file has something to read, or its other end is gone,
// and reports whether it has. It needs no goroutine, which a hook has to pay for.
func waitFor(f *os.File, d time.Duration) (bool, error) {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	until := time.Now().Add(d)
	for {
		n, err := unix.Poll(fds, int(max(0, time.Until(until)).Milliseconds()))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return n > 0, err
	}
}

// NewPatient returns a reader of r that does not wait for ever.
func NewPatient(r io.Reader, pause, limit time.Duration) *Patient {
	f, ok := r.(*os.File)
	if !ok {
		return newPump(r, pause, limit)
	}
	until := time.Now().Add(limit)
	p := &Patient{}
	p.read = func(b []byte) (int, error) {
		ready, err := waitFor(f, min(pause, time.Until(until)))
		if err != nil {
			return 0, err
		}
		if !ready {
			p.GaveUp = true
			return 0, io.EOF
		}
		return f.Read(b)
	}
	return p
}
