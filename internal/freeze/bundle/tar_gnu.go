package bundle

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/amber-memory/amber/internal/base/clip"
)

const (
	gnuLongName = "././@LongLink"
	// maxLong bounds a long name, its NUL included.
	maxLong = maxText + 1
)

// gnuHeader returns the header of an entry as the tar crate writes it for the other system, byte for byte: fields of
// the owner empty, the old type of a file, a long path in an entry of its own and its first 100 bytes in the header.
func gnuHeader(h header) []byte {
	var out []byte
	if len(h.path) > nameBytes {
		long := h.path + "\x00"
		b := gnuBlock(header{path: gnuLongName, mode: 0o644, size: int64(len(long))})
		fieldUID.octal(b, 0)
		fieldGID.octal(b, 0)
		b[typeOffset] = typeGNULong
		fieldSum.octal(b, checksum(b))
		out = append(out, b...)
		out = append(out, long...)
		out = append(out, make([]byte, padding(int64(len(long))))...)
	}
	return append(out, gnuBlock(h)...)
}

func gnuBlock(h header) []byte {
	b := make([]byte, blockBytes)
	fieldName.set(b, h.path)
	fieldMode.octal(b, h.mode)
	fieldSize.octal(b, h.size)
	fieldMtime.octal(b, h.mtime)
	fieldMagic.set(b, gnuMagic)
	b[typeOffset] = typeOldFile
	fieldSum.octal(b, checksum(b))
	return b
}

// readGNU reads the header of an entry of the other format, from any writer; end is true at the end of the archive.
// There are regular files only, and names may be long.
func readGNU(r io.Reader) (h header, end bool, err error) {
	b := make([]byte, blockBytes)
	long := ""
	for {
		if _, err := io.ReadFull(r, b); err != nil {
			return h, false, noEnd(err)
		}
		if isZero(b) {
			return h, true, readEnd(r, b, long)
		}
		if h, err = parseGNU(b); err != nil {
			return h, false, err
		}
		if b[typeOffset] != typeGNULong {
			break
		}
		if long != "" {
			return h, false, errors.New("an entry of the archive has two long names")
		}
		if long, err = readLong(r, h.size); err != nil {
			return h, false, err
		}
	}
	if long != "" {
		if !strings.HasPrefix(long, h.path) {
			return h, false, fmt.Errorf("the long name %q is of another entry", clip.Name(long))
		}
		h.path = long
	}
	return h, false, nil
}

// readEnd reads the second block of the end.
func readEnd(r io.Reader, b []byte, long string) error {
	if _, err := io.ReadFull(r, b); err != nil {
		return noEnd(err)
	}
	if !isZero(b) || long != "" {
		return errors.New("the end of the archive is damaged")
	}
	return nil
}

func parseGNU(b []byte) (h header, err error) {
	sum, err := fieldSum.number(b)
	if err != nil || sum != checksum(b) {
		return h, errors.New("a header of the archive does not match its checksum")
	}
	magic := string(fieldMagic.of(b))
	size, err := fieldSize.number(b)
	h = header{path: fieldName.text(b), size: size}
	switch kind := b[typeOffset]; {
	case err != nil:
		return h, err
	case magic != gnuMagic:
		return h, errors.New("a header of the archive is not of GNU tar")
	case kind != typeFile && kind != typeOldFile && kind != typeGNULong:
		return h, fmt.Errorf("entry %q has type %q, want a regular file", clip.Name(h.path), kind)
	}
	return h, nil
}

func readLong(r io.Reader, size int64) (string, error) {
	if size < 2 || size > maxLong {
		return "", fmt.Errorf("a name of %d bytes in the archive", size)
	}
	b := make([]byte, size+padding(size))
	if _, err := io.ReadFull(r, b); err != nil {
		return "", noEnd(err)
	}
	name := string(b[:size-1])
	if b[size-1] != 0 || strings.Contains(name, "\x00") || !isZero(b[size:]) {
		return "", errors.New("a long name in the archive is not intact")
	}
	return name, nil
}
