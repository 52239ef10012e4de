package chunk

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/amber-memory/amber"
)

const (
	packFamily = "amber-pack/"
	packFormat = "amber-pack/1"

	// packMagic begins the frame that holds the index of a pack, which every zstd
	// program skips.
	packMagic = 0x184D2A5B
	packHead  = 8 // the magic and the length
)

// Part is a chunk with its bytes.
type Part struct {
	ID    ID
	Bytes []byte
}

// index is what the first frame of a pack holds.
type index struct {
	Format string      `json:"format"`
	Parts  []indexPart `json:"parts"`
}

type indexPart struct {
	ID   ID  `json:"id"`
	Size int `json:"size"`
}

// EncodePack returns a pack of the parts in their order, and its id. The parts
// are neither changed nor kept.
//
// No part is longer than a third of all of them together: git takes a file that
// makes up half of another for the same file under a new name, and two people
// who pack it at the same time would have a conflict.
//
// Errors: invalid for parts with one id, one that is a pack or no chunk at all,
// and one that is too long beside the others; damaged for a part whose bytes have
// another hash; quota above the limits of this package.
func EncodePack(parts []Part) (ID, []byte, error) {
	b, err := encodePack(parts)
	if err != nil {
		return "", nil, at("write pack", "", err)
	}
	return IDOf(b), b, nil
}

func encodePack(parts []Part) ([]byte, error) {
	if err := checkParts(parts); err != nil {
		return nil, err
	}
	x := index{Format: packFormat}
	size := packHead
	for _, p := range parts {
		x.Parts = append(x.Parts, indexPart{p.ID, len(p.Bytes)})
		size += len(p.Bytes)
	}
	var text bytes.Buffer
	if err := plainJSON(&text).Encode(x); err != nil {
		return nil, because(amber.KindInternal, "write the index: %v", err)
	}
	if size += text.Len(); size > MaxFileBytes {
		return nil, overQuota("the length of the file", size, MaxFileBytes)
	}
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, size), packMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(text.Len()))
	b = append(b, text.Bytes()...)
	for _, p := range parts {
		b = append(b, p.Bytes...)
	}
	return b, nil
}

func checkParts(parts []Part) error {
	switch {
	case len(parts) == 0:
		return invalid("there are no parts")
	case len(parts) > MaxParts:
		return overQuota("the number of parts", len(parts), MaxParts)
	}
	total, seen := 0, map[ID]bool{}
	for _, p := range parts {
		if seen[p.ID] {
			return invalid("part %s is there twice", p.ID)
		}
		seen[p.ID] = true
		total += len(p.Bytes)
	}
	for _, p := range parts {
		if err := checkHash(p.ID, p.Bytes); err != nil {
			return fmt.Errorf("part %s: %w", p.ID, err)
		}
		if err := checkFrame(p.Bytes); err != nil {
			return invalid("part %s is no chunk: %v", p.ID, err)
		}
		if len(p.Bytes) > total/maxPartShare {
			return invalid("part %s is more than one of %d of the pack", p.ID, maxPartShare)
		}
	}
	return nil
}

// Open returns the chunks in a file: the file itself when it is a chunk, those of
// a pack. The hash of the file and those of all parts have been compared, and
// each part is one frame of zstd; what is in it [Decode] tells. The bytes of the
// parts are those of b, not copies.
//
// Errors: invalid when id is none; damaged, also when only one part is; too_new for a later version of
// packs; quota above the limits of this package.
func Open(id ID, b []byte) ([]Part, error) {
	if err := checkHash(id, b); err != nil {
		return nil, at("open chunk file", id, err)
	}
	if len(b) < 4 || binary.LittleEndian.Uint32(b) != packMagic {
		if err := checkFrame(b); err != nil {
			return nil, at("open chunk file", id, err)
		}
		return []Part{{id, b}}, nil
	}
	parts, err := openPack(b)
	if err != nil {
		return nil, at("open pack", id, err)
	}
	return parts, nil
}

func openPack(b []byte) ([]Part, error) {
	x, rest, err := readIndex(b)
	if err != nil {
		return nil, err
	}
	switch {
	case len(x.Parts) == 0:
		return nil, damaged("the index names no parts")
	case len(x.Parts) > MaxParts:
		return nil, overQuota("the number of parts", len(x.Parts), MaxParts)
	}
	parts := make([]Part, 0, len(x.Parts))
	seen := map[ID]bool{}
	for _, p := range x.Parts {
		if _, err := ParseID(string(p.ID)); err != nil || p.Size <= 0 || p.Size > len(rest) || seen[p.ID] {
			return nil, damaged("the index is not that of this pack")
		}
		seen[p.ID] = true
		part := Part{p.ID, rest[:p.Size:p.Size]}
		rest = rest[p.Size:]
		if err := firstOf(checkHash(part.ID, part.Bytes), checkFrame(part.Bytes)); err != nil {
			return nil, fmt.Errorf("part %s: %w", part.ID, err)
		}
		parts = append(parts, part)
	}
	if len(rest) > 0 {
		return nil, damaged("something follows the last part")
	}
	return parts, nil
}

// readIndex reads the first frame of a pack and returns what follows it.
func readIndex(b []byte) (x index, rest []byte, err error) {
	if len(b) < packHead {
		return x, nil, damaged("it is cut")
	}
	n := uint64(binary.LittleEndian.Uint32(b[4:]))
	b = b[packHead:]
	switch {
	case n > maxIndexBytes:
		return x, nil, overQuota("the length of the index", int(n), maxIndexBytes)
	case n > uint64(len(b)):
		return x, nil, damaged("it is cut")
	}
	text, ends := bytes.CutSuffix(b[:n], []byte("\n"))
	if !ends {
		return x, nil, damaged("the index has no end")
	}
	if err := checkFormat(text, packFamily); err != nil {
		return x, nil, err
	}
	return x, b[n:], strict(text, indexShape, &x)
}
