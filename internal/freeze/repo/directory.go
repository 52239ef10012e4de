package repo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// An entry of a directory has 52 bytes, all numbers little-endian:
//
//	 0  32  id
//	32   1  kind
//	33   1  compression: 0 none, 1 zstd
//	34   1  for pages: the page size is 1 << this; otherwise 0
//	35   1  0 plain, 1 sealed: see sealedHead
//	36   4  offset in the pack
//	40   4  stored length
//	44   4  length of the plaintext
//	48   4  CRC-32C of the stored bytes
const entryBytes = 52

// isSealed is the byte of an entry that says so.
const isSealed = 1

// compression says how the plaintext of a blob was made smaller.
type compression uint8

const (
	compressNone compression = 0
	compressZstd compression = 1
)

// entry is what a directory says about a blob.
type entry struct {
	id                         ID
	offset, stored, plain, crc uint32
	kind                       Kind
	compression                compression
	pageShift                  uint8
	sealed                     bool
}

// packed returns the length of what was sealed, or is stored as it is.
func (e *entry) packed() uint32 {
	if e.sealed {
		return e.stored - uint32(sealedBytes)
	}
	return e.stored
}

func (e *entry) pageSize() int {
	if e.kind != KindPages {
		return 0
	}
	return 1 << e.pageShift
}

func (e *entry) end() int64 { return int64(e.offset) + int64(e.stored) }

// directory is the list of blobs of a pack, byte for byte as it is stored. A directory that was read has passed
// checkDirectory.
type directory []byte

func (d directory) blobs() int { return len(d) / entryBytes }

func (d directory) at(i int) entry {
	b := d[i*entryBytes : (i+1)*entryBytes]
	return entry{
		id:          ID(b[:32]),
		kind:        Kind(b[32]),
		compression: compression(b[33]),
		pageShift:   b[34],
		sealed:      b[35] == isSealed,
		offset:      binary.LittleEndian.Uint32(b[36:]),
		stored:      binary.LittleEndian.Uint32(b[40:]),
		plain:       binary.LittleEndian.Uint32(b[44:]),
		crc:         binary.LittleEndian.Uint32(b[48:]),
	}
}

func (d directory) add(e entry) directory {
	d = append(d, e.id[:]...)
	seal := byte(0)
	if e.sealed {
		seal = isSealed
	}
	d = append(d, byte(e.kind), byte(e.compression), e.pageShift, seal)
	d = binary.LittleEndian.AppendUint32(d, e.offset)
	d = binary.LittleEndian.AppendUint32(d, e.stored)
	d = binary.LittleEndian.AppendUint32(d, e.plain)
	return binary.LittleEndian.AppendUint32(d, e.crc)
}

// checkDirectory checks a directory and returns where its last blob ends. The
// blobs fill a pack from its header on, without a gap and without sharing a
// byte, and no id is there twice.
func checkDirectory(b []byte) (end int64, err error) {
	d := directory(b)
	n := d.blobs()
	if n < 1 || n > maxPackBlobs || len(b) != n*entryBytes {
		return 0, fmt.Errorf("the directory has %d bytes, not a whole number of entries", len(b))
	}
	end = packHeaderBytes
	ids := make([]ID, n)
	for i := range n {
		e := d.at(i)
		if err := e.check(b[i*entryBytes+35]); err != nil {
			return 0, fmt.Errorf("entry %d: %w", i, err)
		}
		if int64(e.offset) != end {
			return 0, fmt.Errorf("entry %d begins at %d, want %d", i, e.offset, end)
		}
		if end = e.end(); end > maxPackData {
			return 0, fmt.Errorf("entry %d ends after the limit of %d bytes", i, maxPackData)
		}
		ids[i] = e.id
	}
	slices.SortFunc(ids, ID.Compare)
	if len(slices.Compact(ids)) != n {
		return 0, errors.New("an id occurs twice")
	}
	return end, nil
}

// check looks at an entry on its own; seal is the byte that says whether it is
// sealed.
func (e *entry) check(seal byte) error {
	switch {
	case seal > isSealed:
		return fmt.Errorf("unknown sealing %d", seal)
	case e.sealed && e.stored < uint32(sealedBytes):
		return fmt.Errorf("%d bytes are too few for a sealed blob", e.stored)
	case !e.kind.valid():
		return fmt.Errorf("unknown kind of blob %v", e.kind)
	case e.compression > compressZstd:
		return fmt.Errorf("unknown compression %d", e.compression)
	case e.plain > MaxBlobBytes:
		return fmt.Errorf("a blob of %d bytes is too large", e.plain)
	case e.compression == compressNone && e.packed() != e.plain:
		return fmt.Errorf("%d bytes stored as %d without compression", e.plain, e.stored)
	case e.compression == compressZstd && (e.packed() == 0 || e.packed() >= e.plain):
		return fmt.Errorf("%d bytes compressed to %d", e.plain, e.stored)
	case e.kind != KindPages && e.pageShift != 0:
		return fmt.Errorf("a blob of kind %v has a page size", e.kind)
	case e.kind == KindPages && (e.pageShift < minPageShift || e.pageShift > maxPageShift):
		return fmt.Errorf("page size 1<<%d is out of range", e.pageShift)
	case e.kind == KindPages && (e.plain == 0 || e.plain&(1<<e.pageShift-1) != 0):
		return fmt.Errorf("%d bytes are not a whole number of pages of %d bytes", e.plain, e.pageSize())
	}
	return nil
}

// pageShiftOf returns the exponent of a page size; ok is false for a size
// that no page has.
func pageShiftOf(pageSize int) (shift uint8, ok bool) {
	if pageSize < MinPageSize || pageSize > MaxPageSize || pageSize&(pageSize-1) != 0 {
		return 0, false
	}
	return uint8(bits.TrailingZeros(uint(pageSize))), true
}
