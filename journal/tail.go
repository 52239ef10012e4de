package journal

import (
	"bytes"
	"errors"
	"io"
)

// maxTail bounds how many bytes behind the last intact frame are looked at
// and kept aside. More of them stay where they are.
const maxTail = 4 << 20

// judgeTail says what the bytes behind the last intact frame are. A crash
// tears a write that nobody was told of. Frames that lie there from end to end
// were written whole, so somebody may rely on them: that is damage.
func (s *scanner) judgeTail() error {
	s.tail = s.end - s.at
	if s.tail <= 0 || s.tail > maxTail {
		return nil
	}
	b, err := s.readTail()
	if err == nil {
		s.lost = wholeFrames(b, s.at)
	}
	return err
}

// readTail returns the bytes behind the last intact frame.
func (s *scanner) readTail() ([]byte, error) {
	b := make([]byte, s.tail)
	n, err := s.r.ReadAt(b, s.at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], err
}

// wholeFrames returns how many damaged frames fill b, which lies at offset at,
// from end to end; 0 when they do not. Damage to one frame spares its length
// at one of its two ends.
func wholeFrames(b []byte, at int64) int64 {
	if hasHole(b, at) {
		return 0
	}
	if n, ok := countForward(b); ok {
		return n
	}
	n, _ := countBackward(b)
	return n
}

func countForward(b []byte) (n int64, ok bool) {
	for ; len(b) > 0; n++ {
		length, ok := frameLength(b)
		if size := frameSize(length); !ok || size > int64(len(b)) {
			return 0, false
		}
		b = b[frameSize(length):]
	}
	return n, true
}

func countBackward(b []byte) (n int64, ok bool) {
	for ; len(b) > 0; n++ {
		length, ok := footerLength(b)
		if size := frameSize(length); !ok || size > int64(len(b)) {
			return 0, false
		}
		b = b[:int64(len(b))-frameSize(length)]
	}
	return n, true
}

// hasHole reports whether a sector of b, or the part of one, is nothing but
// zeros: space that a crash left without its bytes.
func hasHole(b []byte, at int64) bool {
	const sector = 512
	var zero [sector]byte
	for len(b) > 0 {
		n := min(int64(len(b)), sector-at%sector)
		if bytes.Equal(b[:n], zero[:n]) {
			return true
		}
		b, at = b[n:], at+n
	}
	return false
}
