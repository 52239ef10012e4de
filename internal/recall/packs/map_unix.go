//go:build unix

package packs

import (
	"os"
	"syscall"
)

// mapped returns the bytes of an open file of a size. They stay until the process ends.
func mapped(f *os.File, size int64) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
}
