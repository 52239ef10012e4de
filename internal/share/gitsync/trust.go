package gitsync

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire/sign"
)

// trust returns what the records of a chunk with that signature are worth, and
// whether this home signed it.
// The signature itself was checked when the chunk was decoded. Errors:
// refused where a signature of a trusted key is required; those of the list.
func (s *Sync) trust(ctx context.Context, sig *sign.Signature) (trust amber.Trust, own bool, err error) {
	standing, err := s.standing(ctx, sig)
	switch {
	case err != nil:
		return "", false, err
	case standing == sign.StandingOwn, standing == sign.StandingTrusted:
		return amber.TrustSigned, standing == sign.StandingOwn, nil
	case !s.o.RequireSigned:
		return amber.TrustImported, false, nil
	case sig == nil:
		return "", false, amber.Errorf(amber.KindRefused, "import chunk", "", "the chunk is not signed, and signatures are required")
	}
	return "", false, amber.Errorf(amber.KindRefused, "import chunk", "", "the chunk is signed by %s, which is not trusted", string(sig.KeyID)).
		WithHint("if you know the owner of the key: amber key trust " + string(sig.KeyID))
}

// standing says how the key of a signature is known; "" without one.
func (s *Sync) standing(ctx context.Context, sig *sign.Signature) (sign.Standing, error) {
	switch {
	case sig == nil:
		return "", nil
	case s.o.Trust == nil:
		return sign.StandingStranger, nil
	}
	st, err := s.o.Trust.Standing(ctx, sig.KeyID)
	if err != nil {
		// Not about the chunk: a trust list that cannot be read stops the
		// import, or everybody would be a stranger by accident.
		return "", &amber.Error{Op: "read trust list", Kind: amber.KindInternal, Err: err}
	}
	return st, nil
}
