// Package pointer is the form of a pointer where it is stored, the same in every
// target: a small value that is replaced whole, and how often it was.
package pointer

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/amber-memory/amber/internal/freeze/target"
)

// Pointer is what is stored of a pointer:
//
//	amber-pointer 1 <count> <SHA-256 of the value, in hex>\n
//	<value>
type Pointer struct {
	Count uint64 // of swaps; 0 when there is no pointer
	Value []byte
}

// Bounds of what is stored.
const (
	MaxBytes = target.MaxPointerBytes + maxHeader
	MaxCount = 1 << 62 // no honest pointer gets there
)

const (
	header    = "amber-pointer 1 %d %x\n"
	maxHeader = 128
)

// ErrTooNew is returned by [Decode] for the form of a later version.
var ErrTooNew = errors.New("the pointer was written by a newer Amber")

// Encode returns the stored form of p.
func (p Pointer) Encode() []byte {
	return append(fmt.Appendf(nil, header, p.Count, sha256.Sum256(p.Value)), p.Value...)
}

// Decode reads what [Pointer.Encode] writes, and nothing else. The value is part
// of data. The error is [ErrTooNew], or says why it is no intact pointer.
func Decode(data []byte) (Pointer, error) {
	line, value, found := bytes.Cut(data, []byte("\n"))
	if !found || len(line) >= maxHeader {
		return Pointer{}, errors.New("the first line is missing")
	}
	p := Pointer{Value: value}
	var format int
	n, _ := fmt.Sscanf(string(line), "amber-pointer %d %d", &format, &p.Count)
	switch {
	case n < 1 || format < 1:
		return Pointer{}, errors.New("not a pointer")
	case format > 1:
		return Pointer{}, ErrTooNew
	case p.Count == 0 || p.Count >= MaxCount || len(value) > target.MaxPointerBytes || !bytes.Equal(p.Encode(), data):
		return Pointer{}, errors.New("the first line does not match the value")
	}
	return p, nil
}
