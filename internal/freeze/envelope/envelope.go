// Package envelope seals and opens the records of Amber: manifests of bundles, and manifests, stubs, pins and keys of
// repositories. An envelope is one line of canonical JSON:
//
//	{"body":{…},"digest":"<SHA-256 of the body>","signatures":[…]}
//
// There is one signature or none, made over the domain of the record and the bytes of the body. The body names its signer,
// so that a signature that was taken away or replaced is noticed.
package envelope

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/wire/sign"
)

// BodyPrefix is how every envelope begins.
const BodyPrefix = `{"body":`

const (
	digestField     = `,"digest":"`
	signaturesField = `","signatures":`
	end             = "}"
)

// Canonical returns the one way to write v: fields in the order of their declaration, no white space, only those
// characters escaped that have to be.
func Canonical(v any) ([]byte, error) {
	return strictjson.Line(v)
}

// Decode reads canonical JSON. Anything that [Canonical] would write differently is an error: unknown and repeated
// fields, another order, white space, other spellings of numbers and texts.
func Decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("decode: %v", err)
	}
	again, err := Canonical(into)
	if err != nil || !bytes.Equal(again, raw) {
		return errors.New("not in canonical form")
	}
	return nil
}

// Digest is the SHA-256 of b in hexadecimal.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Message is what a signature is made over.
func Message(domain string, raw []byte) []byte { return append([]byte(domain), raw...) }

// Seal returns the envelope of a body, without the end of the line, and the digest of the body. A body that names a
// signer is signed by it, and the signature is checked, because what is written stays. Errors: invalid for a body that
// cannot be written, and for one that names another signer; internal for a signature that does not match; those of the signer.
func Seal(ctx context.Context, domain string, body any, named sign.KeyID, s sign.Signer) (object []byte, digest string, err error) {
	raw, err := Canonical(body)
	if err != nil {
		return nil, "", &amber.Error{Op: "seal", Kind: amber.KindInvalid, Err: err}
	}
	if named == "" {
		object, err = Join(raw, nil)
		return object, Digest(raw), err
	}
	if s == nil || s.KeyID() != named {
		return nil, "", amber.Errorf(amber.KindInvalid, "seal", "", "the record names the signer %s, and the signing key is another one", named)
	}
	signature, err := s.Sign(ctx, Message(domain, raw))
	if err != nil {
		return nil, "", err
	}
	if check(domain, raw, named, []sign.Signature{signature}).Status != sign.SignatureValid {
		return nil, "", amber.Errorf(amber.KindInternal, "sign", string(named), "the new signature does not match")
	}
	object, err = Join(raw, []sign.Signature{signature})
	return object, Digest(raw), err
}

// Join puts an envelope together from the bytes of its body and its signatures.
func Join(raw []byte, signatures []sign.Signature) ([]byte, error) {
	if signatures == nil {
		signatures = []sign.Signature{}
	}
	list, err := Canonical(signatures)
	if err != nil {
		return nil, &amber.Error{Op: "seal", Kind: amber.KindInternal, Err: err}
	}
	return fmt.Appendf(nil, "%s%s%s%s%s%s%s", BodyPrefix, raw, digestField, Digest(raw), signaturesField, list, end), nil
}

// CheckSigner checks the id of a key, which may be empty.
func CheckSigner(k sign.KeyID) error {
	if k == "" {
		return nil
	}
	_, err := sign.ParseKeyID(string(k))
	return err
}
