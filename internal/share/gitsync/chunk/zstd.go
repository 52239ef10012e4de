package chunk

import (
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// window is how far back the encoder looks, and so what a reader has to keep.
const window = 1 << 20

// Encoders and decoders have tables of megabytes that are worth keeping. With a
// concurrency of 1 they start no goroutines, so that a pool may drop them.
var (
	encoders = sync.Pool{New: func() any { return must(newEncoder()) }}
	decoders = sync.Pool{New: func() any { return must(newDecoder()) }}
)

// newEncoder has level 3 of the zstd command. On texts as people save them the
// next level is 1 % smaller and takes twice the time and four times the memory.
func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(window), zstd.WithEncoderCRC(true), zstd.WithLowerEncoderMem(true))
}

func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(MaxTextBytes))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic("zstd options: " + err.Error())
	}
	return v
}

// compressor returns an encoder that writes to w, and what to do with it in the
// end.
func compressor(w io.Writer) (enc *zstd.Encoder, release func()) {
	enc = encoders.Get().(*zstd.Encoder)
	enc.Reset(w)
	return enc, func() {
		enc.Reset(nil)
		encoders.Put(enc)
	}
}

// decompressor returns a decoder that reads from r, and what to do with it in
// the end.
func decompressor(r io.Reader) (dec *zstd.Decoder, release func(), err error) {
	dec = decoders.Get().(*zstd.Decoder)
	if err := dec.Reset(r); err != nil {
		return nil, nil, err
	}
	return dec, func() {
		if dec.Reset(nil) == nil {
			decoders.Put(dec)
		}
	}, nil
}
