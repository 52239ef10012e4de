package envelope

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire/sign"
)

// Envelope is an opened one. Its body matches its digest.
type Envelope struct {
	Body       []byte
	Digest     string
	signatures []sign.Signature
}

var errDamaged = errors.New("envelope is damaged")

// Open reads an envelope that fills b, without the end of the line, in the one way it can be written. The digest is
// compared before anything else is looked at, so that damage is not taken for a newer version. Errors: too_new for a later version of
// the format; others have no kind. A signature that does not match is no error: see [Envelope.Signature].
func Open(b []byte, format string, version int) (Envelope, error) {
	raw, digest, list, err := split(b)
	if err != nil {
		return Envelope{}, err
	}
	if Digest(raw) != digest {
		return Envelope{}, errors.New("the body does not match its digest")
	}
	if err := CheckFormat(raw, format, version); err != nil {
		return Envelope{}, err
	}
	e := Envelope{Body: raw, Digest: digest}
	if Decode(list, &e.signatures) != nil || e.signatures == nil || len(e.signatures) > 1 {
		return Envelope{}, errDamaged
	}
	return e, nil
}

// split finds the parts of an envelope.
func split(b []byte) (raw []byte, digest string, signatures []byte, err error) {
	b, ok := bytes.CutPrefix(b, []byte(BodyPrefix))
	if !ok {
		return nil, "", nil, errDamaged
	}
	d := json.NewDecoder(bytes.NewReader(b))
	var skip json.RawMessage
	if d.Decode(&skip) != nil {
		return nil, "", nil, errDamaged
	}
	raw, b = b[:d.InputOffset()], b[d.InputOffset():]
	b, ok = bytes.CutPrefix(b, []byte(digestField))
	if !ok || len(b) < 2*sha256.Size {
		return nil, "", nil, errDamaged
	}
	digest, b = string(b[:2*sha256.Size]), b[2*sha256.Size:]
	b, begins := bytes.CutPrefix(b, []byte(signaturesField))
	signatures, ends := bytes.CutSuffix(b, []byte(end))
	if !begins || !ends {
		return nil, "", nil, errDamaged
	}
	return raw, digest, signatures, nil
}

// CheckFormat distinguishes a later version from damage; the bytes have passed their digest.
func CheckFormat(raw []byte, format string, version int) error {
	var is struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	switch err := json.Unmarshal(raw, &is); {
	case err != nil:
		return errors.New("format and version are missing")
	case is.Format != format:
		return fmt.Errorf("format is %.40q, want %s", strings.ToValidUTF8(is.Format, "?"), format)
	case is.Version > version:
		return TooNew("read record", "version %d of %s; this amber knows version %d", is.Version, format, version)
	case is.Version != version:
		return fmt.Errorf("version %d of %s, want %d", is.Version, format, version)
	}
	return nil
}

// TooNew is the error for something that a later Amber wrote.
func TooNew(op, format string, args ...any) error {
	return amber.Errorf(amber.KindTooNew, op, "", format, args...).WithHint("use a newer amber")
}

// Signature says what the signature is worth. Named is the signer that the body names, "" for none.
func (e Envelope) Signature(domain string, named sign.KeyID) sign.SignatureReport {
	return check(domain, e.Body, named, e.signatures)
}

func check(domain string, raw []byte, named sign.KeyID, list []sign.Signature) sign.SignatureReport {
	bad := func(format string, args ...any) sign.SignatureReport {
		return sign.SignatureReport{Status: sign.SignatureBad, KeyID: named, Detail: "signature does not match: " + fmt.Sprintf(format, args...)}
	}
	switch {
	case len(list) == 0 && named == "":
		return sign.SignatureReport{Status: sign.SignatureMissing}
	case len(list) == 0:
		return sign.SignatureReport{Status: sign.SignatureStripped, KeyID: named, Detail: "signature was taken away: the record names the signer " + string(named)}
	case named == "":
		return bad("the record is signed and names no signer")
	case list[0].KeyID != named:
		return bad("signature is of the key %s, but the record names the signer %s", list[0].KeyID, named)
	case list[0].Verify(Message(domain, raw)) != nil:
		return bad("the key %s did not make it for this record", named)
	}
	return sign.SignatureReport{Status: sign.SignatureValid, KeyID: named}
}
