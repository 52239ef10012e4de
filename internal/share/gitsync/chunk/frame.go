package chunk

import (
	"encoding/binary"
)

const (
	zstdMagic = 0xFD2FB528
	maxBlock  = 128 << 10
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
	if len(b) < 4 || binary.LittleEndian.Uint32(b) != zstdMagic {
		return 0, 0, damaged("the file is not compressed with zstd")
	}
	if len(b) < 6 {
		return 0, 0, damaged("the compressed text is cut off")
	}
	d := b[4]
	if d&0x1b != 0 {
		return 0, 0, damaged("the zstd frame needs a dictionary or an unknown feature")
	}
	single := d&0x20 != 0
	n = 5
	window := uint64(0)
	if !single {
		base := uint64(1) << (10 + b[5]>>3)
		window = base + base/8*uint64(b[5]&7)
		n = 6
	}
	size, known := 0, single || d>>6 != 0
	if known {
		size = 1 << (d >> 6)
	}
	if len(b) < n+size {
		return 0, 0, damaged("the compressed text is cut off")
	}
	text := contentSize(b[n : n+size])
	if single {
		window = text
	}
	switch {
	case text > MaxTextBytes:
		return 0, 0, quotaText()
	case window > maxWindow:
		return 0, 0, overQuota("the window of the compressed text", int(min(window, 1<<62)), maxWindow)
	}
	return n + size, int(d>>2&1) * 4, nil
}

// contentSize reads the length of the text as a frame tells it, 0 when it does
// not.
func contentSize(b []byte) uint64 {
	var size [8]byte
	copy(size[:], b)
	n := binary.LittleEndian.Uint64(size[:])
	if len(b) == 2 {
		n += 256
	}
	return n
}
