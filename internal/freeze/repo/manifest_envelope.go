package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/wire/sign"
)

// A record is a small object that is not named by its digest: a manifest, a
// stub, a pin, a list of condemned packs, a key record. All have one envelope
// and a line feed.
const (
	recordEnd      = "\n"
	maxRecordBytes = 1 << 20
)

// body is what a record holds.
type body interface {
	// check looks at what was read, or is about to be written.
	check() error
}

// seal returns a record without a signature and the digest of its body. The
// error is of kind invalid.
func seal(op, name string, v body) (object []byte, digest string, err error) {
	return sealWith(context.Background(), op, name, v, nil)
}

// sealWith is seal for a body that may name a signer: it must be this one then,
// which signs. Errors: invalid; that of the signer.
func sealWith(ctx context.Context, op, name string, v body, s sign.Signer) (object []byte, digest string, err error) {
	if err := checkBody(v); err != nil {
		return nil, "", &amber.Error{Op: op, Kind: amber.KindInvalid, ID: name, Err: errors.New(err.Error())}
	}
	object, digest, err = envelope.Seal(ctx, signedDomain, v, signerOf(v), s)
	if err != nil {
		return nil, "", fmt.Errorf("%s %s: %w", op, name, err)
	}
	if object = append(object, recordEnd...); len(object) > maxRecordBytes {
		return nil, "", amber.Errorf(amber.KindInvalid, op, name, "the record has %d bytes, the limit is %d", len(object), maxRecordBytes)
	}
	return object, digest, nil
}

// checkBody checks a body, and that the signer it names can be one.
func checkBody(v body) error {
	if err := v.check(); err != nil {
		return err
	}
	return envelope.CheckSigner(signerOf(v))
}

// sealed is what an envelope says about its body.
type sealed struct {
	digest    string
	signature SignatureState
}

// unseal reads a record of a format. A signature that does not match is no
// error. An error is of kind too_new or has none.
func unseal(object []byte, format string, version int, into body) (sealed, error) {
	object, ends := bytes.CutSuffix(object, []byte(recordEnd))
	if !ends {
		return sealed{}, errors.New("the record does not end with a line feed")
	}
	e, err := envelope.Open(object, format, version)
	if err != nil {
		return sealed{}, err
	}
	if err := strict(e.Body, into); err != nil {
		return sealed{}, err
	}
	is := e.Signature(signedDomain, signerOf(into))
	return sealed{e.Digest, SignatureState{Status: is.Status, KeyID: is.KeyID, Detail: is.Detail}}, nil
}

// strict reads the canonical JSON of a body and checks it.
func strict(raw []byte, into body) error {
	if err := envelope.Decode(raw, into); err != nil {
		return err
	}
	if err := checkBody(into); err != nil {
		return fmt.Errorf("%v", err) // without its kind: what was read is damaged
	}
	return nil
}

// readRecord reads a record that is never signed. Errors: not_found; damaged; too_new; those of the target.
func readRecord(ctx context.Context, t target.Target, name, format string, version int, into body) (digest string, err error) {
	r, err := readSigned(ctx, t, name, format, version, into)
	if err == nil && r.signature.Status != sign.SignatureMissing {
		err = damaged("read object", name, r.signature.problem())
	}
	return r.digest, err
}

// readSigned reads a record that may be signed. The result says what became of checking the signature; a bad signature
// is no error. Errors: not_found; damaged; too_new; those of the target.
func readSigned(ctx context.Context, t target.Target, name, format string, version int, into body) (sealed, error) {
	object, err := readSmall(ctx, t, name)
	if err != nil {
		return sealed{}, err
	}
	r, err := unseal(object, format, version, into)
	if err != nil {
		return sealed{}, damaged("read object", name, err)
	}
	return r, nil
}

// readSmall reads an object of at most maxRecordBytes.
func readSmall(ctx context.Context, t target.Target, name string) ([]byte, error) {
	b, err := readWhole(ctx, t, name, maxRecordBytes)
	if err == nil && len(b) > maxRecordBytes {
		return nil, damaged("read object", name, fmt.Errorf("the record has more than %d bytes", maxRecordBytes))
	}
	return b, err
}
