package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// maxTail bounds how many bytes behind the last intact frame are looked at
// and kept aside. More of them stay where they are.
const maxTail = 4 << 20

// judgeTail finds out what the bytes behind the last intact frame are. A crash
// tears a write that was not acknowledged yet. Frames that lie there from end to
// end were written whole, and may have been acknowledged: that is damage.
func (s *scanner) judgeTail() error {
	s.tail = s.end - s.at
	if s.tail <= 0 || s.tail > maxTail {
		return nil
	}
	b, err := s.readTail()
	if err == nil {
		s.lost = wholeFrames(b, s.at, s.last)
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

// wholeFrames returns how many damaged frames there are in b, which lies at
// offset at behind the sequence last: those that fill it from end to end, for
// damage to one frame spares its length at one of its two ends, or those that
// have moved. 0 means that b is torn.
func wholeFrames(b []byte, at, last int64) int64 {
	if hasHole(b, at) {
		return 0
	}
	if n, ok := countForward(b); ok {
		return n
	}
	if n, ok := countBackward(b); ok {
		return n
	}
	return lostInside(b, last)
}

// lostInside returns how many entries behind the sequence last are lost in b,
// when frames with both ends lie in it that have moved: bytes before them got
// lost, or came in. The remains of a single torn write begin with a frame that is
// longer than b; everything in that frame is its payload.
func lostInside(b []byte, last int64) (lost int64) {
	if length, ok := frameLength(b); ok && frameSize(length) > int64(len(b)) {
		return 0
	}
	var magic [4]byte
	binary.LittleEndian.PutUint32(magic[:], frameMagic)
	most := last + int64(len(b))/minFrame + 1
	for at := 0; ; {
		i := bytes.Index(b[at:], magic[:])
		if i < 0 {
			return lost
		}
		at += i
		seq, size, ok := outline(b[at:])
		if !ok || seq <= last+lost || seq > most {
			at++
			continue
		}
		lost = seq - last
		at += size
	}
}

// outline returns the sequence and the size of the frame that b begins with,
// whatever its checksum.
func outline(b []byte) (seq int64, size int, ok bool) {
	length, ok := frameLength(b)
	size = int(frameSize(length))
	if !ok || size > len(b) {
		return 0, 0, false
	}
	again, ok := footerLength(b[:size])
	return int64(binary.LittleEndian.Uint64(b[16:])), size, ok && again == length
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
