package repo

import (
	"context"
	"io"
)

const chunkBytes = 256 << 10

// pool bounds the memory of the packs of a writer. A nil chunk in it is one
// that was never needed.
type pool chan []byte

// newPool returns more chunks than a pack needs: the next pack begins to fill
// while one is uploaded.
func newPool(packBytes int64) pool {
	n := max(packBytes, defaultPackBytes)/chunkBytes + 4
	p := make(pool, n)
	for range n {
		p <- nil
	}
	return p
}

// take waits for a chunk.
func (p pool) take(ctx context.Context) ([]byte, error) {
	select {
	case c := <-p:
		if c == nil {
			c = make([]byte, 0, chunkBytes)
		}
		return c[:0], nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// forget gives up the memory of the chunks that are in the pool now. They are made again
// when they are needed.
func (p pool) forget() {
	for range len(p) {
		select {
		case <-p:
			p <- nil
		default:
		}
	}
}

// spool holds the beginning of a pack until it is uploaded. Written first,
// then read once; chunks go back to the pool as they have been read.
type spool struct {
	pool   pool
	chunks [][]byte
	read   int // of the first chunk
}

// write appends b, waiting for chunks as long as others have them.
func (s *spool) write(ctx context.Context, b []byte) error {
	for len(b) > 0 {
		last := len(s.chunks) - 1
		if last < 0 || len(s.chunks[last]) == chunkBytes {
			c, err := s.pool.take(ctx)
			if err != nil {
				return err
			}
			s.chunks = append(s.chunks, c)
			last++
		}
		c := s.chunks[last]
		n := min(len(b), chunkBytes-len(c))
		s.chunks[last] = append(c, b[:n]...)
		b = b[n:]
	}
	return nil
}

// Read implements [io.Reader].
func (s *spool) Read(b []byte) (int, error) {
	if len(s.chunks) == 0 {
		return 0, io.EOF
	}
	n := copy(b, s.chunks[0][s.read:])
	if s.read += n; s.read == len(s.chunks[0]) {
		s.pool <- s.chunks[0]
		s.chunks, s.read = s.chunks[1:], 0
	}
	return n, nil
}

// release gives all chunks back.
func (s *spool) release() {
	for _, c := range s.chunks {
		s.pool <- c
	}
	s.chunks, s.read = nil, 0
}
