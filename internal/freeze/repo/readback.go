package repo

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"

	"github.com/amber-memory/amber/internal/freeze/target"
)

// ReadBack reads packs from the target and compares their bytes with their
// names. Errors: damaged; those of the target.
func (r *Repo) ReadBack(ctx context.Context, packs []ID) error {
	for _, id := range packs {
		if err := checkObject(ctx, r.target, "read back pack", packName(id), id); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// checkObject reads an object and compares it with the digest it should have.
func checkObject(ctx context.Context, t target.Target, op, name string, id ID) error {
	r, err := t.Get(ctx, name, 0, -1)
	if err != nil {
		return err
	}
	defer r.Close()
	sum := sha256.New()
	if _, err := io.CopyBuffer(sum, r, make([]byte, 256<<10)); err != nil {
		return readError(name, err)
	}
	if ID(sum.Sum(nil)) != id {
		return damaged(op, name, errors.New("the bytes do not match the name"))
	}
	return nil
}
