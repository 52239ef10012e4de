package bundle

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/crc32"
	"io"

	"filippo.io/age"

	"github.com/amber-memory/amber/internal/base/agekey"
)

// shell is what lies around the compressed stream of a bundle being written.
type shell interface {
	// Write takes the compressed stream; Close ends it.
	io.WriteCloser
	// front is how many bytes lie before the payload.
	front() int64
	// payload is how many bytes the payload has, and their SHA-256.
	payload() (int64, string)
	// checksum is the CRC-32C of the payload: enough to tell that the disk holds what was written.
	checksum() uint32
	// headerDigest is the SHA-256 of what lies before the outer manifest, "" where nothing does.
	headerDigest() string
	// place returns what the front is with the outer manifest in its room; nil without room.
	place(manifest []byte) ([]byte, error)
}

// newShell writes the front of a bundle and returns its shell. Room is that of the outer manifest, 0 for none; beside a
// passphrase there is none.
func newShell(file *staged, room int, o WriteOptions) (shell, error) {
	switch {
	case o.Passphrase != "":
		r, _, err := agekey.Passphrase(o.Passphrase)
		if err != nil {
			return nil, err
		}
		if s, ok := r.(*age.ScryptRecipient); ok && o.work != 0 {
			s.SetWorkFactor(o.work)
		}
		return newAgeShell(file, nil, r)
	case len(o.Recipients) > 0:
		var keep *roomKeeper
		if room > 0 {
			keep = newRoomKeeper(room, o.Recipients)
		}
		return newAgeShell(file, keep, agekey.Ages(o.Recipients)...)
	case room > 0:
		return newPlainShell(file, room)
	}
	return &plainShell{body: &payload{w: file, h: sha256.New()}}, nil
}

// payload counts and hashes what is written to the file.
type payload struct {
	w io.Writer
	h hash.Hash
	n int64

	crc uint32
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (p *payload) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.h.Write(b[:n])
	p.crc = crc32.Update(p.crc, castagnoli, b[:n])
	p.n += int64(n)
	return n, err
}

// plainShell is a skippable frame with the outer manifest, or nothing at all.
type plainShell struct {
	body *payload
	room int
}

// skipBytes is the length of the header of a skippable frame: magic and length.
const skipBytes = 8

func newPlainShell(file *staged, room int) (*plainShell, error) {
	s := &plainShell{body: &payload{w: file, h: sha256.New()}, room: room}
	front, err := s.place(nil)
	if err == nil {
		_, err = file.Write(front)
	}
	return s, err
}

func (s *plainShell) Write(p []byte) (int, error) { return s.body.Write(p) }
func (s *plainShell) Close() error                { return nil }
func (s *plainShell) payload() (int64, string)    { return s.body.n, hexSum(s.body.h) }
func (s *plainShell) checksum() uint32            { return s.body.crc }
func (s *plainShell) headerDigest() string        { return "" }

func (s *plainShell) front() int64 {
	if s.room == 0 {
		return 0
	}
	return skipBytes + int64(s.room)
}

func (s *plainShell) place(manifest []byte) ([]byte, error) {
	if s.room == 0 {
		return nil, nil
	}
	b := binary.LittleEndian.AppendUint32(nil, skipMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(s.room))
	return append(b, pad(manifest, s.room)...), nil
}
