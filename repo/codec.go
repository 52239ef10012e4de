package repo

import (
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// codec makes ids of plaintext and stored bytes of compressed ones. An
// encrypted repository will have another one, with keyed ids.
type codec interface {
	blobID(kind Kind, plain []byte) ID
	pagesID(pageSize int, digests []PageDigest) ID
	// seal returns the stored bytes; it may return b and does not change it.
	seal(e *entry, b []byte) ([]byte, error)
	// open undoes seal; it may use b for what it returns.
	open(e *entry, b []byte) ([]byte, error)
}

// plainCodec is the codec of a repository that is not encrypted.
type plainCodec struct{}

func (plainCodec) blobID(kind Kind, plain []byte) ID             { return BlobID(kind, plain) }
func (plainCodec) pagesID(pageSize int, digests []PageDigest) ID { return PagesID(pageSize, digests) }
func (plainCodec) seal(_ *entry, b []byte) ([]byte, error)       { return b, nil }
func (plainCodec) open(_ *entry, b []byte) ([]byte, error)       { return b, nil }

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

// compress returns the shorter one of plain and what it compresses to, and the
// buffer for the next call, which is dst or has replaced it.
func (e *encoders) compress(kind Kind, plain, dst []byte) (b []byte, c compression, buf []byte) {
	enc := e.dense
	if kind == KindPages {
		enc = e.fast
	}
	// Noise becomes longer, by three bytes for each block of 128 KiB and a
	// header; without the room the encoder would allocate once more.
	dst = slices.Grow(dst[:0], len(plain)+len(plain)>>12+64)
	out := enc.EncodeAll(plain, dst)
	if len(out) > 0 && len(out) < len(plain) {
		return out, compressZstd, out
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
		return nil, errors.New("decompress: the length is wrong")
	}
	return out, nil
}
