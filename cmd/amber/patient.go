package main

import (
	"io"
	"time"
)

// A hook waits for a host that does not close its pipe: so long for the next
// bytes, and so long for all of them.
const (
	stdinPatience = 2 * time.Second
	stdinLimit    = 4 * time.Second
)

// patient reads from a pipe whose other end may neither write nor close it: after a
// time of silence, or of saying little, it is the end.
type patient struct {
	read   func([]byte) (int, error)
	gaveUp bool // before the end came
}

// Read implements [io.Reader].
func (p *patient) Read(b []byte) (int, error) { return p.read(b) }

// newPump returns a patient reader of anything. The goroutine that is left
// waiting ends with the process.
func newPump(r io.Reader, pause, limit time.Duration) *patient {
	chunks := make(chan []byte)
	go pump(r, chunks)
	over := time.NewTimer(limit)
	p := &patient{}
	var rest []byte
	p.read = func(b []byte) (int, error) {
		if len(rest) == 0 {
			t := time.NewTimer(pause)
			defer t.Stop()
			select {
			case rest = <-chunks: // nothing more when it is closed
			case <-t.C:
				p.gaveUp = true
			case <-over.C:
				p.gaveUp = true
			}
		}
		if len(rest) == 0 {
			return 0, io.EOF
		}
		n := copy(b, rest)
		rest = rest[n:]
		return n, nil
	}
	return p
}

func pump(r io.Reader, chunks chan<- []byte) {
	defer close(chunks)
	defer func() { _ = recover() }() // a reader that panics has nothing more to say
	for {
		b := make([]byte, 64<<10)
		n, err := r.Read(b)
		if n > 0 {
			chunks <- b[:n]
		}
		if err != nil {
			return
		}
	}
}
