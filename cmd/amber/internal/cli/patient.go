package cli

import (
	"io"
	"time"
)

// A hook waits for a host that does not close its pipe: so long for the next
// bytes, and so long for all of them.
const (
	StdinPatience = 2 * time.Second
	StdinLimit    = 4 * time.Second
)

// Patient reads from a pipe whose other end may neither write nor close it: after a
// time of silence, or of saying little, it is the end.
type Patient struct {
	read   func([]byte) (int, error)
	GaveUp bool // before the end came
}

// Read implements [io.Reader].
func (p *Patient) Read(b []byte) (int, error) { return p.read(b) }

// newPump returns a patient reader of anything. The goroutine that is left
// waiting ends with the process.
func newPump(r io.Reader, pause, limit time.Duration) *Patient {
	chunks := make(chan []byte)
	go pump(r, chunks)
	over := time.NewTimer(limit)
	p := &Patient{}
	var rest []byte
	p.read = func(b []byte) (int, error) {
		if len(rest) == 0 {
			t := time.NewTimer(pause)
			defer t.Stop()
			select {
			case rest = <-chunks: // nothing more when it is closed
			case <-t.C:
				p.GaveUp = true
			case <-over.C:
				p.GaveUp = true
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
