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
// stub, a pin, a list of condemned packs. All have one envelope, a line of
// canonical JSON:
//
//	{"body":{…},"digest":"<SHA-256 of the body>","signatures":[]}
const (
	envelopeBody       = `{"body":`
	envelopeDigest     = `,"digest":"`
	envelopeSignatures = `","signatures":`
	envelopeEnd        = "}\n"
	noSignatures       = "[]"

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

// seal returns a record and the digest of its body. The error is of kind
// invalid.
func seal(op, name string, v body) (object []byte, digest string, err error) {
	if err = v.check(); err == nil {
		var b []byte
		if b, err = canonical(v); err == nil {
			digest = digestOf(b)
			object = fmt.Appendf(nil, "%s%s%s%s%s%s%s", envelopeBody, b, envelopeDigest, digest, envelopeSignatures, noSignatures, envelopeEnd)
		}
	}
	if err == nil && len(object) > maxRecordBytes {
		err = fmt.Errorf("it has %d bytes, the limit is %d", len(object), maxRecordBytes)
	}
	if err != nil {
		return nil, "", &amber.Error{Op: op, Kind: amber.KindInvalid, ID: name, Err: errors.New(err.Error())}
	}
	return object, digest, nil
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// unseal reads a record of a format. The digest is compared before anything
// else is looked at, so that a damaged version is not taken for a newer one. An
// error is of kind too_new or has none.
func unseal(object []byte, format string, version int, into body) (digest string, err error) {
	raw, digest, rest, err := splitEnvelope(object)
	if err != nil {
		return "", err
	}
	if digestOf(raw) != digest {
		return "", errors.New("the body does not match its digest")
	}
	if err := checkFormat(raw, format, version); err != nil {
		return "", err
	}
	if err := checkSignatures(rest); err != nil {
		return "", err
	}
	return digest, strict(raw, into)
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

// checkSignatures accepts none. This version makes none: a list that holds
// some was written by a later one.
func checkSignatures(b []byte) error {
	if string(b) == noSignatures {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(b, &list) != nil || len(list) == 0 {
		return errors.New("no intact envelope")
	}
	return tooNew("it is signed, and this amber does not know signatures")
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
	e := amber.Errorf(amber.KindTooNew, "read repository", "", why)
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
	if err := into.check(); err != nil {
		return fmt.Errorf("%v", err) // whatever kind it has: what was read is damaged
	}
	again, err := canonical(into)
	if err != nil || !bytes.Equal(again, raw) {
		return errors.New("it is not written in the canonical way")
	}
	return nil
}

// readRecord reads a record. Errors: not_found; damaged; too_new; those of the
// target.
func readRecord(ctx context.Context, t amber.Target, name, format string, version int, into body) (digest string, err error) {
	object, err := readSmall(ctx, t, name)
	if err != nil {
		return "", err
	}
	if digest, err = unseal(object, format, version, into); err != nil {
		return "", damaged("read object", name, err)
	}
	return digest, nil
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
