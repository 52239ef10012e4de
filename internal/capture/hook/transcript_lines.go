package hook

import (
	"bytes"
	"io"
	"strings"
)

// Bounds of what is read of a transcript, from its end.
const (
	maxTranscript = 8 << 20
	maxLine       = 1 << 20 // a longer one is passed over
	maxLines      = 20_000
	readSize      = 128 << 10
)

// lineAbout returns the value in a line whose type may be one of the kinds.
func lineAbout(line string, kinds ...string) (value, bool) {
	for _, k := range kinds {
		if strings.Contains(line, `"`+k+`"`) {
			v, _, ok := scanText(line)
			return v, ok
		}
	}
	return value{}, false
}

// linesBackward yields the lines of a file of a size from the last one on, until
// yield returns false. A line that is still being written is one, too.
func linesBackward(r io.ReaderAt, size int64, yield func(line string) bool) {
	var rest []byte // the beginning of it may be missing
	long := false   // what is read is part of a line that is too long
	stop, left := max(0, size-maxTranscript), maxLines
	for at := size; at > stop; {
		n := min(at-stop, readSize)
		block := make([]byte, n, int(n)+len(rest))
		if _, err := r.ReadAt(block, at-n); err != nil {
			return
		}
		at -= n
		rest = append(block, rest...)
		for {
			i := bytes.LastIndexByte(rest, '\n')
			if i < 0 {
				break
			}
			if line := rest[i+1:]; !long && len(bytes.TrimSpace(line)) > 0 {
				if left--; left < 0 || !yield(string(line)) {
					return
				}
			}
			rest, long = rest[:i], false
		}
		if len(rest) > maxLine {
			rest, long = nil, true
		}
	}
	if stop == 0 && !long && len(bytes.TrimSpace(rest)) > 0 {
		yield(string(rest))
	}
}
