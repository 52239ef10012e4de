package fsx

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadFile returns the content of the regular file path, which the caller owns. A file of more than max
// bytes is refused with [ErrTooLarge] without reading beyond max; a symbolic link, directory, fifo or
// device with [ErrNotRegular], without waiting for it.
func ReadFile(fsys FS, path string, max int64) ([]byte, error) {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	defer f.Close()
	data, err := readAtMost(f, max)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

// readAtMost reads the regular file f, from its offset to its end.
func readAtMost(f File, max int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s", ErrNotRegular, typeName(info.Mode()))
	}
	if info.Size() > max {
		return nil, fmt.Errorf("%w: %d bytes, at most %d allowed", ErrTooLarge, info.Size(), max)
	}
	var buf bytes.Buffer
	buf.Grow(int(info.Size()) + bytes.MinRead)
	if _, err := buf.ReadFrom(io.LimitReader(f, max)); err != nil {
		return nil, err
	}
	// The file may have grown since Stat: one byte more than allowed is enough to know.
	if int64(buf.Len()) == max {
		n, err := f.Read(make([]byte, 1))
		if n > 0 {
			return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, max)
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
	}
	return buf.Bytes(), nil
}

func typeName(mode fs.FileMode) string {
	switch mode.Type() {
	case fs.ModeDir:
		return "directory"
	case fs.ModeSymlink:
		return "symbolic link"
	case fs.ModeNamedPipe:
		return "fifo"
	case fs.ModeSocket:
		return "socket"
	}
	return "device"
}
