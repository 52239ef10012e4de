package cli

import (
	"context"
	"io"
	"time"
)

// A hook waits for a host that does not close its pipe: so long for the next
// bytes, and so long for all of them.
const (
	stdinPatience = 2 * time.Second
	stdinLimit    = 4 * time.Second
)

// Patient reads from a pipe whose other end may neither write nor close it: after a
// time of silence, or of saying little, it is the end. The goroutine that is left
// waiting ends with the process.
type Patient struct {
	*interruptible
	over   <-chan time.Time
	GaveUp bool // before the end came
}

// NewPatient returns a reader of r that does not wait for ever.
func NewPatient(r io.Reader) *Patient {
	return &Patient{interruptible: newInterruptible(context.Background(), r, "read stdin"), over: time.After(stdinLimit)}
}

// Read implements [io.Reader].
func (p *Patient) Read(b []byte) (int, error) {
	silence := time.NewTimer(stdinPatience)
	defer silence.Stop()
	for len(p.rest) == 0 && p.err == nil {
		select {
		case next := <-p.pieces:
			p.rest, p.err = next.data, next.err
		case <-silence.C:
			p.GaveUp, p.err = true, io.EOF
		case <-p.over:
			p.GaveUp, p.err = true, io.EOF
		}
	}
	return p.take(b)
}
