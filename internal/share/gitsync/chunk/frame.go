package chunk

import (
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

const maxBlock = 128 << 10

// Bits of the byte behind the magic that the decoder passes over, or takes.
const (
	dictionaryBits = 0x03
	unusedBit      = 0x10
)

// checkFrame checks that b is one frame of zstd and nothing else, that needs no dictionary and not more than maxWindow
// of memory. A decoder would also take several frames, and skip data that an attacker has hidden between them.
func checkFrame(b []byte) error {
	n, err := frameBytes(b)
	if err == nil && n != len(b) {
		err = damaged("bytes follow the compressed text")
	}
	return err
}

// frameBytes returns where the frame at the beginning of b ends.
func frameBytes(b []byte) (int, error) {
	n, sum, err := frameHeader(b)
	for last := false; err == nil && !last; {
		if len(b)-n < 3 {
			return 0, damaged("the compressed text is cut off")
		}
		h := uint32(b[n]) | uint32(b[n+1])<<8 | uint32(b[n+2])<<16
		kind, size := h>>1&3, int(h>>3)
		if kind == 3 || size > maxBlock {
			return 0, damaged("the compressed text is corrupt")
		}
		if kind == 1 { // one byte, repeated
			size = 1
		}
		n += 3 + size
		last = h&1 != 0
	}
	n += sum
	switch {
	case err != nil:
		return 0, err
	case n > len(b):
		return 0, damaged("the compressed text is cut off")
	}
	return n, nil
}

// frameHeader returns the length of the header of a frame, and of the checksum
// at its end.
func frameHeader(b []byte) (n, sum int, err error) {
	var h zstd.Header
	err = h.Decode(b[:min(len(b), zstd.HeaderMaxSize)])
	window := h.WindowSize
	if h.SingleSegment {
		window = h.FrameContentSize
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return 0, 0, damaged("the compressed text is cut off")
	case errors.Is(err, zstd.ErrMagicMismatch) || h.Skippable:
		return 0, 0, damaged("the file is not compressed with zstd")
	case err != nil || b[4]&(dictionaryBits|unusedBit) != 0:
		return 0, 0, damaged("the zstd frame needs a dictionary or an unknown feature")
	case h.FrameContentSize > MaxTextBytes:
		return 0, 0, quotaText()
	case window > maxWindow:
		return 0, 0, overQuota("the window of the compressed text", int(min(window, 1<<62)), maxWindow)
	}
	if h.HasCheckSum {
		sum = 4
	}
	return h.HeaderSize, sum, nil
}
