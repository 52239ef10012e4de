package journal

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"

	"github.com/amber-memory/amber"
)

// Extract writes the intact entries of a session with sequences above after
// and up to upto to w, in the form of one segment, however long, and returns how
// many they are and what could not be read on the way. The same entries give the
// same bytes. The entries that it writes are durable in the journal. It has the
// promises and errors of [Journal.Read], beside those of w. [ReadExtract] reads
// the extract.
func (j *Journal) Extract(ctx context.Context, key Key, after, upto int64, w io.Writer) (frames int64, d Damage, err error) {
	if err := checkCursor(upto); err != nil {
		return 0, Damage{}, err
	}
	out := segmentWriter{w: bufio.NewWriterSize(w, window), header: header{number: 1, key: key, base: after + 1}}
	d, err = j.Read(ctx, key, after, func(f Frame) error {
		if f.Seq > upto {
			return errEnough
		}
		frames++
		return out.frame(f)
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	if err == nil {
		err = out.flush()
	}
	return frames, d, err
}

// errEnough ends a reading.
var errEnough = errors.New("enough was read")

// segmentWriter writes one segment from beginning to end.
type segmentWriter struct {
	w      *bufio.Writer
	header header // its time is that of the first frame
	at     int64
	buf    []byte
}

func (s *segmentWriter) frame(f Frame) error {
	if err := s.begin(f.At); err != nil {
		return err
	}
	s.buf = appendFrame(s.buf[:0], s.header.key.seed(), s.at, f)
	n, err := s.w.Write(s.buf)
	s.at += int64(n)
	return err
}

// begin writes the header once.
func (s *segmentWriter) begin(at amber.Time) error {
	if s.at > 0 {
		return nil
	}
	s.header.at = at
	n, err := s.w.Write(s.header.marshal())
	s.at = int64(n)
	return err
}

func (s *segmentWriter) flush() error {
	if err := s.begin(amber.UnixMilli(0)); err != nil {
		return err
	}
	return s.w.Flush()
}

// ReadExtract calls fn for every entry in what [Journal.Extract] wrote of a
// session, in order. The payload is valid until fn returns. Unlike a segment of
// the journal it was written whole, so anything that is not an intact entry ends
// it. Errors: those of fn and r; damaged, too_new.
func ReadExtract(r io.Reader, key Key, fn func(Frame) error) (frames int64, err error) {
	if err := checkKey(key); err != nil {
		return 0, err
	}
	in := bufio.NewReaderSize(r, window)
	h, err := extractHeader(in, key)
	if err != nil {
		return 0, err
	}
	x := extract{r: in, key: key, seed: key.seed(), at: segmentHeader, last: h.base - 1}
	for ; ; frames++ {
		f, err := x.next()
		if err == io.EOF {
			return frames, nil
		}
		if err == nil {
			err = fn(f)
		}
		if err != nil {
			return frames, err
		}
	}
}

// RewriteExtract copies what [Journal.Extract] wrote of a session to w, with the
// payload of every entry replaced by what payload returns for it; sequences and
// times stay. Errors: those of [ReadExtract], payload and w; invalid for a
// payload that is too long.
func RewriteExtract(r io.Reader, key Key, w io.Writer, payload func([]byte) ([]byte, error)) (frames int64, err error) {
	out := segmentWriter{w: bufio.NewWriterSize(w, window)}
	frames, err = ReadExtract(r, key, func(f Frame) error {
		b, err := payload(f.Payload)
		if err != nil {
			return err
		}
		if len(b) > MaxPayload {
			return amber.Errorf(amber.KindInvalid, "rewrite entries", string(key), "an entry has become too long")
		}
		if out.at == 0 {
			out.header = header{number: 1, key: key, base: f.Seq}
		}
		f.Payload = b
		return out.frame(f)
	})
	if err != nil {
		return frames, err
	}
	if out.at == 0 {
		out.header = header{number: 1, key: key, base: 1}
	}
	return frames, out.flush()
}

func extractHeader(r io.Reader, key Key) (header, error) {
	b := make([]byte, segmentHeader)
	if _, err := io.ReadFull(r, b); err != nil {
		return header{}, cutOff(key, err)
	}
	h, err := parseHeader(b)
	if errors.Is(err, errHeader) || err == nil && (h.key != key || h.base > math.MaxInt64/2) {
		return header{}, badExtract(key, "extract does not begin with a header of this session")
	}
	return h, err
}

// extract reads the frames of an extract.
type extract struct {
	r    io.Reader
	key  Key
	seed uint32
	at   int64 // where the next frame begins
	last int64 // sequence of the frame before
	buf  []byte
}

// next returns the next frame, or io.EOF behind the last.
func (x *extract) next() (Frame, error) {
	var head [frameHeader]byte
	n, err := io.ReadFull(x.r, head[:])
	if n == 0 && err == io.EOF {
		return Frame{}, io.EOF
	}
	if err != nil {
		return Frame{}, cutOff(x.key, err)
	}
	length, ok := frameLength(head[:])
	if !ok {
		return Frame{}, badExtract(x.key, "there is no entry where one should be")
	}
	size := int(frameSize(length))
	if cap(x.buf) < size {
		x.buf = make([]byte, size)
	}
	x.buf = x.buf[:size]
	copy(x.buf, head[:])
	if _, err := io.ReadFull(x.r, x.buf[frameHeader:]); err != nil {
		return Frame{}, cutOff(x.key, err)
	}
	f, err := parseFrame(x.buf, x.seed, x.at)
	if err != nil || f.Seq <= x.last || f.Seq > math.MaxInt64/2 {
		return Frame{}, badExtract(x.key, "an entry has changed")
	}
	x.at, x.last = x.at+int64(size), f.Seq
	return f, nil
}

// cutOff turns the end of a reader in the middle of something into damage.
func cutOff(key Key, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return badExtract(key, "extract ends in the middle of an entry")
	}
	return err
}

func badExtract(key Key, why string) error {
	return amber.Errorf(amber.KindDamaged, "read entries", string(key), "%s", why)
}
