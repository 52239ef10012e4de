package foreign

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// eachLine calls fn with the number, from 1, and the bytes of every line that is not empty; the bytes are valid until fn
// returns. A line of more than [MaxItemBytes] is told to skip and passed over. The error is that of fn, or says what
// became of the file after its last line.
func eachLine(r io.Reader, fn func(n int64, line []byte) error, skip func(n int64, reason string)) error {
	in := bufio.NewReaderSize(r, 256<<10)
	var long []byte // a line that did not fit the buffer
	for n := int64(1); ; n++ {
		line, size, err := readLine(in, &long)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("line %d cannot be read: %w", n, err)
		}
		end := errors.Is(err, io.EOF)
		if n == 1 {
			line = TrimMark(line)
		}
		if line = bytes.TrimSpace(line); size > MaxItemBytes {
			skip(n, fmt.Sprintf("line has %d bytes, the limit is %d", size, MaxItemBytes))
		} else if len(line) > 0 {
			if err := fn(n, line); err != nil {
				return err
			}
		}
		if end {
			return nil
		}
	}
}

// readLine returns the next line and its length. It keeps nothing of a line that is too long.
func readLine(in *bufio.Reader, long *[]byte) (line []byte, size int64, err error) {
	part, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return part, int64(len(part)), err
	}
	if cap(*long) > 8<<20 {
		*long = nil // one long line does not hold its memory for the rest of the file
	}
	*long = (*long)[:0]
	for {
		size += int64(len(part))
		if size <= MaxItemBytes {
			*long = append(*long, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return *long, size, err
		}
		part, err = in.ReadSlice('\n')
	}
}
