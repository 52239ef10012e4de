package filesig_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/filesig"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

// signer signs with a key that everybody knows.
type signer struct{ key ed25519.PrivateKey }

func newSigner() signer {
	return signer{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))}
}

func (s signer) KeyID() sign.KeyID { return sign.NewKeyID(s.key.Public().(ed25519.PublicKey)) }

func (s signer) Sign(_ context.Context, message []byte) (sign.Signature, error) {
	return sign.SignWith(s.key, message), nil
}

const text = "the bytes of a release\n"

func TestSignedFileIsVerified(t *testing.T) {
	t.Parallel()
	s := newSigner()
	sig := must.Get(filesig.Sign(t.Context(), strings.NewReader(text), s))(t)
	must.Equal(t, "key", must.Get(filesig.Verify(strings.NewReader(text), sig))(t), s.KeyID())
	again := must.Get(filesig.Sign(t.Context(), strings.NewReader(text), s))(t)
	must.Equal(t, "second signature", string(again), string(sig))
}

// Every other file and every changed byte of a signature is noticed.
func TestChangedBytesAreNoticed(t *testing.T) {
	t.Parallel()
	sig := must.Get(filesig.Sign(t.Context(), strings.NewReader(text), newSigner()))(t)
	for _, other := range []string{"", text + "x", strings.ToUpper(text)} {
		must.Fail(filesig.Verify(strings.NewReader(other), sig))(t, "other file", amber.KindUntrusted)
	}
	for i := range len(sig) - 1 { // the last is the end of the line
		bad := bytes.Clone(sig)
		bad[i] ^= 1
		key, err := filesig.Verify(strings.NewReader(text), bad)
		must.Hold(t, err != nil, "byte %d was changed, and it is a signature of %s", i, key)
	}
	must.Fail(filesig.Verify(strings.NewReader(text), bytes.Repeat([]byte("x"), filesig.MaxSize+1)))(t, "long signature", amber.KindInvalid)
	must.Fail(filesig.Verify(strings.NewReader(text), nil))(t, "no signature", amber.KindInvalid)
}
