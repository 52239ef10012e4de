package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// scanner reads the frames of one segment in order. It holds one frame at a
// time.
type scanner struct {
	r    io.ReaderAt
	seed uint32
	end  int64 // size of the segment
	at   int64 // where the next frame should be
	last int64 // sequence of the frame before; the next one is higher

	frame Frame

	damage  int64 // places where frames should be and are not
	skipped int64 // bytes in those places

	// The bytes behind the last intact frame, once there is none left: torn, or
	// frames that were written whole and have changed since.
	tail int64
	lost int64 // how many such frames

	buf   []byte // of the last read
	bufAt int64
}

// window is how much is read at once at least.
const window = 64 << 10

// scan reads the first size bytes of a segment. Its header says, where it can
// be trusted, from which sequence on.
func scan(r io.ReaderAt, seed uint32, size, base int64) *scanner {
	return &scanner{r: r, seed: seed, end: size, at: min(size, segmentHeader), last: max(base-1, 0)}
}

// next moves to the next intact frame and reports whether there is one.
// Behind bytes that are no frame it looks for the next magic.
func (s *scanner) next() (bool, error) {
	begin := s.at
	for at := begin; at < s.end; {
		f, size, err := s.parse(at)
		if err == nil {
			if begin != at {
				s.damage++
				s.skipped += at - begin
			}
			s.frame, s.last, s.at = f, f.Seq, at+size
			return true, nil
		}
		if !errors.Is(err, errFrame) {
			return false, err
		}
		if at, err = s.find(at + 1); err != nil {
			return false, err
		}
	}
	return false, s.judgeTail()
}

// parse reads the frame at an offset.
func (s *scanner) parse(at int64) (Frame, int64, error) {
	head, err := s.read(at, frameHeader)
	if err != nil {
		return Frame{}, 0, err
	}
	length, ok := frameLength(head)
	size := frameSize(length)
	if !ok || at+size > s.end || int64(binary.LittleEndian.Uint64(head[16:])) <= s.last {
		return Frame{}, 0, errFrame
	}
	// The far end first: bytes full of false beginnings must not cost a whole
	// frame each.
	again, err := s.footer(at + size)
	if err != nil {
		return Frame{}, 0, err
	}
	if again != length {
		return Frame{}, 0, errFrame
	}
	whole, err := s.read(at, size)
	if err != nil {
		return Frame{}, 0, err
	}
	f, err := parseFrame(whole, s.seed, at)
	return f, size, err
}

// footer returns the payload length in the footer that ends at an offset, -1
// where there is none.
func (s *scanner) footer(end int64) (int, error) {
	var b [frameFooter]byte
	if at := end - frameFooter; s.holds(at, frameFooter) {
		copy(b[:], s.buf[at-s.bufAt:])
	} else if _, err := s.r.ReadAt(b[:], at); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if n, ok := footerLength(b[:]); ok {
		return n, nil
	}
	return -1, nil
}

// read returns n bytes at an offset, fewer at the end of the segment. They
// are valid until the next read.
func (s *scanner) read(at, n int64) ([]byte, error) {
	n = min(n, s.end-at)
	if !s.holds(at, n) {
		if err := s.fill(at, max(n, min(window, s.end-at))); err != nil {
			return nil, err
		}
	}
	b := s.buf[at-s.bufAt:]
	return b[:min(n, int64(len(b)))], nil
}

func (s *scanner) holds(at, n int64) bool {
	return at >= s.bufAt && at+n <= s.bufAt+int64(len(s.buf))
}

func (s *scanner) fill(at, n int64) error {
	if int64(cap(s.buf)) < n {
		s.buf = make([]byte, max(n, window))
	}
	got, err := s.r.ReadAt(s.buf[:n], at)
	s.buf, s.bufAt = s.buf[:got], at
	switch {
	case int64(got) == n:
		return nil
	case errors.Is(err, io.EOF): // another process cut the tail meanwhile
		s.end = at + int64(got)
		return nil
	}
	return err
}

// find returns the offset of the next frame magic at or behind an offset, or
// the end of the segment.
func (s *scanner) find(at int64) (int64, error) {
	var magic [4]byte
	binary.LittleEndian.PutUint32(magic[:], frameMagic)
	for at+int64(len(magic)) <= s.end {
		if _, err := s.read(at, int64(len(magic))); err != nil {
			return 0, err
		}
		// Everything that is in memory already.
		b := s.buf[at-s.bufAt:]
		if i := bytes.Index(b, magic[:]); i >= 0 {
			return min(at+int64(i), s.end), nil
		}
		at += max(1, int64(len(b))-int64(len(magic)-1))
	}
	return s.end, nil
}
