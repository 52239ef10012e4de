package bundle

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/amber-memory/amber/internal/base/clip"
)

// A tar is blocks of 512 bytes: a header, the bytes of the entry filled up with zeros, and so on; two blocks of zeros
// are the end. Amber's format has headers of POSIX with PAX records where they have to be, the other one those of GNU.
// Both are made and read here because each of them is to have one spelling.
const (
	blockBytes = 512
	tarEnd     = 2 * blockBytes

	posixMagic = "ustar\x0000"
	gnuMagic   = "ustar  \x00"

	typeFile    = '0'
	typeOldFile = 0 // of tars before 1988, and of the other system
	typeFolder  = '5'
	typePAX     = 'x'
	typeGNULong = 'L'

	nameBytes = 100
	maxOctal  = 1<<33 - 1 // what 11 octal digits can tell
)

// header is what this package needs of the header of an entry.
type header struct {
	path  string // a folder's ends with a slash
	mode  int64
	size  int64
	mtime int64 // seconds since 1970
}

func (h *header) isFolder() bool { return strings.HasSuffix(h.path, "/") }

// Where the fields of a header are: offset and length.
var (
	fieldName  = field{0, nameBytes}
	fieldMode  = field{100, 8}
	fieldUID   = field{108, 8}
	fieldGID   = field{116, 8}
	fieldSize  = field{124, 12}
	fieldMtime = field{136, 12}
	fieldSum   = field{148, 8}
	fieldMagic = field{257, 8}
	fieldMajor = field{329, 8}
	fieldMinor = field{337, 8}
)

const typeOffset = 156

type field struct{ at, n int }

func (f field) of(b []byte) []byte { return b[f.at : f.at+f.n] }

func (f field) set(b []byte, s string) { copy(f.of(b), s) }

// octal writes a number that ends with a NUL.
func (f field) octal(b []byte, n int64) { f.set(b, fmt.Sprintf("%0*o\x00", f.n-1, n)) }

// number reads octal digits, which may stand between spaces and NULs.
func (f field) number(b []byte) (int64, error) {
	text := strings.Trim(string(f.of(b)), " \x00")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 8, 62)
	if err != nil {
		return 0, errors.New("a number in a header of the archive is not octal")
	}
	return int64(n), nil
}

// text reads what ends with a NUL, or fills its field.
func (f field) text(b []byte) string {
	s, _, _ := strings.Cut(string(f.of(b)), "\x00")
	return s
}

// checksum adds up a header as if the field of the sum held spaces.
func checksum(b []byte) (sum int64) {
	for i, c := range b[:blockBytes] {
		if i >= fieldSum.at && i < fieldSum.at+fieldSum.n {
			c = ' '
		}
		sum += int64(c)
	}
	return sum
}

func padding(size int64) int64 { return -size & (blockBytes - 1) }

func isZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// posixHeader returns the header of an entry of Amber's format, one block or, where a path is long or not ASCII or an
// entry is larger than 8 GiB, one with PAX records before it.
func posixHeader(h header) []byte {
	var out []byte
	short := h
	if records := paxRecords(h); records != "" {
		out = append(out, posixBlock(header{path: "PaxHeader", mode: 0o600, size: int64(len(records)), mtime: h.mtime}, typePAX)...)
		out = append(out, records...)
		out = append(out, make([]byte, padding(int64(len(records))))...)
		if needsPAXPath(h.path) {
			short.path = ""
		}
		if h.size > maxOctal {
			short.size = 0
		}
	}
	kind := byte(typeFile)
	if h.isFolder() {
		kind = typeFolder
	}
	return append(out, posixBlock(short, kind)...)
}

func posixBlock(h header, kind byte) []byte {
	b := make([]byte, blockBytes)
	fieldName.set(b, h.path)
	fieldMode.octal(b, h.mode)
	fieldUID.octal(b, 0)
	fieldGID.octal(b, 0)
	fieldSize.octal(b, h.size)
	fieldMtime.octal(b, h.mtime)
	fieldMagic.set(b, posixMagic)
	fieldMajor.octal(b, 0)
	fieldMinor.octal(b, 0)
	b[typeOffset] = kind
	fieldSum.set(b, fmt.Sprintf("%06o\x00 ", checksum(b)))
	return b
}

