package chunk

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/amber-memory/amber"
)

const (
	packFamily = "amber-pack/"
	packFormat = "amber-pack/1"

	// packMagic begins the frame that holds the index of a pack, which every zstd
	// program skips.
	packMagic  = 0x184D2A5B
	partsMagic = 0x184D2A5C // of the frame that holds the parts, which is skipped as well
	packHead   = 8          // a magic and a length
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
// The parts are masked: git takes a new file for an old one under another name
// when half of the bytes are the same, and two people who pack a chunk at the
// same time would have a conflict. Masked, packs of other parts have no bytes in
// common, neither with each other nor with the chunks. Nothing is hidden by it.
//
// Errors: invalid for parts with one id, and one that is a pack or no chunk at
// all; damaged for a part whose bytes have
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
	size := 2 * packHead
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
	b = binary.LittleEndian.AppendUint32(b, partsMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(size-len(b)-4))
	masked := len(b)
	for _, p := range parts {
		b = append(b, p.Bytes...)
	}
	mask(b[masked:], b[masked:], text.Bytes())
	return b, nil
}

// maskName keeps the mask apart from anything else made of an index.
const maskName = "amber pack 1\x00"

// mask writes to dst what src is under the mask of an index, or without it: it
// is the same both ways.
func mask(dst, src, index []byte) {
	key := sha256.Sum256(append([]byte(maskName), index...))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("chunk: the key has the length of a key: " + err.Error())
	}
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(dst, src)
}

func checkParts(parts []Part) error {
	switch {
	case len(parts) == 0:
		return invalid("the pack has no parts")
	case len(parts) > MaxParts:
		return overQuota("the number of parts", len(parts), MaxParts)
	}
	seen := map[ID]bool{}
	for _, p := range parts {
		if seen[p.ID] {
			return invalid("part %s appears twice", p.ID)
		}
		seen[p.ID] = true
	}
	for _, p := range parts {
		if err := checkHash(p.ID, p.Bytes); err != nil {
			return fmt.Errorf("part %s: %w", p.ID, err)
		}
		if err := checkFrame(p.Bytes); err != nil {
			return invalid("part %s is not a chunk: %v", p.ID, err)
		}
	}
	return nil
}

// Open returns the chunks in a file: the file itself when it is a chunk, those of
// a pack. The hash of the file and those of all parts have been compared, and
// each part is one frame of zstd; what is in it [Decode] tells. The bytes of a
// chunk are those of b, those of the parts of a pack are copies.
//
// Errors: invalid when id is not valid; damaged, also when only one part is; too_new for a later version of
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
	x, text, rest, err := readIndex(b)
	if err != nil {
		return nil, err
	}
	if rest, err = unmask(rest, text); err != nil {
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
			return nil, damaged("the index does not match the pack")
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
		return nil, damaged("bytes follow the last part")
	}
	return parts, nil
}

// unmask reads the second frame of a pack, which is the last.
func unmask(b, index []byte) ([]byte, error) {
	if len(b) < packHead || binary.LittleEndian.Uint32(b) != partsMagic || uint64(binary.LittleEndian.Uint32(b[4:])) != uint64(len(b)-packHead) {
		return nil, damaged("the frame of the parts is cut off or not valid")
	}
	out := make([]byte, len(b)-packHead)
	mask(out, b[packHead:], index)
	return out, nil
}

// readIndex reads the first frame of a pack. It returns the index, its text and
// what follows it.
func readIndex(b []byte) (x index, whole, rest []byte, err error) {
	if len(b) < packHead {
		return x, nil, nil, damaged("the pack is cut off")
	}
	n := uint64(binary.LittleEndian.Uint32(b[4:]))
	b = b[packHead:]
	switch {
	case n > maxIndexBytes:
		return x, nil, nil, overQuota("the length of the index", int(n), maxIndexBytes)
	case n > uint64(len(b)):
		return x, nil, nil, damaged("the pack is cut off")
	}
	text, ends := bytes.CutSuffix(b[:n], []byte("\n"))
	if !ends {
		return x, nil, nil, damaged("the index has no end")
	}
	if err := checkFormat(text, packFamily, 1); err != nil {
		return x, nil, nil, err
	}
	return x, b[:n], b[n:], strict(text, indexShape(), &x)
}
