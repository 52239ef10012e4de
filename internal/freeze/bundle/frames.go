package bundle

import (
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// frameBytes is how much of the tar one frame of zstd holds: so much memory a reader needs, and frames can be made
	// side by side.
	frameBytes = 1 << 20
	// frameWorkers is how many frames are being made while the next one is filled.
	frameWorkers = 2
)

// frameWriter compresses what is written to it, a frame for every frameBytes. Its output depends on its input and on
// the level alone. One goroutine uses it.
type frameWriter struct {
	w       io.Writer
	encoder *zstd.Encoder
	filling *piece
	pending []*piece // in the order of the tar; at most frameWorkers
	spare   []*piece
	err     error
}

// piece is a part of the tar on its way.
type piece struct {
	plain, packed []byte
	done          chan struct{}
}

func newFrameWriter(w io.Writer, level int) (*frameWriter, error) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)), zstd.WithEncoderConcurrency(frameWorkers),
		zstd.WithWindowSize(frameBytes), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(true))
	return &frameWriter{w: w, encoder: e}, err
}

func (f *frameWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 && f.err == nil {
		if f.filling == nil {
			f.filling = f.fresh()
		}
		plain := f.filling.plain
		k := copy(plain[len(plain):cap(plain)], p)
		f.filling.plain = plain[:len(plain)+k]
		n, p = n+k, p[k:]
		if len(f.filling.plain) == frameBytes {
			f.pack()
		}
	}
	return n, f.err
}

// fresh returns an empty frame.
func (f *frameWriter) fresh() *piece {
	if last := len(f.spare) - 1; last >= 0 {
		x := f.spare[last]
		f.spare = f.spare[:last]
		x.plain = x.plain[:0]
		return x
	}
	return &piece{plain: make([]byte, 0, frameBytes)}
}

// pack has the frame that is being filled compressed, once there is room.
func (f *frameWriter) pack() {
	for len(f.pending) >= frameWorkers {
		f.put()
	}
	x := f.filling
	f.filling = nil
	x.done = make(chan struct{})
	f.pending = append(f.pending, x)
	go func() {
		defer close(x.done)
		x.packed = f.encoder.EncodeAll(x.plain, x.packed[:0])
	}()
}

// put waits for the oldest frame and writes it, unless something has failed.
func (f *frameWriter) put() {
	x := f.pending[0]
	f.pending = f.pending[1:]
	<-x.done
	if f.err == nil {
		_, f.err = f.w.Write(x.packed)
	}
	f.spare = append(f.spare, x)
}

// Close writes what is left. After an error it only waits for what is under way.
func (f *frameWriter) Close() error {
	if f.filling != nil && f.err == nil {
		f.pack()
	}
	for len(f.pending) > 0 {
		f.put()
	}
	return f.err
}
