package bundle

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	zstdMagic = 0xFD2FB528
	// skipMagic begins the frame that holds the outer manifest of a plain bundle, which every zstd program skips.
	skipMagic = 0x184D2A5A

	maxBlock = 128 << 10
)

// decompress reads what a [frameReader] passes on.
func decompress(r io.Reader, window int64) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(window)))
}

// frameReader passes on frames of zstd. A decoder would also skip frames that are marked as skippable, and with them
// any data that an attacker has put into a bundle beside the snapshot.
type frameReader struct {
	r       *bufio.Reader
	window  uint64 // at most
	needSum bool   // every frame must have a checksum
	frames  int
	empty   bool // nothing was in the frame so far
	next    func() error
	left    int // bytes to pass on before next is asked
	sum     int // bytes of the checksum
}

func newFrameReader(r io.Reader, window int64, needSum bool) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, copyBytes), window: uint64(window), needSum: needSum}
}

func (f *frameReader) Read(p []byte) (int, error) {
	if f.next == nil {
		f.next = f.header
	}
	for f.left == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	n, err := f.r.Read(p[:min(len(p), f.left)])
	f.left -= n
	return n, cut(err)
}

func (f *frameReader) peek(n int) ([]byte, error) {
	b, err := f.r.Peek(n)
	return b, cut(err)
}

// cut is what the end of a stream means before the end of the frame.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

var errFollows = errors.New("data follows the compressed stream")

// header looks at the header of the frame.
func (f *frameReader) header() error {
	b, err := f.peek(5)
	if err != nil && f.frames > 0 {
		return errFollows
	}
	if err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(b) != zstdMagic {
		if f.frames > 0 {
			return errFollows
		}
		return errors.New("the stream is not compressed with zstd")
	}
	f.frames++
	f.empty = true
	d := b[4]
	single, sizeFlag := d&0x20 != 0, d>>6
	if d&0x1b != 0 {
		return errors.New("the stream needs a dictionary or a later version of zstd")
	}
	f.sum = int(d>>2&1) * 4
	if f.needSum && f.sum == 0 {
		return errors.New("the compressed stream has no checksum")
	}
	sizeBytes := 1 << sizeFlag
	n := 5 + sizeBytes
	switch {
	case !single && sizeFlag == 0:
		n = 6
	case !single:
		n++
	}
	if b, err = f.peek(n); err != nil {
		return err
	}
	if w := frameWindow(b, single, sizeBytes); w > f.window {
		return quota(fmt.Sprintf("the compressed stream needs a window of %d bytes", w), int64(f.window))
	}
	f.left, f.next = n, f.block
	return nil
}

// frameWindow returns how much memory the frame needs.
func frameWindow(b []byte, single bool, sizeBytes int) uint64 {
	if !single {
		base := uint64(1) << (10 + b[5]>>3)
		return base + base/8*uint64(b[5]&7)
	}
	var size [8]byte
	copy(size[:], b[5:5+sizeBytes])
	w := binary.LittleEndian.Uint64(size[:])
	if sizeBytes == 2 {
		w += 256
	}
	return w
}

// block looks at the header of a block.
func (f *frameReader) block() error {
	b, err := f.peek(3)
	if err != nil {
		return err
	}
	h := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
	kind, size := h>>1&3, int(h>>3)
	switch {
	case kind == 3 || size > maxBlock:
		return errors.New("the compressed stream is not intact")
	case kind == 1: // one byte, repeated
		size = 1
	}
	f.left = 3 + size
	f.empty = f.empty && h>>3 == 0
	if h&1 != 0 && f.empty {
		return errFollows // a frame with nothing in it
	}
	if h&1 != 0 {
		f.left += f.sum
		f.next = f.end
	}
	return nil
}

// end looks whether another frame follows.
func (f *frameReader) end() error {
	if _, err := f.r.Peek(1); err != nil {
		return err // io.EOF, or what has failed
	}
	f.next = f.header
	return nil
}
