package s3

import (
	"context"
	"fmt"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// source gives the bytes of an object in pieces, and makes sure that its
// reader gives as many as it was said to.
type source struct {
	name       string
	r          io.Reader
	size, read int64
}

// maxIdle is how often in a row a reader may return nothing at all.
const maxIdle = 100

// fill fills p, which is no more than what is left. With the last piece it
// makes sure that the reader has ended. Its errors are complete.
func (s *source) fill(ctx context.Context, p []byte) error {
	for len(p) > 0 {
		n, err := s.next(ctx, p)
		p = p[n:]
		switch {
		case err == io.EOF && (len(p) > 0 || s.read < s.size):
			return s.invalid(fmt.Sprintf("%d bytes, want %d", s.read, s.size))
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
	if s.read < s.size {
		return nil
	}
	var more [1]byte
	n, err := s.next(ctx, more[:])
	switch {
	case n > 0:
		return s.invalid(fmt.Sprintf("more than %d bytes", s.size))
	case err != io.EOF:
		return err
	}
	return nil
}

// next reads at least one byte, or returns why there is none. It returns io.EOF of the reader as it
// is, and adds the name of the object to any other error of the reader.
func (s *source) next(ctx context.Context, p []byte) (int, error) {
	for range maxIdle {
		if err := target.Alive(ctx, opPut, s.name); err != nil {
			return 0, err
		}
		n, err := s.r.Read(p)
		s.read += int64(n)
		switch {
		case err == io.EOF:
			return n, err
		case err != nil:
			return n, fmt.Errorf("%s %s: %w", opPut, s.name, err)
		case n > 0:
			return n, nil
		}
	}
	return 0, fmt.Errorf("%s %s: %w", opPut, s.name, io.ErrNoProgress)
}

func (s *source) invalid(why string) error {
	return amber.Errorf(amber.KindInvalid, opPut, s.name, "%s", why)
}
