package journal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/amber-memory/amber"
)

// Type says what a frame holds.
type Type uint8

// The types of frame. Readers pass on types they do not know.
const (
	// TypeEvent is an entry that a caller appended.
	TypeEvent Type = 1
	// TypeGap takes the place of an entry that was dropped for space; its payload
	// is a [Gap] as JSON.
	TypeGap Type = 2
)

// Frame is one intact entry of a session.
type Frame struct {
	Seq     int64 // 1, 2, 3 and so on inside the session
	At      amber.Time
	Type    Type
	Payload []byte
}

// MaxPayload bounds the payload of one frame.
const MaxPayload = 1 << 20

// A frame, all numbers little-endian:
//
//	 0  4  magic "AFr1"
//	 4  4  length of the payload
//	 8  4  CRC-32C of the session's key, the frame's offset in the segment, the
//	       length, and everything from byte 12 to the end of the payload
//	12  1  type
//	13  3  zero
//	16  8  sequence
//	24  8  time, milliseconds since the Unix epoch
//	32  n  payload
//	..  4  length of the payload again, so that the last frame is found from
//	       the end
//	..  4  magic "1rFA"
//
// Key and offset are part of the checksum because payloads come from
// strangers: bytes inside one that look like a frame are no frame.
const (
	frameMagic  = 0x31724641 // "AFr1"
	frameEnd    = 0x41467231 // "1rFA"
	frameHeader = 32
	frameFooter = 8
	minFrame    = frameHeader + frameFooter
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errFrame is the verdict about bytes that are no frame.
var errFrame = errors.New("frame is damaged")

func frameSize(payload int) int64 { return minFrame + int64(payload) }

// appendFrame appends the bytes of f to b, as they are at offset at of a
// segment of the session with the given seed.
func appendFrame(b []byte, seed uint32, at int64, f Frame) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, frameMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.Payload)))
	b = binary.LittleEndian.AppendUint32(b, 0) // checksum, below
	b = append(b, byte(f.Type), 0, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(f.Seq))
	b = binary.LittleEndian.AppendUint64(b, uint64(f.At.UnixMilli()))
	b = append(b, f.Payload...)
	binary.LittleEndian.PutUint32(b[start+8:], checksum(seed, at, b[start:]))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.Payload)))
	return binary.LittleEndian.AppendUint32(b, frameEnd)
}

// checksum covers a frame without its magic, its checksum and its footer.
func checksum(seed uint32, at int64, frame []byte) uint32 {
	var offset [8]byte
	binary.LittleEndian.PutUint64(offset[:], uint64(at))
	sum := crc32.Update(seed, castagnoli, offset[:])
	sum = crc32.Update(sum, castagnoli, frame[4:8])
	return crc32.Update(sum, castagnoli, frame[12:])
}

// frameLength returns the payload length that the header at the beginning of
// b claims; ok is false when b does not begin with a header.
func frameLength(b []byte) (n int, ok bool) {
	if len(b) < frameHeader || binary.LittleEndian.Uint32(b) != frameMagic {
		return 0, false
	}
	length := binary.LittleEndian.Uint32(b[4:])
	return int(length), length <= MaxPayload
}

// footerLength returns the payload length that the footer at the end of b
// claims; ok is false when b does not end with a footer.
func footerLength(b []byte) (n int, ok bool) {
	if len(b) < frameFooter || binary.LittleEndian.Uint32(b[len(b)-4:]) != frameEnd {
		return 0, false
	}
	length := binary.LittleEndian.Uint32(b[len(b)-frameFooter:])
	return int(length), length <= MaxPayload
}

// parseFrame reads the frame that b holds, no more and no less, from offset at
// of a segment. The payload is part of b.
func parseFrame(b []byte, seed uint32, at int64) (Frame, error) {
	length, ok := frameLength(b)
	if !ok || frameSize(length) != int64(len(b)) {
		return Frame{}, errFrame
	}
	if again, ok := footerLength(b); !ok || again != length {
		return Frame{}, errFrame
	}
	body := b[:len(b)-frameFooter]
	f := Frame{
		Seq:     int64(binary.LittleEndian.Uint64(b[16:])),
		At:      amber.UnixMilli(int64(binary.LittleEndian.Uint64(b[24:]))),
		Type:    Type(b[12]),
		Payload: body[frameHeader:],
	}
	switch {
	case b[13] != 0 || b[14] != 0 || b[15] != 0, f.Seq < 1,
		binary.LittleEndian.Uint32(b[8:]) != checksum(seed, at, body):
		return Frame{}, errFrame
	}
	return f, nil
}
