package repo

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// codec makes ids and stored bytes of what is written, and opens what was. It
// is never changed, so it is safe for concurrent use.
type codec struct {
	current *key           // of everything that is written; nil: nothing is encrypted
	keys    map[keyID]*key // all of them
	ordered []*key         // the same, in the order in which they were made
	name    string         // of the current key, also when it cannot be used
	serial  int64          // of the record of the keys; 0 without one
	// closed says why nothing can be written and nothing opened that is sealed:
	// refused when no identity opens the record, damaged when it cannot be read.
	closed error
	damage *Problem // of the record
	// repository, names of all keys, recipients and signature are those of the
	// record.
	repository string
	names      []string
	recipients []string
	signature  SignatureState
	random     io.Reader // of nonces
}

// keyOf returns the key that the stored bytes of a blob are sealed with, nil
// when they are not.
func (c *codec) keyOf(e *entry, stored []byte) (*key, error) {
	if !e.sealed {
		return nil, nil
	}
	if k := c.keys[sealer(stored)]; k != nil {
		return k, nil
	}
	if err := c.holds(stored); err != nil {
		return nil, err
	}
	return nil, c.closed
}

// holds looks for the key of sealed bytes in the key record, which needs no
// identity. Without a record that can be read there is nothing to look in.
func (c *codec) holds(stored []byte) error {
	id := sealer(stored)
	if c.damage != nil || slices.Contains(c.names, id.String()) {
		return nil
	}
	return fmt.Errorf("the blob is encrypted with key %v, which the key record does not hold", id)
}

// room is how many bytes have to be free before what is sealed.
func (c *codec) room() int {
	if c.current == nil {
		return 0
	}
	return sealedHead
}

// seal fills in how a blob is stored and returns its stored bytes: b, or, with
// a key, others in buf.
func (c *codec) seal(e *entry, b, buf []byte) (stored []byte, err error) {
	stored = b
	if c.current != nil {
		e.sealed = true
		if stored, err = c.current.seal(c.random, e, b, buf); err != nil {
			return nil, err
		}
	}
	e.crc = checksum(stored)
	return stored, nil
}

// windowBytes bounds what an encoder remembers of a blob, and so its memory.
const windowBytes = 1 << 20

// encoders compress blobs, each kind at its level. Safe for concurrent use.
type encoders struct{ fast, dense *zstd.Encoder }

func newEncoders(concurrency int) *encoders {
	level := func(l zstd.EncoderLevel) *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(l), zstd.WithEncoderConcurrency(concurrency),
			zstd.WithWindowSize(windowBytes), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic("zstd options: " + err.Error())
		}
		return e
	}
	// 1 and 3 of the zstd command.
	return &encoders{fast: level(zstd.SpeedFastest), dense: level(zstd.SpeedDefault)}
}

// compress returns the shorter one of plain and what it compresses to, which
// lies behind the given room in the buffer for the next call: that is dst or
// has replaced it.
func (e *encoders) compress(kind Kind, plain, dst []byte, room int) (b []byte, c compression, buf []byte) {
	enc := e.dense
	if kind == KindPages {
		enc = e.fast
	}
	// Noise becomes longer, by three bytes for each block of 128 KiB and a
	// header; without the space the encoder would allocate once more. It is
	// enough for a tag, too.
	dst = slices.Grow(dst[:0], room+len(plain)+len(plain)>>12+64)
	out := enc.EncodeAll(plain, dst[:room])
	if n := len(out) - room; n > 0 && n < len(plain) {
		return out[room:], compressZstd, out
	}
	return plain, compressNone, out
}

// newDecoder returns a decoder for decompress, safe for concurrent use.
func newDecoder() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(MaxBlobBytes), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic("zstd options: " + err.Error())
	}
	return d
}

// decompress expands b into dst, which must have the capacity of the
// plaintext: nothing is written beyond it.
func decompress(d *zstd.Decoder, b, dst []byte, plain int) ([]byte, error) {
	out, err := d.DecodeAll(b, dst[:0:plain])
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	if len(out) != plain {
		return nil, errors.New("decompress: the length does not match")
	}
	return out, nil
}
