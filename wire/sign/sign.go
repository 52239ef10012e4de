package sign

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/amber-memory/amber"
)

// KeyID names an ed25519 public key as a did:key, "did:key:z6Mk…". The
// name holds the key, so signatures can be checked with the name alone.
type KeyID string

const (
	keyIDPrefix = "did:key:z"
	// ed25519Code is the multicodec of an ed25519 public key.
	ed25519Code = "\xed\x01"
)

// NewKeyID returns the name of a public key.
func NewKeyID(key ed25519.PublicKey) KeyID {
	return KeyID(keyIDPrefix + encodeBase58(append([]byte(ed25519Code), key...)))
}

// ParseKeyID checks that s names an ed25519 key, in its one spelling. The error
// is of kind invalid.
func ParseKeyID(s string) (KeyID, error) {
	if _, err := KeyID(s).PublicKey(); err != nil {
		return "", err
	}
	return KeyID(s), nil
}

// PublicKey returns the key that k names. The error is of kind invalid.
func (k KeyID) PublicKey() (ed25519.PublicKey, error) {
	fail := func(why string) (ed25519.PublicKey, error) {
		return nil, amber.Errorf(amber.KindInvalid, "parse key", "", "%.40q: %s", k, why)
	}
	text, ok := strings.CutPrefix(string(k), keyIDPrefix)
	if !ok {
		return fail("want a key that begins with " + keyIDPrefix)
	}
	b, ok := decodeBase58(text)
	if !ok {
		return fail("not base58 after the prefix")
	}
	key, ok := bytes.CutPrefix(b, []byte(ed25519Code))
	if !ok || len(key) != ed25519.PublicKeySize {
		return fail("not an ed25519 public key")
	}
	if NewKeyID(key) != k {
		return fail("not in canonical form")
	}
	return key, nil
}

const base58Alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// maxBase58 bounds what is decoded: a key has 34 bytes, and arithmetic on long
// numbers is slow.
const maxBase58 = 64

func encodeBase58(b []byte) string {
	n, digit, base := new(big.Int).SetBytes(b), new(big.Int), big.NewInt(58)
	var out []byte
	for n.Sign() > 0 {
		n.DivMod(n, base, digit)
		out = append(out, base58Alphabet[digit.Int64()])
	}
	for _, c := range b {
		if c != 0 {
			break
		}
		out = append(out, base58Alphabet[0])
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return string(out)
}

func decodeBase58(s string) ([]byte, bool) {
	if len(s) > maxBase58 {
		return nil, false
	}
	n, base := new(big.Int), big.NewInt(58)
	for i := range len(s) {
		digit := strings.IndexByte(base58Alphabet, s[i])
		if digit < 0 {
			return nil, false
		}
		n.Add(n.Mul(n, base), big.NewInt(int64(digit)))
	}
	zeros := len(s) - len(strings.TrimLeft(s, base58Alphabet[:1]))
	return append(make([]byte, zeros), n.Bytes()...), true
}

// Signature is a signature and the key it was made with. It does not say which bytes were signed.
type Signature struct {
	Alg   string `json:"alg"` // SignatureAlg
	KeyID KeyID  `json:"key_id"`
	Sig   string `json:"sig"` // base64url without padding
}

// SignatureAlg is the one way to sign.
const SignatureAlg = "ed25519"

// Signer signs with one key. Safe for concurrent use.
type Signer interface {
	// KeyID names the key.
	KeyID() KeyID
	// Sign signs a message.
	Sign(ctx context.Context, message []byte) (Signature, error)
}

// SignWith makes a signature with a private key.
func SignWith(key ed25519.PrivateKey, message []byte) Signature {
	return Signature{
		Alg: SignatureAlg, KeyID: NewKeyID(key.Public().(ed25519.PublicKey)),
		Sig: base64.RawURLEncoding.EncodeToString(ed25519.Sign(key, message)),
	}
}

// Verify reports why s is no signature of message by the key it names; nil when
// it is one. It says nothing about whether that key is to be trusted. A
// signature has one spelling. The error is of kind untrusted.
func (s Signature) Verify(message []byte) error {
	fail := func(id string, why error) error {
		return &amber.Error{Op: "check signature", Kind: amber.KindUntrusted, ID: id, Err: why}
	}
	if s.Alg != SignatureAlg {
		return fail("", fmt.Errorf("algorithm is %.40q, want %s", s.Alg, SignatureAlg))
	}
	key, err := s.KeyID.PublicKey()
	if err != nil {
		return fail("", err)
	}
	sig, err := base64.RawURLEncoding.DecodeString(s.Sig)
	// The decoder skips line ends and does not look at the last bits.
	oneSpelling := base64.RawURLEncoding.EncodeToString(sig) == s.Sig
	if err != nil || !oneSpelling || len(sig) != ed25519.SignatureSize || !ed25519.Verify(key, message, sig) {
		return fail(string(s.KeyID), errors.New("signature does not match the signed bytes"))
	}
	return nil
}

// TrustList says whose signatures count. Safe for concurrent use.
type TrustList interface {
	// Standing tells how a key is known here.
	Standing(ctx context.Context, key KeyID) (Standing, error)
}

// Standing is how a key is known.
type Standing string

// The standings.
const (
	StandingOwn      Standing = "own"      // this home's own
	StandingTrusted  Standing = "trusted"  // on the list
	StandingStranger Standing = "stranger" // neither
)

// SignatureReport says what became of checking a signature.
type SignatureReport struct {
	Status   SignatureStatus `json:"status"`
	KeyID    KeyID           `json:"key_id,omitempty"`
	Standing Standing        `json:"standing,omitempty"` // of the key, once the signature matches
	Detail   string          `json:"detail,omitempty"`
}

// SignatureStatus is what became of checking a signature.
type SignatureStatus string

// The results of checking a signature.
const (
	SignatureValid    SignatureStatus = "valid"    // it matches; Standing tells whose it is
	SignatureMissing  SignatureStatus = "unsigned" // and nothing says that there was one
	SignatureStripped SignatureStatus = "stripped" // there must have been one
	SignatureBad      SignatureStatus = "bad"      // it does not match
)
