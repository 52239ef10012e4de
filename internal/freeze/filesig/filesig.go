// Package filesig signs files, and checks their signatures: FILE.sig beside FILE. The signature is an envelope as manifests
// have one (see internal/freeze/envelope), so that one key and one way to sign serve all of Amber. docs/format/signature.md has
// its bytes.
package filesig

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/wire/sign"
)

const (
	sigFormat  = "amber-signature"
	sigVersion = 1
	// domain keeps a signature of a file from being one of anything else.
	domain = "amber file 1\x00"
	// Suffix is what the name of a signature adds to that of its file.
	Suffix = ".sig"
	// MaxSize is longer than any signature.
	MaxSize = 16 << 10
)

// record is what is signed: which bytes, and by whom. Names are not part of it, so a file may be renamed.
type record struct {
	Format   string     `json:"format"`
	Version  int        `json:"version"`
	SHA256   string     `json:"sha256"`
	Bytes    int64      `json:"bytes"`
	SignedBy sign.KeyID `json:"signed_by"`
}

// Sign returns the bytes of the signature of what r holds.
func Sign(ctx context.Context, r io.Reader, s sign.Signer) ([]byte, error) {
	body, err := recordOf(r)
	if err != nil {
		return nil, err
	}
	body.SignedBy = s.KeyID()
	object, _, err := envelope.Seal(ctx, domain, body, s.KeyID(), s)
	if err != nil {
		return nil, err
	}
	return append(object, '\n'), nil
}

// recordOf reads r to its end.
func recordOf(r io.Reader) (record, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, r)
	if err != nil {
		return record{}, amber.Errorf(amber.KindInternal, "read file", "", "%v", err)
	}
	return record{Format: sigFormat, Version: sigVersion, SHA256: hex.EncodeToString(sum.Sum(nil)), Bytes: n}, nil
}

// Verify checks that signature is one of what r holds, and returns the key that made it. Whether this key counts is for
// the caller to say. Errors: invalid for bytes that are no signature; too_new; untrusted when it does not match.
func Verify(r io.Reader, signature []byte) (sign.KeyID, error) {
	const op = "check signature"
	if len(signature) > MaxSize {
		return "", amber.Errorf(amber.KindInvalid, op, "", "signature has more than %d bytes", MaxSize)
	}
	e, err := envelope.Open(bytes.TrimSuffix(signature, []byte("\n")), sigFormat, sigVersion)
	if amber.KindOf(err) == amber.KindTooNew {
		return "", err
	}
	var signed record
	if err == nil {
		err = envelope.Decode(e.Body, &signed)
	}
	if err != nil {
		return "", amber.Errorf(amber.KindInvalid, op, "", "not a signature of Amber: %v", err)
	}
	report := e.Signature(domain, signed.SignedBy)
	if report.Status != sign.SignatureValid {
		return "", amber.Errorf(amber.KindUntrusted, op, string(signed.SignedBy), "want a valid signature, found it %s: %s", report.Status, report.Detail)
	}
	is, err := recordOf(r)
	if err != nil {
		return "", err
	}
	if is.SHA256 != signed.SHA256 || is.Bytes != signed.Bytes {
		return "", amber.Errorf(amber.KindUntrusted, op, string(signed.SignedBy), "the file is not the one that was signed: its SHA-256 is %s (%d bytes), signed was %s (%d bytes)",
			is.SHA256, is.Bytes, signed.SHA256, signed.Bytes)
	}
	return signed.SignedBy, nil
}
