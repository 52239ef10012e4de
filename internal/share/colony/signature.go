package colony

import (
	"context"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire/sign"
)

// signManifest signs a manifest that has no signature yet.
func signManifest(ctx context.Context, by sign.Signer, manifest value) (value, error) {
	message := manifest.Canonical()
	s, err := by.Sign(ctx, message)
	if err == nil {
		err = s.Verify(message)
	}
	if err != nil {
		return value{}, &amber.Error{Op: "sign snapshot", Kind: amber.KindOf(err), ID: string(by.KeyID()), Err: err}
	}
	v := newObject()
	v.add("alg", newString(s.Alg))
	v.add("key_id", newString(string(s.KeyID)))
	v.add("sig", newString(s.Sig))
	return v, nil
}

// signatureOf reads the signature of a manifest. There is none when the member is
// not there, null or an empty object; whatever else is one, right or not.
func signatureOf(manifest value) (s sign.Signature, signed bool) {
	v, _ := manifest.member("signature")
	if v.kind == kindNull || v.kind == kindObject && len(v.list) == 0 {
		return s, false
	}
	text := func(name string) string {
		m, _ := v.member(name)
		t, _ := m.str()
		return t
	}
	return sign.Signature{Alg: text("alg"), KeyID: sign.KeyID(text("key_id")), Sig: text("sig")}, true
}

// checkSignature says how the signature was found, and what a strict reader has
// against it. The error is of kind untrusted, or what the list of keys returns.
func (m manifest) checkSignature(ctx context.Context, o readOptions) (status string, objection string, err error) {
	s, signed := signatureOf(m.value)
	switch {
	case o.NoVerify && o.RequireSigned:
		return "", "", amber.Errorf(amber.KindInvalid, "check signature", "", "a signature cannot be both required and not checked")
	case !signed && o.RequireSigned:
		return "", "", untrusted(m.subject(o), "the snapshot is not signed")
	case !signed:
		return SignatureNone, "", nil
	case o.NoVerify:
		return SignatureSkipped, "", nil
	}
	if bare := strings.TrimRight(s.Sig, "="); bare != s.Sig {
		objection = "the signature is padded"
		s.Sig = bare
	}
	if err := s.Verify(m.value.without("signature").Canonical()); err != nil {
		return "", "", &amber.Error{Op: "read snapshot", Kind: amber.KindUntrusted, ID: m.subject(o), Err: err}
	}
	standing := sign.StandingStranger
	if o.Trust != nil {
		if standing, err = o.Trust(ctx, s.KeyID); err != nil {
			return "", "", err
		}
	}
	if standing == sign.StandingOwn || standing == sign.StandingTrusted {
		return SignatureVerified, objection, nil
	}
	if o.RequireSigned {
		return "", "", &amber.Error{
			Op: "check signature", Kind: amber.KindUntrusted, ID: m.subject(o),
			Err:  amber.Errorf(amber.KindUntrusted, "trust key", string(s.KeyID), "the key is not trusted here"),
			Hint: "if you know the owner of the key: amber key trust " + string(s.KeyID),
		}
	}
	return SignatureUnknown, objection, nil
}
