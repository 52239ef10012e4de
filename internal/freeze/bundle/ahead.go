package bundle

import (
	"hash"
	"io"
	"sync"
)

// ahead reads from another reader in a goroutine of its own, some buffers before its caller reads them, so that
// expanding goes on while the caller hashes and writes what was expanded. The maker of ahead stops it.
type ahead struct {
	full  chan buffer
	free  chan []byte
	stop  chan struct{}
	ended chan struct{}
	once  sync.Once
	now   buffer // what is left of the buffer that is being read
}

// buffer is bytes that were read, and the error behind them.
type buffer struct {
	all, rest []byte
	err       error
}

const (
	aheadBuffers = 8 // on their way
	aheadBytes   = 256 << 10
)

func newAhead(r io.Reader) *ahead {
	a := &ahead{full: make(chan buffer, aheadBuffers), free: make(chan []byte, aheadBuffers), stop: make(chan struct{}), ended: make(chan struct{})}
	for range aheadBuffers {
		a.free <- make([]byte, aheadBytes)
	}
	go a.run(r)
	return a
}

func (a *ahead) run(r io.Reader) {
	defer close(a.ended)
	for {
		select {
		case <-a.stop:
			return
		case b := <-a.free:
			n, err := io.ReadFull(r, b)
			if err == io.ErrUnexpectedEOF {
				err = io.EOF // the last buffer is not full
			}
			a.full <- buffer{b, b[:n], err} // there is room for every buffer
			if err != nil {
				return
			}
		}
	}
}

func (a *ahead) Read(p []byte) (int, error) {
	for len(a.now.rest) == 0 {
		if a.now.err != nil {
			return 0, a.now.err
		}
		if a.now.all != nil {
			a.free <- a.now.all
			a.now = buffer{}
		}
		select {
		case a.now = <-a.full:
		case <-a.ended:
			select {
			case a.now = <-a.full:
			default:
				return 0, io.ErrClosedPipe // it was stopped
			}
		}
	}
	n := copy(p, a.now.rest)
	a.now.rest = a.now.rest[n:]
	return n, nil
}

// close stops reading and returns once nothing of the other reader is used any more.
func (a *ahead) close() {
	a.once.Do(func() { close(a.stop) })
	<-a.ended
}

// summed writes to w while a hash takes the same bytes.
type summed struct {
	w   io.Writer
	sum hash.Hash
}

func (s summed) Write(p []byte) (n int, err error) {
	var other sync.WaitGroup
	other.Go(func() { s.sum.Write(p) })
	n, err = s.w.Write(p)
	other.Wait()
	return n, err
}

// hashes writes the same bytes to several hashes at once.
type hashes []hash.Hash

func (h hashes) Write(p []byte) (int, error) {
	var others sync.WaitGroup
	for _, x := range h[1:] {
		others.Go(func() { x.Write(p) })
	}
	h[0].Write(p)
	others.Wait()
	return len(p), nil
}
