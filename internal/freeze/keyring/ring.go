package keyring

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/wire/sign"
)

// Files in the folder of keys.
const (
	SeedFile        = "signing.seed"
	TrustedFile     = "trusted"
	AgeIdentityFile = "age-identity.txt" // opens what the home has encrypted
	lockName        = "trusted.lock"
)

// Options are what a ring is given. The zero value works.
type Options struct {
	FS     fsx.FS    // nil: the operating system's
	Random io.Reader // where seeds come from; nil: crypto/rand
}

// Ring is the keys of a home. Safe for concurrent use, also by several
// processes. It keeps nothing in memory: what the files say counts.
type Ring struct {
	dir string
	o   Options
}

var _ sign.TrustList = (*Ring)(nil)

// Open returns the ring of a folder. It touches nothing; the folder is made
// when something is written.
func Open(dir string, o Options) *Ring {
	o.FS = cmp.Or(o.FS, fsx.OS())
	o.Random = cmp.Or(o.Random, rand.Reader)
	return &Ring{dir: dir, o: o}
}

func (r *Ring) path(name string) string { return filepath.Join(r.dir, name) }

// Signer returns the signer of the home. Errors: not_found without a seed;
// refused when others may read it; damaged when it holds no seed.
func (r *Ring) Signer(ctx context.Context) (sign.Signer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.own()
}

// own reads the seed and makes sure that it stays: the process that wrote it
// may have died before it was durable, and what is signed outlives a power cut.
func (r *Ring) own() (*signer, error) {
	s, raw, err := readSeed(r.o.FS, r.path(SeedFile))
	if err != nil {
		return nil, err
	}
	if err := fsx.CreateSame(r.o.FS, r.path(SeedFile), 0o600, raw); err != nil {
		return nil, failed("read signing key", r.path(SeedFile), err)
	}
	return newSigner(s), nil
}

// Make returns the signer of the home and makes a seed when the home has no seed yet. When several
// callers make a seed at the same time, one of the seeds stays, and all callers get its signer.
// Errors: those of [Ring.Signer] but for not_found; internal when the seed cannot be written.
func (r *Ring) Make(ctx context.Context) (s sign.Signer, created bool, err error) {
	s, err = r.Signer(ctx)
	if amber.KindOf(err) != amber.KindNotFound {
		return s, false, err
	}
	const op = "make signing key"
	var fresh seed
	if _, err := io.ReadFull(r.o.Random, fresh[:]); err != nil {
		return nil, false, failed(op, "", err)
	}
	err = fsx.MkdirAll(r.o.FS, r.dir, 0o700)
	if err == nil {
		err = fsx.CreateNew(r.o.FS, r.path(SeedFile), 0o600, fresh[:])
	}
	if errors.Is(err, fs.ErrExist) {
		s, err = r.Signer(ctx) // another was faster
		return s, false, err
	}
	if err != nil {
		return nil, false, failed(op, r.path(SeedFile), err)
	}
	return newSigner(fresh), true, nil
}

// Adopt makes the seed in a file the home's own; the file stays. Adopting the
// seed that is there already is no error. Errors: not_found without the file;
// refused when others may read it; invalid when it holds no seed; conflict when
// the home has another one; those of [Ring.Signer].
func (r *Ring) Adopt(ctx context.Context, file string) (sign.KeyID, error) {
	const op = "adopt signing key"
	if err := ctx.Err(); err != nil {
		return "", err
	}
	s, _, err := readSeed(r.o.FS, file)
	if amber.KindOf(err) == amber.KindDamaged {
		return "", amber.Errorf(amber.KindInvalid, op, file, "%s", noSeed) // not ours, so not damaged
	}
	if err != nil {
		return "", err
	}
	adopted := newSigner(s)
	err = fsx.MkdirAll(r.o.FS, r.dir, 0o700)
	if err == nil {
		err = fsx.CreateSame(r.o.FS, r.path(SeedFile), 0o600, s[:])
	}
	if err != nil && !errors.Is(err, fsx.ErrDiffers) {
		return "", failed(op, r.path(SeedFile), err)
	}
	// Read, also when the bytes are the same: the mode may let others in. And
	// other bytes may spell the same seed.
	if err := r.sameAs(adopted); err != nil {
		return "", err
	}
	return adopted.id, nil
}

// sameAs returns nil when the home's own key is that of s.
func (r *Ring) sameAs(s *signer) error {
	own, err := r.own()
	if err == nil && own.id != s.id {
		err = amber.Errorf(amber.KindConflict, "adopt signing key", r.path(SeedFile), "the home has another key, %s", string(own.id))
	}
	return err
}

// Standing implements [sign.TrustList]. A list or a seed that cannot be read is
// an error, so that no key counts as unknown or as trusted by accident. Errors:
// those of [Ring.Trusted]; refused and damaged for the seed.
func (r *Ring) Standing(ctx context.Context, key sign.KeyID) (sign.Standing, error) {
	trusted, err := r.Trusted(ctx)
	if err != nil {
		return "", err
	}
	own, _, err := readSeed(r.o.FS, r.path(SeedFile))
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return "", err
	}
	if err == nil && newSigner(own).id == key {
		return sign.StandingOwn, nil
	}
	for _, t := range trusted {
		if t.KeyID == key {
			return sign.StandingTrusted, nil
		}
	}
	return sign.StandingStranger, nil
}

// failed makes an error of what the file system said.
func failed(op, path string, err error) error {
	var known *amber.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return amber.Errorf(amber.KindNotFound, op, path, "the home has no signing key")
	case errors.Is(err, fsx.ErrNotRegular): // whatever it leads to is not a key of this home
		return &amber.Error{Op: op, Kind: amber.KindRefused, ID: path, Err: err}
	}
	return diskerr.Own(op, path, err)
}