func needsPAXPath(path string) bool {
	return len(path) > nameBytes || strings.ContainsFunc(path, func(r rune) bool { return r > '~' })
}

func paxRecords(h header) (out string) {
	if needsPAXPath(h.path) {
		out += paxRecord("path", h.path)
	}
	if h.size > maxOctal {
		out += paxRecord("size", strconv.FormatInt(h.size, 10))
	}
	return out
}

// paxRecord returns "<length> <key>=<value>\n", where the length counts its own digits.
func paxRecord(key, value string) string {
	rest := " " + key + "=" + value + "\n"
	n := len(rest)
	for len(rest)+len(strconv.Itoa(n)) != n {
		n = len(rest) + len(strconv.Itoa(n))
	}
	return strconv.Itoa(n) + rest
}

// maxPAX bounds the records before an entry: a path and a size.
const maxPAX = maxText + 128

// readPOSIX reads the header of an entry of Amber's format; end is true at the end of the archive, whose two blocks
// it has read. What [posixHeader] would have written otherwise is refused.
func readPOSIX(r io.Reader) (h header, end bool, err error) {
	raw := make([]byte, blockBytes, 2*blockBytes)
	if _, err := io.ReadFull(r, raw); err != nil {
		return h, false, noEnd(err)
	}
	if isZero(raw) {
		_, err := io.ReadFull(r, raw)
		if err == nil && !isZero(raw) {
			err = errors.New("the end of the archive is damaged")
		}
		return h, true, noEnd(err)
	}
	records := map[string]string{}
	if raw[typeOffset] == typePAX {
		if raw, records, err = readPAX(r, raw); err != nil {
			return h, false, err
		}
	}
	if h, err = parsePOSIX(raw[len(raw)-blockBytes:], records); err != nil {
		return h, false, err
	}
	if !bytes.Equal(posixHeader(h), raw) {
		return h, false, fmt.Errorf("the header of %q is not in the form that Amber writes", clip.Name(h.path))
	}
	return h, false, nil
}

// readPAX reads the records that a first block announces, and the block behind them.
func readPAX(r io.Reader, raw []byte) ([]byte, map[string]string, error) {
	n, err := fieldSize.number(raw)
	if err != nil || n > maxPAX {
		return nil, nil, errors.New("a header of the archive is too long")
	}
	body := make([]byte, n+padding(n)+blockBytes)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, nil, noEnd(err)
	}
	records := map[string]string{}
	for text := string(body[:n]); text != ""; {
		length, _, _ := strings.Cut(text, " ")
		size, err := strconv.Atoi(length)
		if err != nil || size <= len(length)+1 || size > len(text) {
			return nil, nil, errors.New("a header of the archive is not intact")
		}
		key, value, _ := strings.Cut(strings.TrimSuffix(text[len(length)+1:size], "\n"), "=")
		records[key] = value
		text = text[size:]
	}
	return append(raw, body...), records, nil
}

// parsePOSIX takes the fields out of a header. Whether it is intact is seen when it is written again.
func parsePOSIX(b []byte, records map[string]string) (h header, err error) {
	mode, modeErr := fieldMode.number(b)
	size, sizeErr := fieldSize.number(b)
	mtime, mtimeErr := fieldMtime.number(b)
	if err := cmp.Or(modeErr, sizeErr, mtimeErr); err != nil {
		return h, err
	}
	h = header{path: fieldName.text(b), mode: mode, size: size, mtime: mtime}
	if path, ok := records["path"]; ok {
		h.path = path
	}
	if size, ok := records["size"]; ok {
		if h.size, err = strconv.ParseInt(size, 10, 64); err != nil {
			return h, errors.New("a size in the archive is not a number")
		}
	}
	if h.size < 0 || h.isFolder() && h.size != 0 {
		return h, fmt.Errorf("an entry of %d bytes", h.size)
	}
	return h, nil
}

// noEnd names what a reader means that ends too early.
func noEnd(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the archive ends too early")
	}
	return err
}
