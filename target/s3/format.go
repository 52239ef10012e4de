package s3

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
)

// pointer is what the object of a pointer says, in the same bytes as in a
// target that is a folder:
//
//	amber-pointer 1 <count> <SHA-256 of the value, in hex>\n
//	<value>
type pointer struct {
	count uint64 // of swaps
	value []byte
}

const (
	header    = "amber-pointer 1 %d %x\n"
	maxHeader = 128
	maxCount  = 1 << 62 // no honest pointer gets there
)

var errTooNew = errors.New("a newer Amber wrote it")

func (p pointer) encode() []byte {
	return append(fmt.Appendf(nil, header, p.count, sha256.Sum256(p.value)), p.value...)
}

// decode reads what encode writes, and nothing else. The value is part of data.
func decode(data []byte) (pointer, error) {
	line, value, found := bytes.Cut(data, []byte("\n"))
	if !found || len(line) >= maxHeader {
		return pointer{}, errors.New("the first line is missing")
	}
	p := pointer{value: value}
	var format int
	n, _ := fmt.Sscanf(string(line), "amber-pointer %d %d", &format, &p.count)
	switch {
	case n < 1 || format < 1:
		return pointer{}, errors.New("it is not a pointer")
	case format > 1:
		return pointer{}, errTooNew
	case p.count == 0 || p.count >= maxCount || len(value) > amber.MaxPointerBytes || !bytes.Equal(p.encode(), data):
		return pointer{}, errors.New("the first line does not match the value")
	}
	return p, nil
}
