//go:build !unix

package packs

import (
	"io"
	"os"
)

// mapped returns the bytes of an open file of a size.
func mapped(f *os.File, size int64) ([]byte, error) {
	b := make([]byte, size)
	_, err := io.ReadFull(f, b)
	return b, err
}
