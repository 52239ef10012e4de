package bundle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
)

// A manifest is one line of canonical JSON, the envelope of all records of Amber:
//
//	{"body":{…},"digest":"<SHA-256 of the body>","signatures":[…]}
//
// There is one signature or none. It is made over signedPrefix and the bytes of the body.
const (
	envelopeBody       = `{"body":`
	envelopeDigest     = `,"digest":"`
	envelopeSignatures = `","signatures":`
	envelopeEnd        = "}"

	signedPrefix = "amber bundle 1\x00"
)

// body is what an envelope holds.
type body interface {
	check() error
	signer() amber.KeyID
}

// canonical returns the one way to write v: fields in the order of their declaration, no white space, only those
// characters escaped that have to be.
func canonical(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// seal returns the envelope of a body, without the end of the line, signed by the signer that the body names; nil when
// it names none. Errors: invalid for a body that is not fit; those of the signer.
func seal(ctx context.Context, v body, signer amber.Signer) ([]byte, error) {
	if err := v.check(); err != nil {
		return nil, &amber.Error{Op: "write manifest", Kind: amber.KindInvalid, Err: errors.New(err.Error())}
	}
	raw, err := canonical(v)
	if err != nil {
		return nil, &amber.Error{Op: "write manifest", Kind: amber.KindInvalid, Err: err}
	}
	signatures := []amber.Signature{}
	if signer != nil {
		s, err := signer.Sign(ctx, signedMessage(raw))
		if err != nil {
			return nil, err
		}
		if s.KeyID != v.signer() {
			return nil, amber.Errorf(amber.KindInternal, "sign manifest", "", "the signer signs with another key than it names")
		}
		signatures = append(signatures, s)
	}
	list, err := canonical(signatures)
	if err != nil {
		return nil, &amber.Error{Op: "write manifest", Kind: amber.KindInternal, Err: err}
	}
	return fmt.Appendf(nil, "%s%s%s%s%s%s%s", envelopeBody, raw, envelopeDigest, digestOf(raw), envelopeSignatures, list, envelopeEnd), nil
}

func signedMessage(raw []byte) []byte { return append([]byte(signedPrefix), raw...) }

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// unseal reads an envelope that stands alone in b, in the one way it can be written, and judges its signature. The
// digest is compared before anything else is looked at, so that damage is not taken for a newer version. An error is of
// kind too_new or has none; a signature that does not hold is no error.
func unseal(b []byte, format string, version int, into body) (amber.SignatureReport, error) {
	raw, digest, list, err := splitEnvelope(b)
	if err != nil {
		return amber.SignatureReport{}, err
	}
	if digestOf(raw) != digest {
		return amber.SignatureReport{}, errors.New("the body does not match its digest")
	}
	if err := checkFormat(raw, format, version); err != nil {
		return amber.SignatureReport{}, err
	}
	if err := strict(raw, into); err != nil {
		return amber.SignatureReport{}, err
	}
	var signatures []amber.Signature
	if err := exact(list, &signatures); err != nil {
		return amber.SignatureReport{}, errors.New("the signatures are not intact")
	}
	return judge(raw, into.signer(), signatures), nil
}

// splitEnvelope finds the parts of an envelope.
func splitEnvelope(b []byte) (raw []byte, digest string, signatures []byte, err error) {
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
	signatures, ends := bytes.CutSuffix(b, []byte(envelopeEnd))
	if !begins || !ends {
		return nil, "", nil, bad
	}
	return raw, digest, signatures, nil
}

// checkFormat tells a later version from damage; the bytes have passed their digest.
func checkFormat(raw []byte, format string, version int) error {
	var is struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	switch err := json.Unmarshal(raw, &is); {
	case err != nil:
		return errors.New("no format and version")
	case is.Format != format:
		return fmt.Errorf("the format is %q and not %s", clip(is.Format), format)
	case is.Version > version:
		return tooNew(fmt.Sprintf("version %d of %s; this amber knows version %d", is.Version, format, version))
	case is.Version != version:
		return fmt.Errorf("version %d of %s", is.Version, format)
	}
	return nil
}

func tooNew(why string) error {
	e := amber.Errorf(amber.KindTooNew, "read bundle", "", "%s", why)
	e.Hint = "use a newer amber"
	return e
}

// strict reads canonical JSON into a body: what is not written exactly as canonical would write it is refused.
func strict(raw []byte, into body) error {
	if err := exact(raw, into); err != nil {
		return err
	}
	if err := into.check(); err != nil {
		return fmt.Errorf("%v", err) // whatever kind it has: what was read is damaged
	}
	return nil
}

func exact(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("decode: %v", err)
	}
	again, err := canonical(into)
	if err != nil || !bytes.Equal(again, raw) {
		return errors.New("it is not written in the canonical way")
	}
	return nil
}

// judge says what the signatures of a body are worth.
func judge(raw []byte, signer amber.KeyID, list []amber.Signature) amber.SignatureReport {
	bad := func(why string) amber.SignatureReport {
		return amber.SignatureReport{Status: amber.SignatureBad, KeyID: signer, Detail: why}
	}
	switch {
	case signer == "" && len(list) == 0:
		return amber.SignatureReport{Status: amber.SignatureMissing}
	case len(list) == 0:
		return amber.SignatureReport{Status: amber.SignatureStripped, KeyID: signer, Detail: "the manifest names a signer, and there is no signature"}
	case signer == "":
		return bad("there is a signature, and the manifest names no signer")
	case len(list) != 1:
		return bad(fmt.Sprintf("there are %d signatures", len(list)))
	case list[0].KeyID != signer:
		return bad("the signature is of another key than the manifest names")
	}
	if err := list[0].Verify(signedMessage(raw)); err != nil {
		return bad("the signature does not match")
	}
	return amber.SignatureReport{Status: amber.SignatureValid, KeyID: signer}
}

// checkSigner checks the name of a key, which may be empty.
func checkSigner(k amber.KeyID) error {
	if k == "" {
		return nil
	}
	_, err := amber.ParseKeyID(string(k))
	return err
}

// clip shortens hostile text for an error message.
func clip(s string) string {
	const most = 60
	r := []rune(s)
	if len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(r)
}
