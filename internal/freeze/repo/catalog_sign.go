package repo

import (
	"errors"

	"github.com/amber-memory/amber/wire/sign"
)

// signedDomain is signed in front of the body of a record. The body names its
// signer, so that a signature cannot be taken away or replaced unnoticed.
const signedDomain = "amber record 1\x00"

// signedBody is a body that may name who signs it.
type signedBody interface {
	body
	signer() sign.KeyID
}

func (m *Manifest) signer() sign.KeyID { return m.Signer }

func (s *Stub) signer() sign.KeyID { return s.Signer }

func signerOf(v body) sign.KeyID {
	if s, ok := v.(signedBody); ok {
		return s.signer()
	}
	return ""
}

// SignatureState is what became of checking the signature of a record. Whether
// the key is to be trusted is not asked here.
type SignatureState struct {
	Status sign.SignatureStatus // "" when the record cannot be read
	KeyID  sign.KeyID           // the signer that the record names; "" if it names none
	Detail string               // why it is bad, or stripped
}

// Untrusted reports whether the signature is bad, or was taken away: nothing
// the record says may be relied on.
func (s SignatureState) Untrusted() bool {
	return s.Status == sign.SignatureBad || s.Status == sign.SignatureStripped
}

// problem says what is wrong with the signature of a record; nil when nothing
// is.
func (s SignatureState) problem() error {
	if !s.Untrusted() {
		return nil
	}
	return errors.New(s.Detail)
}
