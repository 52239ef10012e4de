package repo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/amber-memory/amber"
)

// A record is a small object that is not named by its digest: a manifest, a
// stub, a pin, a list of condemned packs, a key record. All have one envelope, a
// line of canonical JSON:
//
//	{"body":{…},"digest":"<SHA-256 of the body>","signatures":[]}
const (
	envelopeBody       = `{"body":`
	envelopeDigest     = `,"digest":"`
	envelopeSignatures = `","signatures":`
	envelopeEnd        = "}\n"

	maxRecordBytes = 1 << 20
)

// body is what an envelope holds.
type body interface {
	// check looks at what was read, or is about to be written.
	check() error
}

// canonical returns the one way to write v: fields in the order of their
// declaration, no white space, only those characters escaped that have to be.
func canonical(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// seal returns a record without a signature and the digest of its body. The
// error is of kind invalid.
func seal(op, name string, v body) (object []byte, digest string, err error) {
	return sealWith(context.Background(), op, name, v, nil)
}

// sealWith is seal for a body that may name a signer: it must be this one then,
// which signs. Errors: invalid; that of the signer.
func sealWith(ctx context.Context, op, name string, v body, s amber.Signer) (object []byte, digest string, err error) {
	invalid := func(err error) ([]byte, string, error) {
		return nil, "", &amber.Error{Op: op, Kind: amber.KindInvalid, ID: name, Err: errors.New(err.Error())}
	}
	if err := checkBody(v); err != nil {
		return invalid(err)
	}
	b, err := canonical(v)
	if err != nil {
		return invalid(err)
	}
	named := signerOf(v)
	if named != "" && (s == nil || s.KeyID() != named) {
		return invalid(fmt.Errorf("it names the signer %s, and that is not who signs here", named))
	}
	signatures, err := sign(ctx, b, named, s)
	if err != nil {
		return nil, "", fmt.Errorf("%s %s: %w", op, name, err)
	}
	digest = digestOf(b)
	object = fmt.Appendf(nil, "%s%s%s%s%s%s%s", envelopeBody, b, envelopeDigest, digest, envelopeSignatures, signatures, envelopeEnd)
	if len(object) > maxRecordBytes {
		return invalid(fmt.Errorf("it has %d bytes, the limit is %d", len(object), maxRecordBytes))
	}
	return object, digest, nil
}

// checkBody checks a body, and that the signer it names can be one.
func checkBody(v body) error {
	if err := v.check(); err != nil {
		return err
	}
	named := signerOf(v)
	if named == "" {
		return nil
	}
	_, err := amber.ParseKeyID(string(named))
	return err
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// sealed is what an envelope says about its body.
type sealed struct {
	digest    string
	signature SignatureState
}

// unseal reads a record of a format. The digest is compared before anything
// else is looked at, so that a damaged version is not taken for a newer one. A
// signature that does not match is no error. An error is of kind too_new or has
// none.
func unseal(object []byte, format string, version int, into body) (sealed, error) {
	raw, digest, rest, err := splitEnvelope(object)
	if err != nil {
		return sealed{}, err
	}
	if digestOf(raw) != digest {
		return sealed{}, errors.New("the body does not match its digest")
	}
	if err := checkFormat(raw, format, version); err != nil {
		return sealed{}, err
	}
	signatures, err := parseSignatures(rest)
	if err != nil {
		return sealed{}, err
	}
	if err := strict(raw, into); err != nil {
		return sealed{}, err
	}
	return sealed{digest, checkSignatures(raw, signerOf(into), signatures)}, nil
}

// splitEnvelope finds the parts of an envelope; rest is what the signatures
// are.
func splitEnvelope(b []byte) (raw []byte, digest string, rest []byte, err error) {
	bad := errors.New("no intact envelope")
	b, ok := bytes.CutPrefix(b, []byte(envelopeBody))
	if !ok {
		return nil, "", nil, bad
	}
	d := json.NewDecoder(bytes.NewReader(b))
	var skip json.RawMessage
	if d.Decode(&skip) != nil {
		return nil, "", nil, bad
	}
	raw, b = b[:d.InputOffset()], b[d.InputOffset():]
	b, ok = bytes.CutPrefix(b, []byte(envelopeDigest))
	if !ok || len(b) < 2*sha256.Size {
		return nil, "", nil, bad
	}
	digest, b = string(b[:2*sha256.Size]), b[2*sha256.Size:]
	b, begins := bytes.CutPrefix(b, []byte(envelopeSignatures))
	rest, ends := bytes.CutSuffix(b, []byte(envelopeEnd))
	if !begins || !ends {
		return nil, "", nil, bad
	}
	return raw, digest, rest, nil
}

// checkFormat tells a later version from damage; the bytes have passed their
// digest.
func checkFormat(raw []byte, format string, version int) error {
	var is struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	switch err := json.Unmarshal(raw, &is); {
	case err != nil:
		return errors.New("no format and version")
	case is.Format != format:
		return fmt.Errorf("the format is %q and not %s", clean(is.Format, 40), format)
	case is.Version > version:
		return tooNew(fmt.Sprintf("version %d of %s; this amber knows version %d", is.Version, format, version))
	case is.Version != version:
		return fmt.Errorf("version %d of %s", is.Version, format)
	}
	return nil
}

func tooNew(why string) error {
	e := amber.Errorf(amber.KindTooNew, "read repository", "", "%s", why)
	e.Hint = "use a newer amber"
	return e
}

// strict reads canonical JSON: what is not written exactly as canonical would
// write it is refused. Numbers, names and order of fields, spaces, doubles:
// all of it is compared at once.
func strict(raw []byte, into body) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("decode: %v", err)
	}
	if err := checkBody(into); err != nil {
		return fmt.Errorf("%v", err) // whatever kind it has: what was read is damaged
	}
	again, err := canonical(into)
	if err != nil || !bytes.Equal(again, raw) {
		return errors.New("it is not written in the canonical way")
	}
	return nil
}

// readRecord reads a record that nobody signs. Errors: not_found; damaged;
// too_new; those of the target.
func readRecord(ctx context.Context, t amber.Target, name, format string, version int, into body) (digest string, err error) {
	r, err := readSigned(ctx, t, name, format, version, into)
	if err == nil && r.signature.Status != amber.SignatureMissing {
		err = damaged("read object", name, r.signature.problem())
	}
	return r.digest, err
}

// readSigned reads a record that may be signed. What became of checking that is
// no error. Errors: not_found; damaged; too_new; those of the target.
func readSigned(ctx context.Context, t amber.Target, name, format string, version int, into body) (sealed, error) {
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
func readSmall(ctx context.Context, t amber.Target, name string) ([]byte, error) {
	r, err := t.Get(ctx, name, 0, -1)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, maxRecordBytes+1))
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	switch {
	case err != nil:
		return nil, readError(name, err)
	case len(b) > maxRecordBytes:
		return nil, damaged("read object", name, fmt.Errorf("it has more than %d bytes", maxRecordBytes))
	}
	return b, nil
}
