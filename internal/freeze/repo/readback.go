package repo

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
)

// ReadBack reads every byte of packs again and compares each pack with its name,
// which is the digest of its content. Call it after storing packs and before
// reporting success. Errors: not_found, damaged; those of the
// target.
func (r *Repo) ReadBack(ctx context.Context, packs []ID) error {
	buf := make([]byte, 256<<10)
	for _, id := range packs {
		if err := r.readBack(ctx, id, buf); err != nil {
			return err
		}
	}
	return nil
}

func (r *Repo) readBack(ctx context.Context, id ID, buf []byte) error {
	name := packName(id)
	body, err := r.target.Get(ctx, name, 0, -1)
	if err != nil {
		return err
	}
	defer body.Close()
	sum := sha256.New()
	if _, err := io.CopyBuffer(sum, body, buf); err != nil {
		return readError(name, err)
	}
	if ID(sum.Sum(nil)) != id {
		return damaged("read back pack", name, errors.New("the bytes do not match the name"))
	}
	return ctx.Err()
}
