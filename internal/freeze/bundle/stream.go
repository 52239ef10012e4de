package bundle

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
)

// stream is the way from the file to the tar. Each step keeps what went wrong in it: what is reported at the end of the
// way is only what the steps make of it.
type stream struct {
	tar   *bufio.Reader
	disk  *watched // the file, until the context ends
	plain *watched // what age hands out; nil when it is not encrypted
	frame *watched // the compressed stream
	meter *meter
	zstd  *zstd.Decoder
	ahead *ahead
}

// watched keeps the first error that is not the end.
type watched struct {
	r   io.Reader
	err error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && err != io.EOF && w.err == nil {
		w.err = err
	}
	return n, err
}

// meter bounds the tar.
type meter struct {
	r    io.Reader
	left int64
	most int64
	err  error
}

func (m *meter) Read(p []byte) (int, error) {
	if m.left == 0 {
		var one [1]byte
		n, err := io.ReadFull(m.r, one[:])
		if n > 0 {
			m.err = quota("the bundle expands to more bytes than its length allows", m.most)
			return 0, m.err
		}
		return 0, err
	}
	n, err := m.r.Read(p[:min(int64(len(p)), m.left)])
	m.left -= int64(n)
	return n, err
}

// errLocked is returned when none of the identities opens the file, or there are none.
var errLocked = errors.New(whyNoIdentity)

// open returns the tar of the bundle. It returns errLocked without an identity that opens it; other errors are to be
// given to the stream's cause.
func (b *Bundle) open(ctx context.Context) (*stream, error) {
	s := &stream{disk: &watched{r: &cancelled{ctx, io.NewSectionReader(b.file, 0, b.size)}}}
	payload := io.Reader(s.disk)
	if b.shape.encrypted {
		if len(b.o.Identities) == 0 {
			return s, errLocked
		}
		r, err := age.Decrypt(s.disk, b.o.Identities...)
		var noMatch *age.NoIdentityMatchError
		switch {
		case errors.As(err, &noMatch):
			return s, errLocked
		case err != nil:
			s.plain = &watched{err: err}
			return s, err
		}
		s.plain = &watched{r: r}
		payload = s.plain
	} else {
		s.disk.r = &cancelled{ctx, io.NewSectionReader(b.file, b.shape.front, b.size-b.shape.front)}
	}
	l := b.o.Limits
	s.frame = &watched{r: newFrameReader(payload, l.WindowBytes, b.shape.hasRoom)}
	var err error
	if s.zstd, err = decompress(s.frame, l.WindowBytes); err != nil {
		return s, err
	}
	most := l.tarBytes(b.size)
	s.meter = &meter{r: s.zstd, left: most, most: most}
	s.ahead = newAhead(s.meter)
	s.tar = bufio.NewReaderSize(s.ahead, copyBytes)
	return s, nil
}

// close ends the way. The steps may be looked at then.
func (s *stream) close() {
	if s.ahead != nil {
		s.ahead.close()
	}
	if s.zstd != nil {
		s.zstd.Close()
	}
}

// cause says what an error on the way means: which check has failed and why, or an error that is no damage.
func (s *stream) cause(path string, err error) (check string, why, fatal error) {
	var kinded *amber.Error
	s.close() // nothing moves any more
	switch {
	case s.disk.err != nil:
		return "", nil, diskerr.Given("read bundle", path, s.disk.err)
	case s.meter != nil && s.meter.err != nil:
		return "", nil, s.meter.err
	case s.plain != nil && s.plain.err != nil:
		return CheckAge, fmt.Errorf("decryption failed: %v", s.plain.err), nil
	case s.frame != nil && s.frame.err != nil:
		err = s.frame.err
	}
	if errors.As(err, &kinded) {
		return "", nil, err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return "", nil, err
	}
	return CheckEntries, err, nil
}
