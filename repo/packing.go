package repo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/amber-memory/amber"
)

// packing is a pack that is being filled. Used by one goroutine at a time.
type packing struct {
	spool spool
	large []byte // behind the spool: a blob that is too large for it
	dir   directory
	end   int64 // of header and blobs
	sum   hash.Hash
}

func newPacking(ctx context.Context, pool pool) (*packing, error) {
	p := &packing{spool: spool{pool: pool}, sum: sha256.New()}
	h := packHeader()
	p.sum.Write(h)
	p.end = int64(len(h))
	return p, p.spool.write(ctx, h)
}

// fits reports whether another blob may be added.
func (p *packing) fits(stored int, limit int64) bool {
	return p.large == nil && p.end+int64(stored) <= limit && p.dir.blobs() < maxPackBlobs
}

// add appends a blob. With large set its bytes are not copied and must stay
// as they are until the upload is over; it is the last blob then.
func (p *packing) add(ctx context.Context, e entry, stored []byte, large bool) error {
	e.offset, e.stored = uint32(p.end), uint32(len(stored))
	p.dir = p.dir.add(e)
	p.end += int64(len(stored))
	p.sum.Write(stored)
	if large {
		p.large = stored
		return nil
	}
	return p.spool.write(ctx, stored)
}

// upload stores the pack and returns it when it is durable. The chunks have
// gone back to the pool then, whatever happened.
func (p *packing) upload(ctx context.Context, t amber.Target) (packDir, error) {
	defer p.spool.release()
	tail := append(bytes.Clone(p.dir), packFooter(p.dir, p.end)...)
	p.sum.Write(tail)
	d := packDir{id: ID(p.sum.Sum(nil)), size: p.end + int64(len(tail)), dir: p.dir}
	body := io.MultiReader(&p.spool, bytes.NewReader(p.large), bytes.NewReader(tail))
	return d, putObject(ctx, t, packName(d.id), d.id, d.size, body)
}

// putObject stores an object whose name is its digest. One that is there
// already is read: it may be damaged, and then nothing may rely on it.
func putObject(ctx context.Context, t amber.Target, name string, id ID, size int64, body io.Reader) error {
	created, err := t.Put(ctx, name, size, body)
	if err != nil {
		return fmt.Errorf("store %s: %w", name, err)
	}
	if created {
		return nil
	}
	return checkObject(ctx, t, name, id)
}

// checkObject reads an object and compares it with the digest it should have.
func checkObject(ctx context.Context, t amber.Target, name string, id ID) error {
	r, err := t.Get(ctx, name, 0, -1)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, r)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return readError(name, err)
	}
	if ID(sum.Sum(nil)) != id {
		return damaged("store object", name, errors.New("there is one of that name, and its bytes do not match it"))
	}
	return nil
}
