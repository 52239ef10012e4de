package packs

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrCut is returned for a message that ends too early.
var ErrCut = errors.New("the protocol buffer is cut off")

// Fields calls fn for every field of a protocol buffer: with a number, or with bytes, which numbers of four and eight bytes
// are, too.
func Fields(b []byte, fn func(field int, number uint64, data []byte) error) error {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			return ErrCut
		}
		b = b[n:]
		var number uint64
		var data []byte
		switch key & 7 {
		case 0:
			if number, n = binary.Uvarint(b); n <= 0 {
				return ErrCut
			}
			b = b[n:]
		case 2:
			size, n := binary.Uvarint(b)
			if n <= 0 || size > uint64(len(b)-n) {
				return ErrCut
			}
			data, b = b[n:n+int(size)], b[n+int(size):]
		case 1, 5:
			width := map[uint64]int{1: 8, 5: 4}[key&7]
			if len(b) < width {
				return ErrCut
			}
			data, b = b[:width], b[width:]
		default:
			return fmt.Errorf("field %d has the unknown wire type %d", key>>3, key&7)
		}
		if err := fn(int(key>>3), number, data); err != nil {
			return err
		}
	}
	return nil
}
