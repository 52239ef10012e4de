package main

import (
	"io"
	"time"
)

// stdinPatience is how long a hook waits for the next bytes of a host that
// does not close its pipe.
const stdinPatience = time.Second

// patient reads from somebody who may neither say anything nor close: after a
// time of silence it is the end. The goroutine that is left waiting ends with
// the process.
type patient struct {
	chunks  chan []byte
	timeout time.Duration
	rest    []byte
	over    bool
}

func newPatient(r io.Reader, timeout time.Duration) *patient {
	p := &patient{chunks: make(chan []byte), timeout: timeout}
	go p.pump(r)
	return p
}

func (p *patient) pump(r io.Reader) {
	defer close(p.chunks)
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
		t := time.NewTimer(p.timeout)
		defer t.Stop()
		select {
		case p.rest = <-p.chunks:
		case <-t.C:
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
