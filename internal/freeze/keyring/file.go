package keyring

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/wire/sign"
)

// ReadSigner returns a signer for the seed in a file, which need not be that of
// a home. Errors: not_found; refused when others may read it; invalid when it
// holds no seed.
func ReadSigner(file string) (sign.Signer, error) {
	s, _, err := readSeed(fsx.OS(), file)
	switch amber.KindOf(err) {
	case amber.KindDamaged:
		return nil, amber.Errorf(amber.KindInvalid, "read signing key", file, "%s", noSeed) // not ours, so not damaged
	case amber.KindNotFound:
		return nil, amber.Errorf(amber.KindNotFound, "read signing key", file, "no such file")
	}
	if err != nil {
		return nil, err
	}
	return newSigner(s), nil
}
