package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
)

// A segment begins with 64 bytes, all numbers little-endian:
//
//	 0   8  magic "AmberJrn"
//	 8   4  version, 1
//	12   4  number of the segment, from 1
//	16  16  key of the session
//	32   8  base: no frame of an earlier segment counts whose sequence is not
//	        below it
//	40   8  time it was made, milliseconds since the Unix epoch
//	48  12  zero
//	60   4  CRC-32C of the bytes before
//
// Magic, version and checksum lie there in every version, so that a damaged
// version is not taken for a new one.
const (
	segmentMagic   = "AmberJrn"
	segmentVersion = 1
	segmentHeader  = 64
)

// header is the beginning of a segment.
type header struct {
	number int64
	key    Key
	base   int64
	at     amber.Time
}

// errHeader is the verdict about bytes that are no header.
var errHeader = errors.New("header of the segment is damaged")

func (h header) marshal() []byte {
	b := make([]byte, segmentHeader)
	copy(b, segmentMagic)
	binary.LittleEndian.PutUint32(b[8:], segmentVersion)
	binary.LittleEndian.PutUint32(b[12:], uint32(h.number))
	copy(b[16:32], h.key.raw())
	binary.LittleEndian.PutUint64(b[32:], uint64(h.base))
	binary.LittleEndian.PutUint64(b[40:], uint64(h.at.UnixMilli()))
	binary.LittleEndian.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
	return b
}

// parseHeader reads a header. It returns errHeader for anything that no Amber
// wrote, and an error of kind too_new for a later version.
func parseHeader(b []byte) (header, error) {
	if len(b) != segmentHeader || string(b[:8]) != segmentMagic ||
		binary.LittleEndian.Uint32(b[60:]) != crc32.Checksum(b[:60], castagnoli) {
		return header{}, errHeader
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v > segmentVersion {
		return header{}, amber.Errorf(amber.KindTooNew, "read segment", "", "the segment has version %d, this Amber knows %d", v, segmentVersion).WithHint("use a newer amber")
	}
	h := header{
		number: int64(binary.LittleEndian.Uint32(b[12:])),
		key:    keyOf(b[16:32]),
		base:   int64(binary.LittleEndian.Uint64(b[32:])),
		at:     amber.UnixMilli(int64(binary.LittleEndian.Uint64(b[40:]))),
	}
	if h.number < 1 || h.base < 1 || !bytes.Equal(b, h.marshal()) {
		return header{}, errHeader
	}
	return h, nil
}

const segmentSuffix = ".seg"

func segmentName(n int64) string { return fmt.Sprintf("%06d%s", n, segmentSuffix) }

// segmentNumber reads a file name; ok is false for other files.
func segmentNumber(name string) (n int64, ok bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	return n, err == nil && n > 0 && segmentName(n) == name
}
