package repo

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/amber-memory/amber/internal/freeze/target"
)

// An index object is a header of 32 bytes and packs, in the order of their
// ids. Header:
//
//	 0   8  magic "AmberIdx"
//	 8   4  version, 1
//	12   4  flags, 0
//	16   4  number of packs
//	20   8  zero
//	28   4  CRC-32C of the bytes before
//
// A pack is
//
//	 0  32  id of the pack
//	32   8  size of the pack
//	40   4  number of its blobs
//	44   4  zero
//	48      its directory
const (
	indexMagic       = "AmberIdx"
	indexHeaderBytes = 32
	indexPackBytes   = 48
)

// marshalIndex returns an index object. The packs are in the order of their
// ids and none is there twice.
func marshalIndex(packs []packDir) []byte {
	n := indexHeaderBytes
	for _, p := range packs {
		n += indexPackBytes + len(p.dir)
	}
	b := make([]byte, indexHeaderBytes, n)
	copy(b, indexMagic)
	binary.LittleEndian.PutUint32(b[8:], packVersion)
	binary.LittleEndian.PutUint32(b[16:], uint32(len(packs)))
	binary.LittleEndian.PutUint32(b[28:], checksum(b[:28]))
	for _, p := range packs {
		b = append(b, p.id[:]...)
		b = binary.LittleEndian.AppendUint64(b, uint64(p.size))
		b = binary.LittleEndian.AppendUint32(b, uint32(p.dir.blobs()))
		b = append(b, 0, 0, 0, 0)
		b = append(b, p.dir...)
	}
	return b
}

// parseIndex reads an index object. The directories share its bytes.
func parseIndex(b []byte) ([]packDir, error) {
	n, err := parseIndexHeader(b)
	if err != nil {
		return nil, err
	}
	b = b[indexHeaderBytes:]
	var packs []packDir // grows with what is there, not with what is said
	for i := range n {
		p, rest, err := parseIndexPack(b)
		if err != nil {
			return nil, fmt.Errorf("pack %d: %w", i, err)
		}
		if i > 0 && packs[i-1].id.Compare(p.id) >= 0 {
			return nil, fmt.Errorf("pack %d is not sorted", i)
		}
		packs, b = append(packs, p), rest
	}
	if len(b) != 0 {
		return nil, fmt.Errorf("%d bytes follow the last pack", len(b))
	}
	return packs, nil
}

func parseIndexHeader(b []byte) (packs int, err error) {
	if len(b) < indexHeaderBytes || string(b[:8]) != indexMagic ||
		binary.LittleEndian.Uint32(b[28:]) != checksum(b[:28]) {
		return 0, errors.New("the header is missing or damaged")
	}
	if err := checkVersion(binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])); err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint32(b[16:])
	if n < 1 || n > maxIndexPacks || binary.LittleEndian.Uint64(b[20:]) != 0 {
		return 0, fmt.Errorf("the header says %d packs, too many", n)
	}
	return int(n), nil
}

func parseIndexPack(b []byte) (p packDir, rest []byte, err error) {
	if len(b) < indexPackBytes {
		return p, nil, errors.New("the entry is cut off")
	}
	size, blobs := binary.LittleEndian.Uint64(b[32:]), binary.LittleEndian.Uint32(b[40:])
	if blobs < 1 || blobs > maxPackBlobs || size > maxPackBytes || binary.LittleEndian.Uint32(b[44:]) != 0 {
		return p, nil, fmt.Errorf("%d blobs do not fit in a pack of %d bytes", blobs, size)
	}
	p.id, p.size, b = ID(b[:32]), int64(size), b[indexPackBytes:]
	n := int(blobs) * entryBytes
	if len(b) < n {
		return p, nil, errors.New("the entry is cut off")
	}
	p.dir = directory(b[:n:n])
	end, err := checkDirectory(p.dir)
	if err != nil {
		return p, nil, err
	}
	if packSizeOf(p.dir, end) != p.size {
		return p, nil, fmt.Errorf("%d blobs end at byte %d of a pack of %d bytes", blobs, end, size)
	}
	return p, b[n:], nil
}

// readIndex reads and checks an index object; buf may be nil and is used for
// what is returned. Errors: damaged, too_new, not_found; those of the target.
func readIndex(ctx context.Context, t target.Target, id ID, size int64, buf []byte) (packs []packDir, used []byte, err error) {
	name := indexName(id)
	if size > maxIndexBytes {
		return nil, buf, damaged("read index", name, fmt.Errorf("the index object has %d bytes, too few or too many", size))
	}
	b, err := fetch(ctx, t, name, 0, size, buf)
	if err != nil {
		return nil, buf, err
	}
	if sha256.Sum256(b) != id {
		return nil, b, damaged("read index", name, errors.New("the bytes do not match the name"))
	}
	packs, err = parseIndex(b)
	if err != nil {
		return nil, b, damaged("read index", name, err)
	}
	return packs, b, nil
}
