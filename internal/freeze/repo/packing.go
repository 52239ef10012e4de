package repo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"

	"github.com/amber-memory/amber/internal/freeze/target"
)

const (
	saltDomain = "amber salt 1\x00"
	// maxSalts is room for more salts than there are condemned packs of the
	// same blobs.
	maxSalts = 64
)

// packing is a pack that is being filled. Used by one goroutine at a time.
type packing struct {
	data  []byte // header and blobs
	large []byte // behind data: a blob that is too large for it
	dir   directory
	end   int64 // of header and blobs
	sum   hash.Hash
}

func newPacking(buf []byte) *packing {
	h := packHeader()
	p := &packing{data: append(buf[:0], h...), sum: sha256.New(), end: int64(len(h))}
	p.sum.Write(h)
	return p
}

// fits reports whether another blob may be added.
func (p *packing) fits(stored int, limit int64) bool {
	return p.large == nil && p.end+int64(stored) <= limit && p.dir.blobs() < maxPackBlobs-maxSalts
}

// add appends a blob. With large set its bytes are not copied and must stay
// as they are until the upload is over; it is the last blob then.
func (p *packing) add(e entry, stored []byte, large bool) {
	e.offset, e.stored = uint32(p.end), uint32(len(stored))
	p.dir = p.dir.add(e)
	p.end += int64(len(stored))
	p.sum.Write(stored)
	if large {
		p.large = stored
		return
	}
	p.data = append(p.data, stored...)
}

// upload stores the pack and returns it when it is durable.
func (p *packing) upload(ctx context.Context, t target.Target, avoids func(ID) bool) (packDir, error) {
	id, tail := p.name()
	var salts []byte
	for avoids(id) {
		salts = append(salts, p.salt(id)...)
		id, tail = p.name()
	}
	d := packDir{id: id, size: p.end + int64(len(tail)), dir: p.dir}
	body := io.MultiReader(bytes.NewReader(p.data), bytes.NewReader(p.large), bytes.NewReader(salts), bytes.NewReader(tail))
	return d, putObject(ctx, t, packName(d.id), d.id, d.size, body)
}

// name returns the id of the pack as it is now, and what lies behind its
// blobs.
func (p *packing) name() (ID, []byte) {
	tail := append(bytes.Clone(p.dir), packFooter(p.dir, p.end)...)
	sum, err := p.sum.(hash.Cloner).Clone()
	if err != nil {
		panic("clone sha-256: " + err.Error())
	}
	sum.Write(tail)
	return ID(sum.Sum(nil)), tail
}

// salt adds a blob that no snapshot needs and that is in no other pack. A pack of the same blobs as one that is about
// to be deleted must have another name. The blob is never sealed: the name of a pack is no secret.
func (p *packing) salt(id ID) []byte {
	b := append([]byte(saltDomain), id[:]...)
	n := uint32(len(b))
	p.dir = p.dir.add(entry{
		id: BlobID(KindFile, b), kind: KindFile, offset: uint32(p.end), stored: n, plain: n, crc: checksum(b),
	})
	p.end += int64(n)
	p.sum.Write(b)
	return b
}

// putObject stores an object whose name is its digest. It reads an object that is there already: that may be damaged,
// and then nothing may rely on it.
func putObject(ctx context.Context, t target.Target, name string, id ID, size int64, body io.Reader) error {
	created, err := t.Put(ctx, name, size, body)
	if err != nil {
		return fmt.Errorf("store %s: %w", name, err)
	}
	if created {
		return nil
	}
	return checkObject(ctx, t, "store object", name, id)
}
