package chunk

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/amber-memory/amber"
)

// lines reads the text of a chunk a line at a time, so that no more of it is in
// memory than the window of zstd and one line.
type lines struct {
	r       *bufio.Reader
	release func()
	long    bytes.Buffer // a line that is longer than the buffer of r
	text    int          // bytes so far
}

// readLines begins to read the text of a frame that has passed checkFrame.
func readLines(frame []byte) (*lines, error) {
	// Not a buffer: the decoder would decompress a small one all at once.
	dec, release, err := decompressor(bytes.NewReader(frame))
	if err != nil {
		return nil, damaged("decompress: %v", err)
	}
	return &lines{r: bufio.NewReaderSize(dec, 32<<10), release: release}, nil
}

func (l *lines) close() { l.release() }

// next returns the next line without its end; it is good until the next call.
// It returns io.EOF behind the last one. Errors: damaged; quota when the line has
// more than most bytes, or the text more than MaxTextBytes.
func (l *lines) next(most int) ([]byte, error) {
	l.long.Reset()
	for {
		part, err := l.r.ReadSlice('\n')
		l.text += len(part)
		length := l.long.Len() + len(part)
		switch {
		case l.text > MaxTextBytes:
			return nil, quotaText()
		case length > most+1:
			return nil, because(amber.KindQuota, "a line has more than %d bytes", most)
		case errors.Is(err, bufio.ErrBufferFull):
			l.long.Write(part)
			continue
		case err == io.EOF && length == 0:
			return nil, io.EOF
		case err == io.EOF:
			return nil, damaged("the last line does not end with a line feed")
		case err != nil:
			return nil, damaged("decompress: %v", err)
		}
		if l.long.Len() > 0 {
			l.long.Write(part)
			part = l.long.Bytes()
		}
		return part[:len(part)-1], nil
	}
}

func quotaText() error {
	return because(amber.KindQuota, "the text has more than %d bytes", MaxTextBytes)
}
