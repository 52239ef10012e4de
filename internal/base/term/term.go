// Package term prints for people who sit at a terminal: how wide it is, text and
// tables that fit, and a bar for what takes long.
package term

import "os"

// Is reports whether a file is a terminal. The null device is a device of the
// same kind, and no terminal.
func Is(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// usualColumns is the width of a terminal that does not tell.
const usualColumns = 80

// Columns returns how many columns a terminal has; 0 when f is none.
func Columns(f *os.File) int {
	if !Is(f) {
		return 0
	}
	if n := columns(f); n > 0 {
		return n
	}
	return usualColumns
}
