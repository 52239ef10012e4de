package cli

import (
	"context"
	"io"

	"github.com/amber-memory/amber"
)

// Interruption is the error of a verb that was interrupted while it waited for
// others. Its kind is that of every context that ends.
func Interruption(op string) error {
	return &amber.Error{Op: op, Kind: amber.KindUnreachable, Err: interrupted{}}
}

// interrupted is [context.Canceled] in words for people.
type interrupted struct{}

func (interrupted) Error() string { return "interrupted" }
func (interrupted) Unwrap() error { return context.Canceled }

// untilStopped is the context of the run.
func (a *App) untilStopped() context.Context {
	if a.Ctx == nil { // the app of a server's part, which has contexts of its own
		return context.Background()
	}
	return a.Ctx
}

// In is stdin for verbs: reading ends when the run is interrupted. A hook reads
// stdin itself: whatever comes, it keeps the event.
func (a *App) In() io.Reader {
	if a.pumped == nil {
		a.pumped = newInterruptible(a.untilStopped(), a.Stdin, "read stdin")
	}
	return a.pumped
}

// interruptible reads from a pipe that may never bring anything, until a context
// ends. The goroutine that is left waiting ends with the process.
type interruptible struct {
	ctx    context.Context // of the run
	op     string
	pieces <-chan piece
	rest   []byte
	err    error
}

// piece is what one read brought.
type piece struct {
	data []byte
	err  error
}

func newInterruptible(ctx context.Context, r io.Reader, op string) *interruptible {
	pieces := make(chan piece)
	go func() {
		for {
			b := make([]byte, 64<<10)
			n, err := r.Read(b)
			select {
			case pieces <- piece{b[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return &interruptible{ctx: ctx, op: op, pieces: pieces}
}

// Read implements [io.Reader].
func (i *interruptible) Read(b []byte) (int, error) {
	for len(i.rest) == 0 && i.err == nil {
		select {
		case p := <-i.pieces:
			i.rest, i.err = p.data, p.err
		case <-i.ctx.Done():
			i.err = Interruption(i.op)
		}
	}
	return i.take(b)
}

// take hands out what was read, and the error behind it.
func (i *interruptible) take(b []byte) (int, error) {
	if len(i.rest) == 0 {
		return 0, i.err
	}
	n := copy(b, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}

// patiently does what may wait for others, like opening a fifo, and stops
// waiting when ctx ends.
func patiently[T any](ctx context.Context, op string, fn func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := fn()
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, Interruption(op)
	}
}

// interruptibleFile is a file that may be a pipe.
type interruptibleFile struct {
	*interruptible
	io.Closer
}
