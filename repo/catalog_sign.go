package repo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
)

// What is signed is signedPrefix and the bytes of the body. The body names its
// signer, so that nobody can take the signature away, or put another one in its
// place, without being noticed.
const (
	signedPrefix = "amber record 1\x00"
	noSignatures = "[]"
)

// signedBody is a body that may name who signs it.
type signedBody interface {
	body
	signer() amber.KeyID
}

func (m *Manifest) signer() amber.KeyID { return m.Signer }

func (s *Stub) signer() amber.KeyID { return s.Signer }

func signerOf(v body) amber.KeyID {
	if s, ok := v.(signedBody); ok {
		return s.signer()
	}
	return ""
}

func signedMessage(raw []byte) []byte { return append([]byte(signedPrefix), raw...) }

// sign returns the list of signatures of a body: none when it names no signer.
// Its own signature is checked: what is written stays.
func sign(ctx context.Context, raw []byte, named amber.KeyID, s amber.Signer) ([]byte, error) {
	if named == "" {
		return []byte(noSignatures), nil
	}
	sig, err := s.Sign(ctx, signedMessage(raw))
	if err != nil {
		return nil, err
	}
	if state := checkSignatures(raw, named, []amber.Signature{sig}); state.Status != amber.SignatureValid {
		return nil, amber.Errorf(amber.KindInternal, "sign", string(named), "the signer made a signature that does not match")
	}
	return canonical([]amber.Signature{sig})
}

// parseSignatures reads the list of signatures of an envelope: none, or one, in
// its one spelling.
func parseSignatures(b []byte) ([]amber.Signature, error) {
	if string(b) == noSignatures {
		return nil, nil
	}
	var list []amber.Signature
	err := json.Unmarshal(b, &list)
	again, cerr := canonical(list)
	if err != nil || cerr != nil || len(list) != 1 || !bytes.Equal(again, b) {
		return nil, errors.New("no intact envelope")
	}
	return list, nil
}

// SignatureState is what became of checking the signature of a record. Whether
// the key is to be trusted is not asked here.
type SignatureState struct {
	Status amber.SignatureStatus // "" when the record cannot be read
	KeyID  amber.KeyID           // whom the record names as its signer; "" for nobody
	Detail string                // why it is bad, or stripped
}

// Untrusted reports whether the signature is bad, or was taken away: nothing
// the record says may be relied on.
func (s SignatureState) Untrusted() bool {
	return s.Status == amber.SignatureBad || s.Status == amber.SignatureStripped
}

// problem says what is wrong with the signature of a record; nil when nothing
// is.
func (s SignatureState) problem() error {
	if !s.Untrusted() {
		return nil
	}
	return errors.New(s.Detail)
}

// checkSignatures checks the signatures of a body that names its signer, or
// none.
func checkSignatures(raw []byte, named amber.KeyID, list []amber.Signature) SignatureState {
	bad := func(why string) SignatureState {
		return SignatureState{Status: amber.SignatureBad, KeyID: named, Detail: "signature does not match: the record names " + why}
	}
	switch {
	case len(list) == 0 && named == "":
		return SignatureState{Status: amber.SignatureMissing}
	case len(list) == 0:
		return SignatureState{Status: amber.SignatureStripped, KeyID: named, Detail: "signature was taken away: the record names the signer " + string(named)}
	case named == "":
		return bad("no signer")
	case list[0].KeyID != named:
		return bad(fmt.Sprintf("the signer %s, and it is another's", named))
	case list[0].Verify(signedMessage(raw)) != nil:
		return bad(fmt.Sprintf("the signer %s, and it is none of that key", named))
	}
	return SignatureState{Status: amber.SignatureValid, KeyID: named}
}
