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

// patient reads from somebody who may neither say anything nor close: after a
// time of silence, or of saying little, it is the end. The goroutine that is
// left waiting ends with the process.
type patient struct {
	chunks chan []byte
	pause  time.Duration
	limit  *time.Timer
	rest   []byte
	over   bool
	gaveUp bool // before the end came
}

func newPatient(r io.Reader, pause, limit time.Duration) *patient {
	p := &patient{chunks: make(chan []byte), pause: pause, limit: time.NewTimer(limit)}
	go p.pump(r)
	return p
}

func (p *patient) pump(r io.Reader) {
	defer close(p.chunks)
	defer func() { _ = recover() }() // a reader that panics has nothing more to say
	for {
		b := make([]byte, 64<<10)
		n, err := r.Read(b)
		if n > 0 {
			p.chunks <- b[:n]
		}
		if err != nil {
			return
		}
	}
}

// Read implements [io.Reader].
func (p *patient) Read(b []byte) (int, error) {
	if len(p.rest) == 0 && !p.over {
		t := time.NewTimer(p.pause)
		defer t.Stop()
		select {
		case p.rest = <-p.chunks:
		case <-t.C:
			p.gaveUp = true
		case <-p.limit.C:
			p.gaveUp = true
		}
		p.over = len(p.rest) == 0
	}
	if p.over {
		return 0, io.EOF
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
