package bundle

import (
	"context"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/wire/sign"
)

// signedDomain is signed in front of the body of a manifest.
const signedDomain = "amber bundle 1\x00"

// body is what an envelope holds.
type body interface {
	check() error
	signer() sign.KeyID
}

// seal returns the envelope of a body, without the end of the line, signed by the signer that the body names; nil when
// it names none. Errors: invalid for a body that is not fit; those of the signer.
func seal(ctx context.Context, v body, signer sign.Signer) ([]byte, error) {
	if err := v.check(); err != nil {
		return nil, &amber.Error{Op: "write manifest", Kind: amber.KindInvalid, Err: errors.New(err.Error())}
	}
	object, _, err := envelope.Seal(ctx, signedDomain, v, v.signer(), signer)
	return object, err
}

// unseal reads an envelope that fills b and says what its signature is worth. An error is of kind too_new or has none; a
// signature that does not match is no error.
func unseal(b []byte, format string, version int, into body) (sign.SignatureReport, error) {
	e, err := envelope.Open(b, format, version)
	if err != nil {
		return sign.SignatureReport{}, err
	}
	if err := envelope.Decode(e.Body, into); err != nil {
		return sign.SignatureReport{}, err
	}
	if err := into.check(); err != nil {
		return sign.SignatureReport{}, fmt.Errorf("%v", err) // without its kind: what was read is damaged
	}
	return e.Signature(signedDomain, into.signer()), nil
}

func tooNew(format string, args ...any) error { return envelope.TooNew("read bundle", format, args...) }
