package repo

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// A pack is a header of 32 bytes, the stored bytes of its blobs one behind
// another, their directory, and a footer of 64 bytes. Header:
//
//	 0   8  magic "AmberPak"
//	 8   4  version, 1
//	12   4  flags, 0
//	16  12  zero
//	28   4  CRC-32C of the bytes before
//
// Footer:
//
//	 0   8  offset of the directory
//	 8   4  number of blobs
//	12   4  version, 1
//	16  32  SHA-256 of the directory
//	48   4  flags, 0
//	52   4  CRC-32C of the bytes before
//	56   8  magic "AmberEnd"
//
// Magic, version and checksum lie there in every version, so that a damaged
// version is not taken for a new one.
const (
	packMagic       = "AmberPak"
	packEnd         = "AmberEnd"
	packVersion     = 1
	packHeaderBytes = 32
	packFooterBytes = 64
	minPackBytes    = packHeaderBytes + entryBytes + packFooterBytes
	maxPackBytes    = maxPackData + maxPackBlobs*entryBytes + packFooterBytes
)

// packDir is a pack as its directory or an index object describes it.
type packDir struct {
	id   ID
	size int64
	dir  directory
}

// packSizeOf returns the size of a pack with the given directory.
func packSizeOf(dir directory, dataEnd int64) int64 {
	return dataEnd + int64(len(dir)) + packFooterBytes
}

func packHeader() []byte {
	b := make([]byte, packHeaderBytes)
	copy(b, packMagic)
	binary.LittleEndian.PutUint32(b[8:], packVersion)
	binary.LittleEndian.PutUint32(b[28:], checksum(b[:28]))
	return b
}

func checkPackHeader(b []byte) error {
	if len(b) != packHeaderBytes || string(b[:8]) != packMagic ||
		binary.LittleEndian.Uint32(b[28:]) != checksum(b[:28]) {
		return errors.New("the header is missing or damaged")
	}
	if err := checkVersion(binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])); err != nil {
		return err
	}
	if string(b) != string(packHeader()) {
		return errors.New("the header is missing or damaged")
	}
	return nil
}

// checkVersion distinguishes a later format from damage; the bytes have passed their checksum.
func checkVersion(version, flags uint32) error {
	if version > packVersion || version == packVersion && flags != 0 {
		return amber.Errorf(amber.KindTooNew, "read repository", "",
			"version %d, flags %#x; this amber knows version %d without flags", version, flags, packVersion).WithHint("use a newer amber")
	}
	if version == 0 {
		return errors.New("version 0 is not valid")
	}
	return nil
}

func packFooter(dir directory, offset int64) []byte {
	b := make([]byte, packFooterBytes)
	sum := sha256.Sum256(dir)
	binary.LittleEndian.PutUint64(b, uint64(offset))
	binary.LittleEndian.PutUint32(b[8:], uint32(dir.blobs()))
	binary.LittleEndian.PutUint32(b[12:], packVersion)
	copy(b[16:], sum[:])
	binary.LittleEndian.PutUint32(b[52:], checksum(b[:52]))
	copy(b[56:], packEnd)
	return b
}

// footer is what the end of a pack says.
type footer struct {
	offset int64 // of the directory
	blobs  int
	sum    [sha256.Size]byte
}

// parseFooter reads the footer of a pack of the given size.
func parseFooter(b []byte, size int64) (footer, error) {
	if len(b) != packFooterBytes || string(b[56:]) != packEnd ||
		binary.LittleEndian.Uint32(b[52:]) != checksum(b[:52]) {
		return footer{}, errors.New("the footer is missing or damaged")
	}
	if err := checkVersion(binary.LittleEndian.Uint32(b[12:]), binary.LittleEndian.Uint32(b[48:])); err != nil {
		return footer{}, err
	}
	offset, blobs := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:])
	if offset > maxPackData || blobs < 1 || blobs > maxPackBlobs {
		return footer{}, fmt.Errorf("the footer says %d blobs, directory at byte %d", blobs, offset)
	}
	f := footer{offset: int64(offset), blobs: int(blobs), sum: [sha256.Size]byte(b[16:48])}
	if f.offset+f.bytes()+packFooterBytes != size {
		return footer{}, fmt.Errorf("the footer says %d blobs, directory at byte %d of a pack of %d bytes", blobs, offset, size)
	}
	return f, nil
}

// bytes returns the length of the directory.
func (f *footer) bytes() int64 { return int64(f.blobs) * entryBytes }

// check compares a directory with the footer behind it.
func (f *footer) check(dir []byte) error {
	if sha256.Sum256(dir) != f.sum {
		return errors.New("the directory does not match its digest")
	}
	end, err := checkDirectory(dir)
	if err != nil {
		return err
	}
	if end != f.offset {
		return fmt.Errorf("the blobs end at byte %d, the directory begins at %d", end, f.offset)
	}
	return nil
}

// readDirectory reads the directory of a pack from its end, with one request
// or two. Errors: damaged, too_new, not_found; those of the target.
func readDirectory(ctx context.Context, t target.Target, id ID, size int64) (packDir, error) {
	name := packName(id)
	if size < minPackBytes || size > maxPackBytes {
		return packDir{}, damaged("read pack", name, fmt.Errorf("the pack has %d bytes, too few or too many", size))
	}
	from := max(0, size-tailBytes)
	tail, err := fetch(ctx, t, name, from, size-from, nil)
	if err != nil {
		return packDir{}, err
	}
	f, err := parseFooter(tail[len(tail)-packFooterBytes:], size)
	if err != nil {
		return packDir{}, damaged("read pack", name, err)
	}
	dir := tail[:len(tail)-packFooterBytes]
	if f.offset >= from {
		dir = dir[f.offset-from:]
	} else if dir, err = fetch(ctx, t, name, f.offset, f.bytes(), nil); err != nil {
		return packDir{}, err
	}
	if err := f.check(dir); err != nil {
		return packDir{}, damaged("read pack", name, err)
	}
	return packDir{id: id, size: size, dir: dir}, nil
}
